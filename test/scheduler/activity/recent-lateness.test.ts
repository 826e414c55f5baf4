import { expect, it } from 'vitest'
import { RecentLateness } from '../../../src/scheduler/activity/active-runs.ts'

const minuteMs = 60_000

it('says how late the starts of the last minutes were, and forgets older ones', () => {
  const lateness = new RecentLateness()
  expect(lateness.view(0)).toBeNull()
  lateness.add([5, 5, 5], 0)
  lateness.add([600_000], 2 * minuteMs)
  const all = lateness.view(2 * minuteMs)
  expect(all).toMatchObject({ starts: 4, maxMs: 600_000 })
  expect(all?.p50Ms).toBeGreaterThanOrEqual(4)
  expect(all?.p50Ms).toBeLessThanOrEqual(6)
  expect(all?.p99Ms).toBeGreaterThan(480_000)
  // Five minutes after the first ones.
  expect(lateness.view(5 * minuteMs)).toMatchObject({ starts: 1, maxMs: 600_000 })
  lateness.add([0], 7 * minuteMs)
  expect(lateness.view(7 * minuteMs)).toEqual({ starts: 1, p50Ms: 0, p99Ms: 0, maxMs: 0 })
  expect(lateness.view(30 * minuteMs)).toBeNull()
})
