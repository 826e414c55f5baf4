/** How long fetches wait for records: short while something happens, and until the next heartbeat when nothing does. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { PollWait } from '../../../src/kafka/reading/poll-wait.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => vi.useRealTimers())

const shortMs = 100
const quietMs = 10_000

function waiting({ longWhilePaused = false } = {}) {
  const heartbeats = { dueInMs: 1_000 }
  const paused = new Set<string>()
  const wait = new PollWait({ shortMs, heartbeats, hasPaused: () => paused.size > 0, longWhilePaused })
  wait.busy()
  return { wait, heartbeats, paused }
}

it('is short after a join, and lasts until the next heartbeat once nothing has happened for a while', () => {
  const { wait, heartbeats } = waiting()
  expect(wait.ms).toBe(shortMs)
  vi.advanceTimersByTime(quietMs - 1)
  expect(wait.ms).toBe(shortMs)
  vi.advanceTimersByTime(1)
  expect(wait.ms).toBe(1_005)
  heartbeats.dueInMs = 300.2
  expect(wait.ms).toBe(306)
})

it('is short while a caller waits for a heartbeat', () => {
  const { wait, heartbeats } = waiting()
  vi.advanceTimersByTime(quietMs)
  heartbeats.dueInMs = 0
  expect(wait.ms).toBe(shortMs)
})

it('is short again whenever something happens', () => {
  const { wait } = waiting()
  for (let times = 0; times < 4; times++) {
    vi.advanceTimersByTime(quietMs)
    expect(wait.ms).toBe(1_005)
    wait.busy()
    expect(wait.ms).toBe(shortMs)
  }
})

it('stays short while a partition is paused, because its resume takes effect at the end of the wait', () => {
  const { wait, paused } = waiting()
  paused.add('a/0').add('a/1')
  paused.delete('a/0')
  vi.advanceTimersByTime(quietMs)
  expect(wait.ms).toBe(shortMs)
  paused.delete('a/1')
  vi.advanceTimersByTime(quietMs)
  expect(wait.ms).toBe(1_005)
})

it('of a reader with frequent heartbeats is longer with paused partitions too', () => {
  const { wait, heartbeats, paused } = waiting({ longWhilePaused: true })
  heartbeats.dueInMs = 300
  paused.add('a/0')
  vi.advanceTimersByTime(quietMs)
  expect(wait.ms).toBe(305)
})

it('is a number for kafkajs, read anew for each fetch', () => {
  const { wait } = waiting()
  const bytes = Buffer.alloc(4)
  const { asNumber } = wait
  bytes.writeInt32BE(asNumber)
  expect(bytes.readInt32BE()).toBe(shortMs)
  vi.advanceTimersByTime(quietMs)
  bytes.writeInt32BE(asNumber)
  expect(bytes.readInt32BE()).toBe(1_005)
  expect(Number.isSafeInteger(asNumber + 1)).toBe(true)
})
