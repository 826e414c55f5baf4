import { describe, expect, it } from 'vitest'
import { gridOf, levelOf, rangeOf, scaleOf } from '../../src/clients/dashboard/model/calendar-grid.ts'
import type { Forecast } from '../../src/ground/answers/answers.ts'

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

  it('begins at a full hour of the viewer, whose zone may be half an hour off', async () => {
    const zone = process.env.TZ
    try {
      process.env.TZ = 'Asia/Kolkata'
      const at = Date.parse('2030-01-01T04:20:00+05:30')
      expect(new Date(rangeOf('hour', at).from).toISOString()).toBe('2029-12-31T22:30:00.000Z')
      const { cells } = gridOf('hour', forecast(new Date(rangeOf('hour', at).from), 3_600_000, [1, 2]))
      expect(cells.map(({ column }) => column)).toEqual([4, 5])
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
  })

  it('has more rows in a narrow place', () => {
    const { rows, columns, cells } = gridOf('minute', forecast(new Date(2030, 0, 1, 9, 19), 60_000, [1, 2]), true)
    expect([rows, columns]).toEqual([['09:00', '09:20'], 20])
    expect(cells.map(({ row, column }) => [row, column])).toEqual([
      [0, 19],
      [1, 0],
    ])
    expect(gridOf('hour', forecast(new Date(2030, 0, 1, 11), 3_600_000, [1, 2]), true).rows).toHaveLength(2)
  })

  it('shows small counts beside large ones, and an even load as pale', () => {
    expect([0, 1, 10, 1_000, 1_000_000].map((due) => levelOf(due, { least: 1, most: 1_000_000, even: 0 }, 5))).toEqual([
      0, 1, 1, 3, 5,
    ])
    const load = [3, ...Array.from({ length: 100 }, (_, index) => 540 + (index % 40)), 721]
    const scale = scaleOf(load)
    expect(levelOf(560, scale, 5)).toBe(1)
    expect(levelOf(721, scale, 5)).toBeGreaterThan(2)
    const even = scaleOf([240, 250, 260])
    expect([240, 250, 260].map((due) => levelOf(due, even, 5))).toEqual([1, 1, 1])
    const bursts = scaleOf([300, 300, 300, 28_898])
    expect([300, 28_898].map((due) => levelOf(due, bursts, 5))).toEqual([1, 5])
  })

  it('shows rare jobs beside those of each second, which are due equally often in each cell', () => {
    const scale = scaleOf([59, ...Array.from({ length: 20 }, () => 300), 301, 304, 330])
    expect([300, 301, 304, 330].map((due) => levelOf(due, scale, 5))).toEqual([1, 2, 3, 5])
  })
})
