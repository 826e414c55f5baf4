/** Readers of the log know a commit before the store of the owner has it: a query can wait for the owner. */
import { expect, test, vi } from 'vitest'
import { systemClock } from '../../src/ground/clock/clock.ts'
import { StandingJobs } from '../../src/scheduler/activity/standing-jobs.ts'
import { BulkOperations } from '../../src/scheduler/bulk/bulk-changes.ts'
import type { SchedulerOptions } from '../../src/scheduler/options/options.ts'
import type { Partition } from '../../src/scheduler/partition/partition.ts'
import { partitionQueries } from '../../src/scheduler/partition-queries.ts'
import { WrittenDefinitions } from '../../src/scheduler/queries/search-index.ts'
import { createSystem } from '../api/system-in-memory.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

/** A partition that does not write its last decisions to its store until the test opens the gate: the first run of `j`, or `j` itself. */
async function unseen(what: 'run' | 'job') {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const { promise, resolve } = Promise.withResolvers<void>()
  if (what === 'job') driver.applyGate = promise
  driver.define('j', { schedule: { at: driver.time.nowMs + 1_000 }, target: { handler: 'x' } })
  await driver.settle()
  driver.applyGate = promise
  if (what === 'run') await driver.advance(1_000)
  const open = (): void => {
    driver.applyGate = undefined
    resolve()
  }
  return { driver, queries: owner.scheduler.queries, open }
}

test('a run that a worker has, and the store does not, is visible once the cycle has ended', async () => {
  const { driver, queries, open } = await unseen('run')
  expect(driver.executions()).toHaveLength(1)
  expect((await queries.runs(0, 'j'))?.active).toEqual([])
  let hasEnded = false
  const ended = queries.applied(0, {}, 60_000).then((it) => {
    hasEnded = true
    return it
  })
  await driver.settle()
  expect(hasEnded).toBe(false)
  open()
  await driver.settle()
  expect(await ended).toBe(true)
  expect((await queries.runs(0, 'j'))?.active).toMatchObject([{ runNo: 1, status: 'DISPATCHED' }])
  // Between commit cycles no caller waits.
  expect(await queries.applied(0, {}, 60_000)).toBe(true)
})

test('a caller that waits for a cycle that does not end is released when its time is over', async () => {
  const { driver, queries } = await unseen('run')
  const ended = queries.applied(0, {}, 1_000)
  await driver.advance(1_500, 500)
  expect(await ended).toBe(false)
})

test.for([
  ['job', 'GET', '/v1/jobs/j'],
  ['job', 'GET', '/v1/jobs/j/why'],
  ['job', 'GET', '/v1/jobs/j/runs'],
  ['job', 'POST', '/v1/jobs/j/pause'],
  ['run', 'GET', '/v1/runs/j/1'],
  ['run', 'POST', '/v1/runs/j/1/cancel'],
] as const)('a %s that is only in the log is found by %s %s', async ([what, method, url]) => {
  const { driver, queries, open } = await unseen(what)
  const applied: typeof queries.applied = (...asked) => {
    open()
    return queries.applied(...asked)
  }
  await using system = createSystem({
    partitions: 1,
    local: queries,
    owners: {
      ask: async (_partition, question) => question({ ...queries, applied }),
      askAny: async () => expect.unreachable(),
      problem: async () => undefined,
      hasCopy: () => false,
      standbys: async () => new Map(),
      remoteCounts: async () => [],
      views: async () => [],
    },
  })
  const asked = system.api.instance.inject({ method, url })
  const answered = asked.then(({ statusCode }) => statusCode)
  await driver.advance(7_000, 500)
  // Commands are written to the log of the API here, which no owner reads: they are durable and wait.
  expect(await answered).toBe(method === 'GET' ? 200 : 202)
})

test('a run that ends while a new owner is asked for its runs for the first time is not counted for ever', async () => {
  const driver = new SchedulerDriver()
  const first = driver.boot('A')
  await driver.settle()
  const at = driver.time.nowMs + 1_000
  driver.define('run', { schedule: { at }, target: { handler: 'x' }, leaseMs: 3_600_000, attemptTimeoutMs: 86_400_000 })
  await driver.advance(1_500, 100)
  const [run] = driver.executions()
  if (run === undefined) throw new Error('Nothing was dispatched.')
  driver.report(run, 'STARTED')
  await driver.advance(500, 100)
  driver.kill(first)
  const { scheduler } = driver.boot('B')
  await driver.advance(3_000, 100)
  const { promise, resolve } = Promise.withResolvers<void>()
  driver.commitGate = promise
  driver.report(run, 'SUCCEEDED')
  await driver.advance(2_000, 50)
  const list = scheduler.queries.list(0, { active: true }, 100)
  await driver.advance(20, 5)
  driver.commitGate = undefined
  resolve()
  await driver.advance(2_000, 100)
  expect((await list).jobs).toEqual([])
  expect(scheduler.queries.partitions()[0]?.underWay).toMatchObject({ running: 0, dispatched: 0, waiting: 0 })
})

test('jobs that need attention are counted from the end of a commit cycle on: a change in it would be missed', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const standing = new StandingJobs()
  const store = { scan: async () => [] }
  const alone = <T>(task: () => T): Promise<T> => promise.then(task)
  const partition = { number: 0, phase: 'active', store, standing, alone, view: () => ({ partition: 0 }) } as unknown as Partition
  const hooks = { bulk: new BulkOperations(systemClock), written: new WrittenDefinitions() }
  const queries = partitionQueries(new Map([[0, partition]]), { clock: systemClock } as SchedulerOptions, hooks)
  queries.partitions()
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  expect(standing.isUnknown).toBe(true)
  resolve()
  await vi.waitUntil(() => standing.counts !== null)
})
