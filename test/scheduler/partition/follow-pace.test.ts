/** How many runs follow in one commit cycle: as many as fit into the time that a cycle may take. */
import { expect, it } from 'vitest'
import { FollowPace } from '../../../src/scheduler/partition/follow-pace.ts'

/** The sizes of cycles in which each run takes that long. */
function sizes(pace: FollowPace, msPerRun: number, cycles: number): number[] {
  return Array.from({ length: cycles }, () => {
    const { max } = pace
    pace.cycleEnded(max, max * msPerRun)
    return max
  })
}

it('begins small, and doubles on a fast machine up to 500', () => {
  expect(sizes(new FollowPace(), 0.04, 5)).toEqual([100, 200, 400, 500, 500])
})

it('takes what fits into 50 ms, at least 100', () => {
  const pace = new FollowPace()
  expect(sizes(pace, 0.25, 4)).toEqual([100, 200, 200, 200])
  expect(sizes(pace, 2, 3)).toEqual([200, 100, 100])
  expect(sizes(pace, 0.04, 5)).toEqual([100, 200, 400, 500, 500])
})

it('learns nothing from cycles with few runs', () => {
  const pace = new FollowPace()
  pace.cycleEnded(100, 4)
  pace.cycleEnded(0, 5_000)
  pace.cycleEnded(99, 5_000)
  expect(pace.max).toBe(200)
  pace.cycleEnded(100, 5_000)
  expect(pace.max).toBe(100)
})
