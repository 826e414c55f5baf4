/** What a reader does with positions that it could not commit, as a member that never connects. */
import { expect, onTestFinished, test, vi } from 'vitest'
import type { GroupReaderOptions, Position } from '../../../src/ground/ports/log.ts'
import type { Joined } from '../../../src/log/kafka/client/coordinator.ts'
import type { GroupMemberOptions } from '../../../src/log/kafka/client/group-member.ts'
import type { KafkaClient } from '../../../src/log/kafka/client/index.ts'
import { commitAgainMsMax, KafkaGroupReader } from '../../../src/log/kafka/group/reader.ts'

function reader(answer: (sent: number) => void = () => {}, more: Partial<GroupReaderOptions> = {}) {
  const sent: object[][] = []
  const committed: object[][] = []
  let given: GroupMemberOptions | undefined
  const member = {
    heartbeats: { hurry() {}, joining() {} },
    rejoin: () => new Promise(() => {}),
    stop: async () => {},
    commit: async (positions: Position[]) => {
      answer(sent.push(positions))
      committed.push(positions)
    },
  }
  const client = {
    isolation: { isIsolated: false, onChange: () => () => {} },
    closed: async () => {},
    member: (options: GroupMemberOptions) => {
      given = options
      return member
    },
  } as unknown as KafkaClient
  const options = {
    ...{ groupId: 'g', topics: ['t'], instance: 'i', onAssigned: () => undefined, onBatch: () => undefined },
    ...{ onCrash: () => {}, ...more },
  }
  const made = new KafkaGroupReader(client, options)
  const join = (partitions = [0, 1], memberId = 'm', protocol = 'duelog-co-partitioned'): void => {
    const joined: Joined = { memberId, protocol, assigned: partitions.map((partition) => ({ topic: 't', partition })) }
    given?.onAssigned(joined)
  }
  return { reader: made, sent, committed, join, forget: () => given?.onForgotten() }
}

const at = (partition: number) => ({ topic: 't', partition, offset: 7 })
const as = (...partitions: number[]) => partitions.map(at)
/** The refusal of a broker, as kafkajs wraps it. */
const refusal = (type: string) => Object.assign(new Error(type), { cause: Object.assign(new Error(type), { type }) })

test('positions are committed, except those of other members', async () => {
  const { reader: made, committed, join } = reader()
  join()
  await made.commit([at(1), at(2)])
  expect(committed).toEqual([as(1)])
})

test('while a member that the group has forgotten joins again, no commit counts as done', async () => {
  const { reader: made, committed, forget, join } = reader()
  join()
  forget()
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

test('what a join has taken is committed until it is given up, but not in a group that shares by the rule of a foreign member', async () => {
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
  place.join([1], 'm', 'range')
  place.join([], 'm', 'range')
  await place.reader.commit([at(0), at(1)])
  expect([lost, place.committed]).toEqual([[0], [as(0, 1)]])
})
