/** When a process counts as isolated: a broker does not answer it but answers others. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { BrokerIsolation } from '../../../src/log/kafka/client/broker-isolation.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const here = 'a:9092'

function watched(living: () => Promise<string[]>) {
  const silent = new Map<string, number>()
  const told: boolean[] = []
  const want = vi.fn()
  const logger = { info: vi.fn(), warn: vi.fn(), debug: vi.fn() }
  const isolation = new BrokerIsolation({ silent: () => silent, want, living, logger, nowMs: () => Date.now() })
  const unhear = isolation.onChange(() => told.push(isolation.isIsolated))
  return {
    ...{ told, want, logger, unhear },
    falls: () => {
      silent.set(here, Date.now())
      isolation.changed()
    },
    answers: () => {
      silent.delete(here)
      isolation.changed()
    },
  }
}

test('a broker that is alive for others and silent here for long is reported once, and again when it answers', async () => {
  const { told, want, falls, answers, logger } = watched(async () => [here, 'b:9092'])
  falls()
  await vi.advanceTimersByTimeAsync(9_900)
  expect(told).toEqual([])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told).toEqual([true])
  expect(logger.warn).toHaveBeenCalledTimes(1)
  // Perhaps no client needs the broker any more, but it must still be probed.
  expect(want.mock.calls.length).toBeGreaterThan(10)
  answers()
  await vi.advanceTimersByTimeAsync(0)
  expect(told).toEqual([true, false])
})

test('a broker that answers in time, or is lost for all, isolates nobody', async () => {
  const brief = watched(async () => [here])
  brief.falls()
  await vi.advanceTimersByTimeAsync(9_000)
  brief.answers()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(brief.told).toEqual([])

  const lost = watched(async () => ['b:9092'])
  lost.falls()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(lost.told).toEqual([])
})

test('the isolation ends when the cluster drops the broker; without an answer everything stays as it is', async () => {
  let living: string[] | undefined = [here]
  const { told, falls } = watched(async () => living ?? Promise.reject(new Error('nobody answers')))
  falls()
  await vi.advanceTimersByTimeAsync(20_000)
  living = undefined
  await vi.advanceTimersByTimeAsync(20_000)
  expect(told).toEqual([true])
  living = []
  await vi.advanceTimersByTimeAsync(20_000)
  expect(told).toEqual([true, false])
})

test('an unstable link moves partitions once: each further time it must be stable for longer', async () => {
  const { told, falls, answers } = watched(async () => [here])
  falls()
  await vi.advanceTimersByTimeAsync(20_000)
  answers()
  await vi.advanceTimersByTimeAsync(0)
  expect(told).toEqual([true, false])
  for (let flap = 0; flap < 20; flap++) {
    falls()
    await vi.advanceTimersByTimeAsync(20_000)
    answers()
    await vi.advanceTimersByTimeAsync(40_000)
  }
  expect(told).toEqual([true, false, true])
  await vi.advanceTimersByTimeAsync(20_000)
  expect(told).toEqual([true, false, true, false])
  // The third time the wait is two minutes.
  falls()
  await vi.advanceTimersByTimeAsync(20_000)
  answers()
  await vi.advanceTimersByTimeAsync(119_000)
  expect(told).toHaveLength(5)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(told).toHaveLength(6)
  // After ten minutes the next time counts as the first again.
  await vi.advanceTimersByTimeAsync(600_000)
  falls()
  await vi.advanceTimersByTimeAsync(20_000)
  answers()
  await vi.advanceTimersByTimeAsync(0)
  expect(told).toHaveLength(8)
})

test('a broker that was removed from the cluster is not asked for ever', async () => {
  const living = vi.fn(async () => ['b:9092'])
  const { told, falls, want } = watched(living)
  falls()
  await vi.advanceTimersByTimeAsync(12_000)
  want.mockClear()
  living.mockClear()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(want).not.toHaveBeenCalled()
  // Another client may need the broker, so it is looked up from time to time.
  expect(living.mock.calls.length).toBeLessThanOrEqual(20)
  living.mockResolvedValue([here])
  await vi.advanceTimersByTimeAsync(30_000)
  expect(told).toEqual([true])
})

test('after a stop there is no report, and without members no broker is asked', async () => {
  const living = vi.fn(async () => [here])
  const { told, falls, unhear } = watched(living)
  unhear()
  falls()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told).toEqual([])
  expect(living).not.toHaveBeenCalled()
})
