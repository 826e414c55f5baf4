import { expect, it } from 'vitest'
import { runningMedian, trendOf } from '../../src/dashboard/model/trend.ts'

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
