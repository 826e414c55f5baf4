/** Runs follow a change of the workers of their pools: all of them, in portions, and not more often than an owner can bear. Portions are as large as fits into a commit cycle. */
import { expect, it } from 'vitest'
import { FailureIsolation } from '../../../src/scheduler/commit/failure-isolation.ts'
import { Follower, FollowPace, workerChanges } from '../../../src/scheduler/partition/outside-changes.ts'
import type { PartitionContext } from '../../../src/scheduler/partition/partition-context.ts'

/** An owner with runs that depend on workers. */
function owner(runs: number, bytes = 0) {
  const poolWorkers = { version: 0 }
  const time = { ms: 0 }
  const workerBound = new Map(Array.from({ length: runs }, (_, index) => [`job-${index}`, [1]]))
  const context = {
    shared: { poolWorkers, clock: { nowMs: () => time.ms, steadyMs: () => time.ms } },
    failureIsolation: new FailureIsolation(1),
    activity: { activeRuns: { workerBound } },
    local: { heavyJobs: { of: () => bytes } },
  }
  const changes = new Follower(context as unknown as PartitionContext, workerChanges, { max: 500 })
  /** Numbers of the runs of each commit cycle, until none is left. */
  const cycles = async (): Promise<number[]> => {
    const counts: number[] = []
    while (changes.areLeft) counts.push((await changes.timers(time.ms, 0)).length)
    return counts.filter((count) => count > 0)
  }
  return { poolWorkers, time, changes, cycles }
}

it('all runs follow a change, 500 in a commit cycle, and heavy ones by the megabyte', async () => {
  const { poolWorkers, cycles } = owner(1_234)
  expect(await cycles()).toEqual([])
  poolWorkers.version++
  expect(await cycles()).toEqual([500, 500, 234])
  expect(await cycles()).toEqual([])
  const heavy = owner(5, 600_000)
  heavy.poolWorkers.version++
  expect(await heavy.cycles()).toEqual([2, 2, 1])
})

it('workers that come and go every second let each run follow once in a time that grows with the runs', async () => {
  const { poolWorkers, time, changes, cycles } = owner(20_000)
  let followed = 0
  for (; time.ms < 100_000; time.ms += 1_000) {
    poolWorkers.version++
    followed += (await cycles()).reduce((sum, count) => sum + count, 0)
    // After a walk nothing is left; during a rest its end is known.
    if (changes.nextCheckAt < Number.POSITIVE_INFINITY) expect(changes.nextCheckAt - time.ms).toBeLessThanOrEqual(20_000)
  }
  expect(followed).toBe(5 * 20_000)
  poolWorkers.version++
  // Nobody has to ask meanwhile: the last change is followed when the rest is over.
  const { nextCheckAt } = changes
  expect(nextCheckAt - time.ms).toBeLessThanOrEqual(20_000)
  time.ms = nextCheckAt
  expect(await cycles()).not.toEqual([])
  expect(changes.nextCheckAt).toBe(Number.POSITIVE_INFINITY)
})

it('few runs follow at once', async () => {
  const { poolWorkers, time, cycles } = owner(10)
  for (let change = 0; change < 5; change++) {
    poolWorkers.version++
    expect(await cycles()).toEqual([10])
    time.ms += 1_000
  }
})

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
