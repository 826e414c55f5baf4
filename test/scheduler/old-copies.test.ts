/** A `job-state` that is lost while the only copy of the decisions is older than the retention of tombstones. */
import { expect, test } from 'vitest'
import type { Disk } from '../model/cluster/process.ts'
import { names } from '../model/world.ts'
import { memoryStore } from '../tools/memory-store.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const dayMs = 86_400_000
const job = { schedule: { everyMs: 10_000 }, target: { handler: 'x' }, overlap: 'ALLOW' } as const

async function run(driver: SchedulerDriver, forMs: number): Promise<void> {
  const seen = driver.executions().length
  await driver.advance(forMs, 1_000)
  for (const each of driver.executions().slice(seen)) driver.report(each, 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.advance(1_000, 500)
}

const runsOf = (driver: SchedulerDriver, id: string): number[] =>
  driver
    .executions()
    .filter(({ jobId }) => jobId === id)
    .map(({ runNo }) => runNo)

test.each(['recreated', 'truncated'] as const)(
  'decided jobs continue, and jobs that were deleted meanwhile stay deleted (the log was %s)',
  async (how) => {
    const driver = new SchedulerDriver()
    const disk: Disk = new Map()
    const owner = driver.boot('A', disk)
    await driver.settle()
    for (const id of ['j', 'paused', 'gone', 'changed']) driver.define(id, job)
    await run(driver, 31_000)
    driver.command('paused', { type: 'PAUSE', commandId: 'p' })
    await run(driver, 1_000)
    driver.kill(owner)
    const before = driver.executions().length
    const state = driver.log.at(names.state, 0)
    if (how === 'recreated') driver.log.recreate(state)
    else driver.log.truncate(state, Math.floor(state.next / 2))
    driver.remove('gone')
    driver.define('changed', { ...job, target: { handler: 'y' } })
    driver.define('new', { ...job, schedule: { delayMs: 1_000 } })
    const jobs = driver.log.at(names.jobs, 0)
    // Compaction removes the tombstone within a month.
    driver.log.compact(jobs, jobs.next, dayMs)
    driver.time.nowMs += 30 * dayMs
    driver.log.compact(jobs, jobs.next, dayMs)
    expect(jobs.entries.some(({ record }) => record?.key?.toString() === 'gone')).toBe(false)
    const successor = driver.boot('B', disk)
    await run(driver, 11_000)
    expect(driver.phases(successor)).toBe('active')
    expect(successor.scheduler.queries.partitions()[0]?.lastReset).toMatchObject({ topic: names.state, reason: 'beyond-end' })
    expect(
      driver
        .executions()
        .slice(before)
        .map(({ jobId }) => jobId),
    ).not.toContain('gone')
    expect(runsOf(driver, 'j').slice(0, 4)).toEqual([1, 2, 3, 4])
    expect(driver.state(successor, 'paused')).toMatchObject({ status: 'PAUSED', runNo: 3 })
    expect(
      driver
        .executions()
        .filter(({ jobId }) => jobId === 'changed')
        .at(-1),
    ).toMatchObject({ handler: 'y' })
    expect(runsOf(driver, 'new')).toEqual([1])
    expect(driver.state(successor, 'gone')).toBeUndefined()
    // The next owner finds all of it in the log, with any disk.
    driver.kill(successor)
    const other = driver.boot('C')
    await run(driver, 11_000)
    const numbers = runsOf(driver, 'j')
    expect(numbers).toEqual(numbers.map((_, at) => at + 1))
    expect(driver.state(other, 'paused')).toMatchObject({ status: 'PAUSED', runNo: 3 })
  },
)

test('a copy of the same age is rebuilt if the log is there', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const owner = driver.boot('A', disk)
  await driver.settle()
  driver.define('j', job)
  await run(driver, 21_000)
  driver.kill(owner)
  const store = disk.get(0)
  driver.time.nowMs += 30 * dayMs
  const successor = driver.boot('B', disk)
  await run(driver, 1_000)
  expect(disk.get(0)).not.toBe(store)
  expect(driver.state(successor, 'j')?.runNo).toBe(3)
  expect(successor.scheduler.queries.partitions()[0]?.lastReset).toBeNull()
})

test('the successor of an owner that died while it logged its store again notices it, and logs its own', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const first = driver.boot('A', disk)
  await driver.settle()
  driver.define('zz', job)
  for (let index = 0; index < 600; index++) {
    driver.define(`f-${index}`, { schedule: { at: driver.time.nowMs + 5_000 }, target: { handler: 'x' }, trackRuns: false })
  }
  await driver.advance(1_000, 500)
  driver.command('zz', { type: 'PAUSE', commandId: 'p' })
  await driver.advance(1_000, 500)
  const early = memoryStore()
  early.applyNow(
    (disk.get(0)?.dump() ?? []).map(([key, value]) => ({ key: Buffer.from(key, 'hex'), value: Buffer.from(value, 'hex') })),
  )
  await driver.advance(5_000, 500)
  driver.kill(first)
  driver.log.recreate(driver.log.at(names.state, 0))
  const { commit } = driver.log
  const second = driver.boot('B', disk)
  let commits = 0
  driver.log.commit = (id, epoch) => {
    commit.call(driver.log, id, epoch)
    // Its claim, and the first slice of its store.
    if (++commits === 2) driver.kill(second)
  }
  await driver.advance(2_000, 500)
  driver.log.commit = commit
  expect(driver.log.at(names.state, 0).next).toBeGreaterThan(500)
  const third = driver.boot('C', new Map([[0, early]]))
  await driver.advance(20_000, 500)
  expect(driver.phases(third)).toBe('active')
  expect(third.scheduler.queries.partitions()[0]?.lastReset).toMatchObject({ topic: names.state, reason: 'beyond-end' })
  driver.kill(third)
  const fourth = driver.boot('D')
  await driver.advance(3_000, 500)
  expect(driver.phases(fourth)).toBe('active')
  expect(driver.state(fourth, 'zz')).toMatchObject({ status: 'PAUSED' })
  expect(driver.executions().filter(({ jobId }) => jobId === 'zz')).toEqual([])
})
