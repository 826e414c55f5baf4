/** How batches get to the leaders of their partitions, with brokers of the test. */
import { describe, expect, test } from 'vitest'
import type { RecordOut } from '../../../src/ground/ports/log.ts'
import { faultOf } from '../../../src/log/kafka/client/errors.ts'
import { BatchProducer, roundsOf } from '../../../src/log/kafka/client/produce.ts'
import { type ErrorName, lost, type Reply, type Said, type Script, scriptedCluster } from './scripted-cluster.ts'

const partitionCounts = new Map([
  ['out', 2],
  ['state', 2],
])
const record = (topic: string, partition: number, key: string): RecordOut => ({ topic, partition, key, value: null })
const records = [
  record('out', 0, 'a'),
  record('state', 1, 'b'),
  record('out', 1, 'c'),
  record('out', 0, 'd'),
  record('state', 1, 'e'),
]
const id = { producerId: 7n, producerEpoch: 3, isV2: true }

function producerOf(script: Script = {}, given: { signal?: AbortSignal; isV2?: boolean } = {}) {
  const brokers = scriptedCluster(script)
  const { signal, isV2 = true } = given
  const options = { transactionalId: 'id', requestTimeoutMs: 1_000, ...(signal && { signal }) }
  const producer = new BatchProducer(brokers.cluster, { ...id, isV2 }, options)
  const write = async (timeMs = 5_000) =>
    Object.fromEntries(await producer.produce(roundsOf(records, partitionCounts), performance.now() + timeMs))
  return { ...brokers, producer, write, produced: () => brokers.said.filter((each) => each.includes('produce')) }
}
/** Each partition has a leader of its own. */
const apart = (topic: string, partition: number): number => (topic === 'out' ? 1 + partition : 3)
const onceFor = (place: string, reply: Reply | Error) => {
  let left = 1
  return async ({ name, places }: Said): Promise<Reply> => {
    if (name !== 'produce' || !places.some((each) => each.startsWith(place)) || left-- <= 0) return undefined
    if (reply instanceof Error) throw reply
    return reply
  }
}

describe('batches', () => {
  test.each([true, false])('of one broker go in one request (version 2: %s)', async (isV2) => {
    const { write, produced, heard } = producerOf({}, { isV2 })
    expect(await write()).toEqual({ 'out/0': 0, 'state/1': 20, 'out/1': 10 })
    expect(produced()).toEqual(['1 produce out/0 from 0 out/1 from 0 state/1 from 0'])
    expect(heard.at(-1)).toMatchObject({ version: isV2 ? 12 : 7, transactionalId: 'id' })
  })

  test('of several leaders go in parallel, in one request for each', async () => {
    const { write, produced } = producerOf({ leaderOf: (topic, partition) => (topic === 'state' || partition === 0 ? 1 : 2) })
    await write()
    expect(produced()).toEqual(['1 produce out/0 from 0 state/1 from 0', '2 produce out/1 from 0'])
  })

  test('go on from the last sequence number, and from 0 under another epoch', async () => {
    const { write, produced, producer } = producerOf()
    await write()
    await write()
    producer.become({ ...id, producerEpoch: 3 })
    await write()
    producer.become({ ...id, producerEpoch: 4 })
    await write()
    expect(produced()).toEqual([
      '1 produce out/0 from 0 out/1 from 0 state/1 from 0',
      '1 produce out/0 from 2 out/1 from 1 state/1 from 2',
      '1 produce out/0 from 4 out/1 from 2 state/1 from 4',
      '1 produce out/0 from 0 out/1 from 0 state/1 from 0',
    ])
  })
})

describe('a refusal for a moment', () => {
  const passing: ErrorName[] = [
    'CONCURRENT_TRANSACTIONS',
    'NOT_ENOUGH_REPLICAS',
    'NOT_LEADER_FOR_PARTITION',
    'UNKNOWN_TOPIC_OR_PARTITION',
  ]
  test.each(passing)('%s: that partition alone is sent again, under the same sequence number', async (type) => {
    const { write, said } = producerOf({ answer: onceFor('out', { 'out/0': type }) })
    expect(await write()).toEqual({ 'out/0': 20, 'state/1': 10, 'out/1': 0 })
    const isMoved = type === 'NOT_LEADER_FOR_PARTITION' || type === 'UNKNOWN_TOPIC_OR_PARTITION'
    expect(said.slice(1)).toEqual([
      '1 produce out/0 from 0 out/1 from 0 state/1 from 0',
      ...(isMoved ? ['refresh'] : []),
      '1 produce out/0 from 0',
    ])
  })

  test('a request without an answer is sent again whole, to the leader by then', async () => {
    let leader = 1
    const answer = onceFor('out/0', lost())
    const { write, produced } = producerOf({
      leaderOf: () => leader,
      answer: (told) => {
        leader = 2
        return answer(told)
      },
    })
    await write()
    expect(produced()).toEqual([
      '1 produce out/0 from 0 out/1 from 0 state/1 from 0',
      '2 produce out/0 from 0 out/1 from 0 state/1 from 0',
    ])
  })

  test('a partition without a leader is waited for', async () => {
    let asked = 0
    const { write, produced } = producerOf({ leaderOf: (topic) => (topic === 'state' && asked++ < 3 ? undefined : 1) })
    await write()
    expect(produced()).toEqual(['1 produce out/0 from 0 out/1 from 0', '1 produce state/1 from 0'])
  })

  test('a request that is refused alone does not repeat one that is still in flight', async () => {
    const slow = Promise.withResolvers<undefined>()
    const refuse = onceFor('out/1', 'NOT_LEADER_FOR_PARTITION')
    const { write, produced } = producerOf({
      leaderOf: apart,
      answer: async (told) => {
        if (told.broker === 1) return slow.promise
        const reply = await refuse(told)
        if (told.broker === 2 && reply === undefined) slow.resolve(undefined)
        return reply
      },
    })
    await write()
    expect(produced().toSorted()).toEqual([
      '1 produce out/0 from 0',
      '2 produce out/1 from 0',
      '2 produce out/1 from 0',
      '3 produce state/1 from 0',
    ])
  })

  test('it is reported when the time is over, as brokers that are not available', async () => {
    const { write } = producerOf({ answer: () => 'NOT_ENOUGH_REPLICAS' })
    const failure: unknown = await write(20).catch((error) => error)
    expect(faultOf(failure, 'Writing')).toMatchObject({ code: 'broker-unavailable' })
  })

  test('a closed writer sends nothing again', async () => {
    const closing = new AbortController()
    const { write, produced } = producerOf(
      {
        answer: () => {
          closing.abort(new Error('closed meanwhile'))
          return 'NOT_ENOUGH_REPLICAS'
        },
      },
      { signal: closing.signal },
    )
    await expect(write()).rejects.toThrow()
    await expect(write()).rejects.toThrow('closed meanwhile')
    expect(produced()).toHaveLength(1)
  })
})

test('a final refusal is told when nothing is in flight any more, and as the reason of the call', async () => {
  const slow = Promise.withResolvers<undefined>()
  const first = Promise.withResolvers<void>()
  const { write, produced } = producerOf({
    leaderOf: apart,
    answer: ({ broker }) => {
      if (broker !== 3) return slow.promise
      first.resolve()
      return 'MESSAGE_TOO_LARGE'
    },
  })
  let isOver = false
  const failing = write().finally(() => {
    isOver = true
  })
  failing.catch(() => {})
  await first.promise
  await new Promise(setImmediate)
  expect(isOver).toBe(false)
  slow.resolve(undefined)
  await expect(failing).rejects.toMatchObject({ type: 'MESSAGE_TOO_LARGE' })
  expect(produced()).toHaveLength(3)
  const both = producerOf({ answer: () => ({ 'out/0': 'NOT_ENOUGH_REPLICAS', 'state/1': 'TOPIC_AUTHORIZATION_FAILED' }) })
  await expect(both.write()).rejects.toMatchObject({ type: 'TOPIC_AUTHORIZATION_FAILED' })
})

test('an answer without an offset, or without a partition, fails the write', async () => {
  for (const script of [{ offset: -1n }, { forgets: ['out/0'] }])
    await expect(producerOf(script).write(0)).rejects.toMatchObject({
      code: 'broker-unavailable',
      message: expect.stringContaining('out/0'),
    })
})
