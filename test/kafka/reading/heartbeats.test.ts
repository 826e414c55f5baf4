/** When kafkajs considers a heartbeat due by the wall clock, and for which callers an answer counts. */
import type { Consumer } from 'kafkajs'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Heartbeats } from '../../../src/kafka/reading/heartbeats.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['performance', 'Date'] }))
afterEach(() => vi.useRealTimers())

const intervalMs = 1_000
const sessionMs = 10_000

function listening() {
  const heartbeats = new Heartbeats(intervalMs, sessionMs)
  const listeners = new Map<string, (event: { payload: object }) => void>()
  const events = { REQUEST: 'request', HEARTBEAT: 'heartbeat', GROUP_JOIN: 'join' }
  heartbeats.listen({
    events,
    on: (name: string, listener: (event: { payload: object }) => void) => listeners.set(name, listener),
  } as unknown as Consumer)
  let lastRequest = Date.now()
  return {
    heartbeats,
    /** As kafkajs checks it. */
    isDue: (): boolean => Date.now() >= lastRequest + heartbeats.interval,
    joined(duration: number): void {
      listeners.get('request')?.({ payload: { apiName: 'SyncGroup', sentAt: Date.now() - duration, duration } })
      listeners.get('join')?.({ payload: {} })
    },
    answered(duration: number): void {
      listeners.get('request')?.({ payload: { apiName: 'Heartbeat', sentAt: Date.now() - duration, duration } })
      listeners.get('heartbeat')?.({ payload: { groupGenerationId: 3 } })
      lastRequest = Date.now()
    },
  }
}

it('is due once in an interval, and at once while a caller waits', () => {
  const { heartbeats, isDue, answered } = listening()
  expect(isDue()).toBe(true)
  answered(5)
  expect(isDue()).toBe(false)
  vi.advanceTimersByTime(intervalMs)
  expect(isDue()).toBe(true)
  answered(5)
  void heartbeats.next()
  expect(isDue()).toBe(true)
})

it('is due as ever when the wall clock is set back by an hour', () => {
  const { isDue, answered } = listening()
  answered(5)
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(isDue()).toBe(false)
  vi.advanceTimersByTime(intervalMs)
  expect(isDue()).toBe(true)
})

it('counts for callers that asked before it was sent, whatever the wall clock does meanwhile', async () => {
  const { heartbeats, answered } = listening()
  let heard = 0
  void heartbeats.next().then(() => heard++)
  vi.setSystemTime(Date.now() - 3_600_000)
  answered(0)
  await Promise.resolve()
  expect(heard).toBe(0)
  vi.advanceTimersByTime(10)
  answered(5)
  await Promise.resolve()
  expect(heard).toBe(1)
  void heartbeats.next().then(() => heard++)
  vi.advanceTimersByTime(10)
  // It was sent and answered while the clock stepped, so its time is unknown.
  answered(-3_600_000)
  answered(3_600_000)
  await Promise.resolve()
  expect(heard).toBe(1)
})

it('proves membership for one session from the last request that the group answered, by the steady clock', () => {
  const { heartbeats, joined, answered } = listening()
  expect(heartbeats.isMember).toBe(false)
  joined(2_000)
  vi.advanceTimersByTime(sessionMs - 2_002)
  expect(heartbeats.isMember).toBe(true)
  vi.advanceTimersByTime(2)
  expect(heartbeats.isMember).toBe(false)
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(heartbeats.isMember).toBe(false)
  answered(sessionMs + 5_000)
  expect(heartbeats.isMember).toBe(false)
  answered(5)
  expect(heartbeats.isMember).toBe(true)
})

it('makes kafkajs rejoin on request, as if the group rebalanced, until a join has sent the user data', async () => {
  const { heartbeats, isDue } = listening()
  let done = 0
  // A join that was already in progress carries the earlier user data.
  heartbeats.joining()
  void heartbeats.rejoin().then(() => done++)
  expect(isDue).toThrow(expect.objectContaining({ type: 'REBALANCE_IN_PROGRESS' }))
  heartbeats.joined()
  await Promise.resolve()
  expect(done).toBe(0)
  expect(isDue).toThrow()
  heartbeats.joining()
  heartbeats.joined()
  await Promise.resolve()
  expect(done).toBe(1)
  expect(isDue()).toBe(true)
  const refused = expect(heartbeats.rejoin()).rejects.toMatchObject({ code: 'not-ready' })
  heartbeats.end('It has stopped.')
  await refused
  expect(isDue()).toBe(true)
})

it('says when the next heartbeat is due: an interval after the last one was sent, and at once while a caller waits', () => {
  const { heartbeats, isDue, answered } = listening()
  expect(heartbeats.dueInMs).toBe(0)
  expect(isDue()).toBe(true)
  // It is on its way.
  expect(heartbeats.dueInMs).toBe(intervalMs)
  vi.advanceTimersByTime(5)
  answered(5)
  expect(heartbeats.dueInMs).toBe(intervalMs)
  vi.advanceTimersByTime(300)
  expect(heartbeats.dueInMs).toBe(intervalMs - 300)
  void heartbeats.next()
  expect(heartbeats.dueInMs).toBe(0)
})
