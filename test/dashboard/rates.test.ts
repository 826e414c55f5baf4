import { describe, expect, it } from 'vitest'
import { ratesBetween, ratesOver, runningMedian, trendOf } from '../../src/clients/dashboard/model/rates.ts'
import type { Counts, StatsMessage } from '../../src/ground/answers/answers.ts'

const none: Counts = {
  ...{ definitions: 0, dispatched: 0, written: 0, retries: 0, leasesLost: 0, ended: {}, skipped: {} },
  lateness: [
    [10, 0],
    [20, 0],
    [null, 0],
  ],
}
const stats = (at: number, counts: Partial<Counts> = {}): StatsMessage => ({ at, counts: { ...none, ...counts }, partitions: [] })

describe('rates between two stats messages', () => {
  it('are counted per second', () => {
    const later = stats(3_000, { dispatched: 30, written: 10, retries: 4, ended: { SUCCEEDED: 18, DEAD: 2 } })
    expect(ratesBetween(stats(1_000), later)).toMatchObject({
      firesPerSecond: 20,
      endsPerSecond: 10,
      retriesPerSecond: 2,
      dead: 2,
      p50Ms: undefined,
    })
  })

  it('are undefined when counts have fallen, because a process has ended', () => {
    expect(ratesBetween(stats(1_000, { dispatched: 5 }), stats(2_000))).toBeUndefined()
    expect(ratesBetween(stats(1_000), stats(1_000))).toBeUndefined()
  })

  it('cover at most the given window', () => {
    const messages = [0, 1_000, 2_000, 3_000].map((at) => stats(at, { dispatched: at === 0 ? 0 : 100 + at / 100 }))
    expect(ratesOver(messages, 2_000)?.firesPerSecond).toBe(10)
    expect(ratesOver(messages.slice(0, 1), 2_000)).toBeUndefined()
  })
})

const ended = (runNo: number, dueAt: string | null, startedAt: string | null, finishedAt: string, durationMs: number | null) => ({
  ...{ runNo, outcome: 'SUCCEEDED', dueAt, startedAt, finishedAt, durationMs },
})
const at = (second: number): string => new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString()

it('puts ended runs in the order of their ends, and knows no lateness of a run that never started', () => {
  const points = trendOf([
    ended(3, at(3), at(4), at(9), 5_000),
    ended(2, at(2), null, at(5), null),
    ended(1, null, at(1), at(2), 1_000),
  ])
  expect(points.map(({ runNo, lateMs, durationMs }) => [runNo, lateMs, durationMs])).toEqual([
    [1, undefined, 1_000],
    [2, undefined, undefined],
    [3, 1_000, 5_000],
  ])
  // A worker whose clock is behind starts nothing early.
  expect(trendOf([ended(1, at(5), at(4), at(6), 2_000)])[0]?.lateMs).toBe(0)
})

it('has the median of the known values up to each one', () => {
  expect(runningMedian([9, undefined, 1, 5, 100], 3)).toEqual([null, null, null, 5, 5])
  expect(runningMedian([3, 1], 1)).toEqual([3, 1])
})
