/** When a member sends heartbeats, and for which callers an answer counts. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Heartbeats } from '../../../src/log/kafka/client/heartbeats.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['performance', 'Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => vi.useRealTimers())

const intervalMs = 1_000
const sessionMs = 10_000

function member() {
  const heartbeats = new Heartbeats(intervalMs, sessionMs, () => false)
  return {
    heartbeats,
    /** Whether one is due now. */
    async isDue(): Promise<boolean> {
      let isNow = false
      void heartbeats.due().then(() => {
        isNow = true
      })
      await vi.advanceTimersByTimeAsync(0)
      return isNow
    },
    answered: (durationMs: number) => heartbeats.answered(performance.now() - durationMs),
  }
}

it('is due once in an interval, and at once while a caller waits', async () => {
  const { heartbeats, isDue, answered } = member()
  expect(await isDue()).toBe(true)
  answered(5)
  expect(await isDue()).toBe(false)
  vi.advanceTimersByTime(intervalMs)
  expect(await isDue()).toBe(true)
  answered(5)
  void heartbeats.next()
  expect(await isDue()).toBe(true)
})

it('a caller or the end of the membership ends the wait for the next one', async () => {
  const { heartbeats, answered } = member()
  answered(5)
  let ended = 0
  for (const event of [() => void heartbeats.next(), () => void heartbeats.rejoin()]) {
    answered(-1)
    void heartbeats.due().then(() => ended++)
    event()
    await vi.advanceTimersByTimeAsync(0)
  }
  expect(ended).toBe(2)
})

it('is due as ever when the wall clock is set back by an hour', async () => {
  const { isDue, answered } = member()
  answered(5)
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(await isDue()).toBe(false)
  vi.advanceTimersByTime(intervalMs)
  expect(await isDue()).toBe(true)
})

it('counts for callers that asked before it was sent', async () => {
  const { heartbeats, answered } = member()
  let heard = 0
  void heartbeats.next().then(() => heard++)
  vi.advanceTimersByTime(10)
  answered(20)
  await Promise.resolve()
  expect(heard).toBe(0)
  answered(5)
  await Promise.resolve()
  expect(heard).toBe(1)
})

it('proves membership for one session from the last request that the group answered, by the steady clock', () => {
  const { heartbeats, answered } = member()
  expect(heartbeats.isMember).toBe(false)
  heartbeats.counted(performance.now() - 2_000)
  vi.advanceTimersByTime(sessionMs - 2_001)
  expect(heartbeats.isMember).toBe(true)
  vi.advanceTimersByTime(1)
  expect(heartbeats.isMember).toBe(false)
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(heartbeats.isMember).toBe(false)
  answered(sessionMs + 5_000)
  expect(heartbeats.isMember).toBe(false)
  answered(5)
  expect(heartbeats.isMember).toBe(true)
})

it('asks for a join on request, until a join has sent the user data', async () => {
  const { heartbeats } = member()
  let done = 0
  // A join that was already in progress carries the earlier user data.
  heartbeats.joining()
  void heartbeats.rejoin().then(() => done++)
  expect(heartbeats.wantsRejoin).toBe(true)
  heartbeats.joined()
  await Promise.resolve()
  expect([done, heartbeats.wantsRejoin]).toEqual([0, true])
  heartbeats.joining()
  heartbeats.joined()
  await Promise.resolve()
  expect([done, heartbeats.wantsRejoin]).toEqual([1, false])
  const refused = expect(heartbeats.rejoin()).rejects.toThrow('It has stopped.')
  heartbeats.end(new Error('It has stopped.'))
  await refused
})

it('in a hurry they are 100 ms apart, for 3 s', async () => {
  const { heartbeats, isDue, answered } = member()
  heartbeats.hurry()
  answered(5)
  vi.advanceTimersByTime(100)
  expect(await isDue()).toBe(true)
  vi.advanceTimersByTime(3_000)
  answered(5)
  vi.advanceTimersByTime(100)
  expect(await isDue()).toBe(false)
})
