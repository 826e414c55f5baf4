import { describe, expect, it } from 'vitest'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { countsOf, type ProcessCounts, sumOf } from '../../src/server/peers/process-counts.ts'
import { percentileOf } from '../../streams/text/quantities.ts'

async function counted(dispatched: number, lateSeconds: number[]) {
  const metrics = newMetrics()
  metrics.dispatched.inc({ pool: 'a' }, dispatched)
  metrics.dispatched.inc({ pool: 'b' })
  metrics.skipped.inc({ reason: 'overlap' }, 2)
  for (const late of lateSeconds) metrics.reportedLateness.observe(late)
  return { metrics, counts: await countsOf(metrics) }
}

describe('counts of processes', () => {
  it('are exact in each class of lateness, in ms', async () => {
    const { counts } = await counted(3, [0, 0.0012, 0.0012, 1e6])
    // Three minutes after an outage are three minutes, not the bound of the last class.
    const late = percentileOf((await counted(1, [180])).counts.lateness, 1) ?? 0
    expect(late / 180_000).toBeCloseTo(1, 0)
    expect(late).toBeGreaterThanOrEqual(180_000)
    expect(counts).toMatchObject({ dispatched: 4, skipped: { overlap: 2 }, definitions: 0 })
    expect(counts.lateness.filter(([, starts]) => starts > 0)).toEqual([
      [1, 1],
      [1.25, 2],
      [null, 1],
    ])
  })

  it('are summed by the bounds of their classes, also where two releases have others', () => {
    const of = (process: string, lateness: ProcessCounts['lateness']): ProcessCounts => ({ ...sumOf([]), process, lateness })
    const sum = sumOf([
      of('old', [
        [1, 4],
        [null, 1],
      ]),
      of('new', [
        [1, 2],
        [2, 3],
        [null, 0],
      ]),
    ])
    expect(sum.lateness).toEqual([
      [1, 6],
      [2, 3],
      [null, 1],
    ])
  })

  it('are summed, and none counts twice', async () => {
    const [one, other] = [await counted(3, [0.5]), await counted(5, [0.5])]
    const sum = sumOf([one.counts, other.counts, await countsOf(one.metrics)])
    expect(sum).toMatchObject({ dispatched: 10, skipped: { overlap: 4 } })
    expect(sum.lateness.reduce((total, [, starts]) => total + starts, 0)).toBe(2)
  })
})
