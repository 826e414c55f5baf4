/** How often a member beats: seldom if it is alone and nothing happens to it, as somebody else would wait for its next heartbeat. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { KafkaClient } from '../../../src/log/kafka/client/client.ts'
import type { GroupProtocol } from '../../../src/log/kafka/client/coordinator.ts'
import type { GroupMember } from '../../../src/log/kafka/client/group-member.ts'
import { brokers, makeTopics } from '../harness.ts'

// Only what members measure by. Their timers are real, as the broker is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const quietMs = 10_000
const everything: GroupProtocol = {
  name: 'everything',
  userData: () => Buffer.alloc(0),
  assign: (members, counts) =>
    new Map(members.map(({ memberId }, at) => [memberId, Object.fromEntries([...counts.keys()].map((topic) => [topic, [at]]))])),
}

async function members(options: { sessionTimeoutMs?: number } = {}) {
  const [topic = ''] = Object.values(await makeTopics(['jobs'], 2))
  const groupId = `g-${randomUUID()}`
  const client = new KafkaClient({ brokers, clientId: groupId, ...options })
  /** Joins; `joined(n)` resolves with its n-th join. */
  const join = async (): Promise<{ member: GroupMember; joined(times: number): Promise<void> }> => {
    let joins = 0
    let look = (): void => {}
    const member = client.member({
      ...{ groupId, topics: [topic], protocols: [everything], startAt: 'earliest', readCommitted: true },
      ...{ isUrgent: true, isPatientWhilePaused: true },
      onAssigned: () => {
        joins++
        look()
        return undefined
      },
      onRebalance: () => {},
      onForgotten: () => {},
      onBatch: () => {},
      onPassed: () => {},
      onCrash: (error) => {
        throw error
      },
    })
    onTestFinished(() => member.stop())
    await member.start()
    const joined = async (times: number): Promise<void> => {
      while (joins < times)
        await new Promise<void>((resolve) => {
          look = resolve
        })
    }
    return { member, joined }
  }
  return { join, topic }
}

test('a lone member beats every 3 s once it has been quiet, and as ever while something happens to it', async () => {
  const { join, topic } = await members()
  const { member } = await join()
  expect(member.heartbeats.intervalMs).toBe(300)
  vi.advanceTimersByTime(quietMs)
  expect(member.heartbeats.intervalMs).toBe(3_000)
  member.seek({ topic, partition: 0, offset: 0 })
  expect(member.heartbeats.intervalMs).toBe(300)
})

test('three times in a session at least', async () => {
  const { member } = await (await members({ sessionTimeoutMs: 6_000 })).join()
  vi.advanceTimersByTime(quietMs)
  expect(member.heartbeats.intervalMs).toBe(1_800)
})

test('a member with others beats as ever, and a lone one again when they have gone', async () => {
  const { join } = await members()
  const first = await join()
  vi.advanceTimersByTime(quietMs)
  const second = await join()
  await first.joined(2)
  vi.advanceTimersByTime(quietMs)
  expect([first, second].map(({ member }) => member.heartbeats.intervalMs)).toEqual([300, 300])
  await second.member.stop()
  await first.joined(3)
  vi.advanceTimersByTime(quietMs)
  expect(first.member.heartbeats.intervalMs).toBe(3_000)
})
