/** What the writers ensure beyond kafkajs when several brokers are involved. */
import type { ProducerBatch, RecordMetadata } from 'kafkajs'
import { expect, test } from 'vitest'
import type { RecordOut } from '../../../src/ground/ports/log.ts'
import { produce } from '../../../src/log/kafka/client/produce.ts'

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

/** Answers like brokers that accept everything, except for the partitions in `forgets`. */
function brokers(forgets: string[] = []) {
  const batches: string[][] = []
  const sendBatch = async ({ topicMessages = [] }: ProducerBatch): Promise<RecordMetadata[]> => {
    const places = topicMessages.flatMap(({ topic, messages }) =>
      messages.map(({ partition, key }) => `${topic}/${partition} ${key}`),
    )
    const base = String(batches.push(places) * 10)
    await Promise.resolve()
    const partitions = [...new Set(places.map((place) => place.split(' ')[0] ?? ''))].filter((place) => !forgets.includes(place))
    return partitions.map((place) => {
      const [topicName = '', partition] = place.split('/')
      return { topicName, partition: Number(partition), errorCode: 0, baseOffset: base }
    })
  }
  return { batches, sendBatch }
}
/** Looked up through `this`, as the real ones are. */
class Counts {
  readonly #onOneBroker: boolean
  readonly #leaderOf: (topic: string, partition: number) => string
  constructor(onOneBroker: boolean, leaderOf: (topic: string, partition: number) => string) {
    this.#onOneBroker = onOneBroker
    this.#leaderOf = leaderOf
  }
  onOneBroker(): boolean {
    return this.#onOneBroker
  }
  leaderOf(topic: string, partition: number): string {
    return this.#leaderOf(topic, partition)
  }
}
/** Each partition of a topic is led by another broker, unless `leaderOf` says otherwise. */
const write = (
  sendBatch: (batch: ProducerBatch) => Promise<RecordMetadata[]>,
  onOneBroker: boolean,
  leaderOf = (topic: string, partition: number) => `broker of ${topic}/${partition}`,
) =>
  produce(records, partitionCounts, {
    sendBatch,
    counts: new Counts(onOneBroker, leaderOf),
    requestTimeoutMs: 1_000,
  })

test('one broker gets everything in one request', async () => {
  const { batches, sendBatch } = brokers()
  expect(Object.fromEntries(await write(sendBatch, true))).toEqual({ 'out/0': 10, 'out/1': 10, 'state/1': 10 })
  expect(batches).toHaveLength(1)
})

test('with several brokers each leader gets a parallel call of its own, its records in order', async () => {
  const { batches, sendBatch } = brokers()
  expect(Object.fromEntries(await write(sendBatch, false))).toEqual({ 'out/0': 10, 'out/1': 20, 'state/1': 30 })
  expect(batches).toEqual([['out/0 a', 'out/0 d'], ['out/1 c'], ['state/1 b', 'state/1 e']])
})

test('no request is in-flight after a write has failed', async () => {
  const { sendBatch } = brokers()
  const slow = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  const refusing = async (batch: ProducerBatch): Promise<RecordMetadata[]> => {
    if (batch.topicMessages?.[0]?.topic !== 'state') return slow.promise.then(() => sendBatch(batch))
    first.resolve()
    throw new Error('refused')
  }
  let isOver = false
  const failing = write(refusing, false).finally(() => {
    isOver = true
  })
  failing.catch(() => {})
  await first.promise
  await new Promise(setImmediate)
  expect(isOver).toBe(false)
  slow.resolve()
  await expect(failing).rejects.toThrow('refused')
})

test('the partitions of one leader go in one call, beside those of the others', async () => {
  const { batches, sendBatch } = brokers()
  const leaderOf = (topic: string, partition: number): string => (topic === 'state' || partition === 0 ? 'one' : 'other')
  expect(Object.fromEntries(await write(sendBatch, false, leaderOf))).toEqual({ 'out/0': 10, 'state/1': 10, 'out/1': 20 })
  expect(batches).toEqual([['out/0 a', 'out/0 d', 'state/1 b', 'state/1 e'], ['out/1 c']])
})

test.each(['-1', undefined, ''])('an answer without an offset, but with %o, fails the write', async (baseOffset) => {
  const { sendBatch } = brokers()
  const nameless = async (batch: ProducerBatch) =>
    (await sendBatch(batch)).map((each) => ({ ...each, baseOffset }) as RecordMetadata)
  await expect(write(nameless, true)).rejects.toMatchObject({
    code: 'broker-unavailable',
    message: expect.stringContaining('out/0'),
  })
})

test('a partition without an answer fails the write, although the request succeeded', async () => {
  for (const onOneBroker of [true, false]) {
    const { sendBatch } = brokers(['state/1'])
    await expect(write(sendBatch, onOneBroker)).rejects.toMatchObject({
      code: 'broker-unavailable',
      message: 'No broker answered for the records that were sent to state/1; its leader has moved.',
    })
  }
})
