/** What a reader does with positions that it could not commit, over a kafkajs consumer that never connects. */
import type { Kafka } from 'kafkajs'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { PartitionCounts } from '../../src/kafka/admin/partition-counts.ts'
import { settingsOf } from '../../src/kafka/brokers/client.ts'
import { commitAgainMsMax } from '../../src/kafka/reading/join-wait.ts'
import { KafkaGroupReader } from '../../src/kafka/reading/reader.ts'
import type { GroupReaderOptions } from '../../src/ports/log.ts'

const names = [
  ...['GROUP_JOIN', 'REBALANCING', 'STOP', 'CRASH', 'FETCH_START', 'END_BATCH_PROCESS', 'REQUEST', 'HEARTBEAT'],
  'COMMIT_OFFSETS',
]

function reader(answer: (sent: number) => void = () => {}, more: Partial<GroupReaderOptions> = {}) {
  const heard = new Map<string, ((event: { payload: object }) => void)[]>()
  const sent: object[][] = []
  const committed: object[][] = []
  const state = { isRunning: true }
  const consumer = {
    events: Object.fromEntries(names.map((name) => [name, name])),
    on: (name: string, listener: (event: { payload: object }) => void) => heard.set(name, [...(heard.get(name) ?? []), listener]),
    commitOffsets: async (offsets: object[]) => {
      if (!state.isRunning) return
      answer(sent.push(offsets))
      committed.push(offsets)
      emit('COMMIT_OFFSETS', {})
    },
    disconnect: async () => {},
    resume: () => {},
    pause: () => {},
  }
  const options = {
    ...{ groupId: 'g', topics: ['t'], instance: 'i', onAssigned: () => undefined, onBatch: () => undefined },
    ...{ onCrash: () => {}, ...more },
  }
  const kafka = { consumer: () => consumer } as unknown as Kafka
  const made = new KafkaGroupReader(kafka, {} as PartitionCounts, settingsOf({ brokers: [], clientId: 'c' }), options)
  const emit = (name: string, payload: object): void => {
    for (const listener of heard.get(name) ?? []) listener({ payload })
  }
  const join = (partitions = [0, 1], memberId = 'm', groupProtocol = 'duelog-cooperative') =>
    emit('GROUP_JOIN', { memberId, memberAssignment: { t: partitions }, groupProtocol })
  return { reader: made, sent, committed, state, emit, join }
}

const at = (partition: number) => ({ topic: 't', partition, offset: 7 })
const as = (...partitions: number[]) => partitions.map((partition) => ({ topic: 't', partition, offset: '7' }))
/** The refusal of a broker, as kafkajs wraps it. */
const refusal = (type: string) => Object.assign(new Error(type), { cause: Object.assign(new Error(type), { type }) })

test('positions are committed, except those of other members', async () => {
  const { reader: made, committed, join } = reader()
  join()
  await made.commit([at(1), at(2)])
  expect(committed).toEqual([[{ topic: 't', partition: 1, offset: '7' }]])
})

test('while kafkajs rejoins after a lost session, no commit counts as done', async () => {
  const { reader: made, committed, emit, join } = reader()
  join()
  emit('CRASH', { error: new Error('The session is over.'), restart: true })
  await expect(made.commit([at(1)])).rejects.toMatchObject({ code: 'not-ready' })
  expect(committed).toEqual([])
  join()
  await made.commit([at(1)])
  expect(committed).toHaveLength(1)
})

for (const type of ['ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS'])
  test(`a commit that is refused with ${type} is sent again after the join, with what the member has kept`, async () => {
    const place = reader((sent) => {
      if (sent > 1) return
      setImmediate(() => place.join([1]))
      throw refusal(type)
    })
    place.join()
    await place.reader.commit([at(0), at(1)])
    expect(place.sent).toEqual([as(0, 1), as(1)])
    expect(place.committed).toEqual([as(1)])
  })

test('a commit of a member that the group has removed meanwhile is not sent again', async () => {
  const place = reader(() => {
    setImmediate(() => place.join([0, 1], 'another'))
    throw refusal('ILLEGAL_GENERATION')
  })
  place.join()
  await expect(place.reader.commit([at(1)])).rejects.toThrow('ILLEGAL_GENERATION')
  expect(place.sent).toEqual([as(1)])
})

test('any other refusal reaches the caller at once', async () => {
  const place = reader(() => {
    throw refusal('UNKNOWN_MEMBER_ID')
  })
  place.join()
  await expect(place.reader.commit([at(1)])).rejects.toThrow('UNKNOWN_MEMBER_ID')
  expect(place.sent).toEqual([as(1)])
})

test('a commit that is refused for 5 seconds reaches the caller', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const place = reader(() => {
    throw refusal('REBALANCE_IN_PROGRESS')
  })
  place.join()
  const refused = expect(place.reader.commit([at(1)])).rejects.toThrow('REBALANCE_IN_PROGRESS')
  await vi.advanceTimersByTimeAsync(commitAgainMsMax)
  await refused
  expect(place.committed).toEqual([])
})

test('what kafkajs does not send, because its runner is stopping, does not count as done', async () => {
  const place = reader()
  place.join()
  place.state.isRunning = false
  await expect(place.reader.commit([at(1)])).rejects.toMatchObject({ code: 'not-ready' })
  expect(place.sent).toEqual([])
})

test('what a join has taken is committed until it is given up, but not in a group with a worker of an earlier version', async () => {
  const lost: number[] = []
  const onRevoked = (partitions: { partition: number }[]): Promise<void> => {
    lost.push(...partitions.map(({ partition }) => partition))
    return new Promise(() => {})
  }
  const place = reader(undefined, { assignment: 'open', onRevoked })
  place.join()
  place.join([1])
  await place.reader.commit([at(0), at(1)])
  expect([lost, place.committed]).toEqual([[0], [as(0, 1)]])
  // Whoever leads it gives the partitions to others at once, and a late commit would set these back.
  place.join([1], 'm', 'duelog-co-partitioned')
  place.join([], 'm', 'duelog-co-partitioned')
  await place.reader.commit([at(0), at(1)])
  expect([lost, place.committed]).toEqual([[0], [as(0, 1)]])
})
