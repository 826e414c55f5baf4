import { describe, expect, it } from 'vitest'
import type { Forecast } from '../../src/answers/answers.ts'
import { gridOf, levelOf, palestOf, rangeOf } from '../../src/dashboard/model/calendar-grid.ts'

const forecast = (from: Date, stepMs: number, counts: number[]): Forecast => ({
  ...{ bucketMs: stepMs, overdue: 0, jobs: 1, sampled: 1, estimate: false },
  ...{ from: from.toISOString(), to: from.toISOString(), until: from.toISOString() },
  buckets: counts.map((next, index) => ({ at: new Date(from.getTime() + index * stepMs).toISOString(), next, later: 1 })),
})

describe('the grid of the calendar', () => {
  it('has an hour a row and a minute a column', () => {
    const { rows, cells, columns } = gridOf('minute', forecast(new Date(2030, 0, 1, 9, 58), 60_000, [1, 2, 3]))
    expect([rows, columns]).toEqual([['09:00', '10:00'], 60])
    expect(cells.map(({ row, column, due }) => [row, column, due])).toEqual([
      [0, 58, 2],
      [0, 59, 3],
      [1, 0, 4],
    ])
  })

  it('has a day a row and an hour a column', () => {
    const { rows, cells } = gridOf('hour', forecast(new Date(2030, 0, 1, 23), 3_600_000, [1, 2]))
    expect(rows).toEqual(['Tue, 1 Jan', 'Wed, 2 Jan'].map((title) => title.replace(',', rows[0]?.includes(',') ? ',' : '')))
    expect(cells.map(({ row, column }) => [row, column])).toEqual([
      [0, 23],
      [1, 0],
    ])
  })

  it('asks for whole steps', () => {
    expect(rangeOf('minute', 61_500)).toEqual({ from: 60_000, horizonMs: 43_200_000, buckets: 720 })
    expect(rangeOf('hour', 3_600_001).from).toBe(3_600_000)
  })

  it('shows small counts beside large ones', () => {
    expect([0, 1, 10, 1_000, 1_000_000].map((due) => levelOf(due, 1, 1_000_000, 5))).toEqual([0, 1, 1, 3, 5])
    expect(palestOf([0, 240, 260])).toBe(65)
    expect([240, 260].map((due) => levelOf(due, palestOf([240, 260]), 260, 5))).toEqual([5, 5])
    expect(palestOf([0, 3, 1_000])).toBe(3)
  })
})
