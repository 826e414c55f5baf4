/** Runs follow a change of the workers of their pools: all of them, in portions, and not more often than an owner can bear. */
import { expect, it } from 'vitest'
import { FailureIsolation } from '../../../src/scheduler/commit/failure-isolation.ts'
import type { PartitionContext } from '../../../src/scheduler/partition/partition-context.ts'
import { WorkerChanges } from '../../../src/scheduler/partition/worker-changes.ts'

/** An owner with runs that depend on workers. */
function owner(runs: number, bytes = 0) {
  const poolWorkers = { version: 0 }
  const time = { ms: 0 }
  const workerBound = new Map(Array.from({ length: runs }, (_, index) => [`job-${index}`, [1]]))
  const context = {
    shared: { poolWorkers, clock: { nowMs: () => time.ms, steadyMs: () => time.ms } },
    failureIsolation: new FailureIsolation(1),
    activeRuns: { workerBound },
    heavyJobs: { of: () => bytes },
  }
  const changes = new WorkerChanges(context as unknown as PartitionContext, { max: 500 })
  /** Numbers of the runs of each commit cycle, until none is left. */
  const cycles = (): number[] => {
    const counts: number[] = []
    while (changes.areLeft) counts.push(changes.timers(time.ms, 0).length)
    return counts.filter((count) => count > 0)
  }
  return { poolWorkers, time, changes, cycles }
}

it('all runs follow a change, 500 in a commit cycle, and heavy ones by the megabyte', () => {
  const { poolWorkers, cycles } = owner(1_234)
  expect(cycles()).toEqual([])
  poolWorkers.version++
  expect(cycles()).toEqual([500, 500, 234])
  expect(cycles()).toEqual([])
  const heavy = owner(5, 600_000)
  heavy.poolWorkers.version++
  expect(heavy.cycles()).toEqual([2, 2, 1])
})

it('workers that come and go every second let each run follow once in a time that grows with the runs', () => {
  const { poolWorkers, time, changes, cycles } = owner(20_000)
  let followed = 0
  for (; time.ms < 100_000; time.ms += 1_000) {
    poolWorkers.version++
    followed += cycles().reduce((sum, count) => sum + count, 0)
    // After a walk nothing is left; during a rest its end is known.
    if (changes.nextCheckAt < Number.POSITIVE_INFINITY) expect(changes.nextCheckAt - time.ms).toBeLessThanOrEqual(20_000)
  }
  expect(followed).toBe(5 * 20_000)
  poolWorkers.version++
  // Nobody has to ask meanwhile: the last change is followed when the rest is over.
  const { nextCheckAt } = changes
  expect(nextCheckAt - time.ms).toBeLessThanOrEqual(20_000)
  time.ms = nextCheckAt
  expect(cycles()).not.toEqual([])
  expect(changes.nextCheckAt).toBe(Number.POSITIVE_INFINITY)
})

it('few runs follow at once', () => {
  const { poolWorkers, time, cycles } = owner(10)
  for (let change = 0; change < 5; change++) {
    poolWorkers.version++
    expect(cycles()).toEqual([10])
    time.ms += 1_000
  }
})
