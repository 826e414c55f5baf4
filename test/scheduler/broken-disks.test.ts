/** Processes whose local stores fail permanently: they let others fire (ADR 0068). The group assigns by the rule of the product. */
import { expect, test } from 'vitest'
import { awayMsMin } from '../../src/scheduler/withdrawal.ts'
import type { Process } from '../model/cluster/process.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const partitions = 4
const all = [0, 1, 2, 3]

/** Processes that fire and follow in equal parts. Each of four jobs is due every five seconds. */
async function busy(...names: string[]): Promise<{ driver: SchedulerDriver; processes: Process[] }> {
  const driver = new SchedulerDriver(partitions, 'by the rule')
  const processes: Process[] = []
  for (const name of names) {
    processes.push(driver.boot(name))
    await driver.settle()
  }
  // No worker reports. Runs that expire soon fill up no job.
  const tick = { schedule: { everyMs: 5_000 }, target: { handler: 'x' }, startDeadlineMs: 1_000 }
  for (let job = 0; job < 4; job++) driver.define(`tick-${job}`, tick)
  await driver.advance(5_000, 1_000)
  expect(processes.map((process) => owned(process).length)).toEqual(processes.map(() => partitions / processes.length))
  return { driver, processes }
}

const inPhase = (process: Process, phase: string): number[] =>
  process.scheduler.queries.partitions().flatMap((view) => (view.phase === phase ? [view.partition] : []))
const owned = (process: Process): number[] => inPhase(process, 'active')
const generation = ({ cluster }: SchedulerDriver): number => cluster.group.generation

/** Each occurrence of each job was dispatched once, by any owner. */
function expectEachOnce(driver: SchedulerDriver): void {
  const runs = driver.executions()
  expect(new Set(runs.map(({ jobId, runNo }) => `${jobId} ${runNo}`)).size).toBe(runs.length)
  expect(new Set(runs.map(({ jobId, scheduledFor }) => `${jobId} ${scheduledFor}`)).size).toBe(runs.length)
}

/** Lateness of the runs that are dispatched from now on. */
async function latenessMs(driver: SchedulerDriver, forMs: number): Promise<number> {
  const { nowMs } = driver
  await driver.advance(forMs, 500)
  const since = driver.executions().filter(({ at }) => at > nowMs)
  expect(since.length).toBeGreaterThanOrEqual((4 * forMs) / 5_000 - 4)
  return Math.max(...since.map(({ at, scheduledFor }) => at - (scheduledFor - beginMs)))
}

test('an owner whose disk fails lets its standbys fire, and comes back for its share when the disk is repaired', async () => {
  const { driver, processes } = await busy('A', 'B')
  const [first, second] = processes as [Process, Process]
  driver.cluster.brokenDisks.add(first.disk)
  await driver.advance(15_000, 1_000)
  expect([owned(first), owned(second)]).toEqual([[], all])
  expect(first.scheduler.problem).toMatch(/^The local stores of partitions? [\d, ]+ fail again and again/)
  expect(await latenessMs(driver, 10_000)).toBeLessThanOrEqual(500)
  // It follows from time to time and never owns a partition. Others notice it in a few joins.
  const before = generation(driver)
  await driver.advance(300_000, 5_000)
  expect(generation(driver)).toBeLessThanOrEqual(before + 3)
  expect([owned(first), owned(second)]).toEqual([[], all])
  driver.cluster.brokenDisks.clear()
  await driver.advance(30_000, 1_000)
  expect([owned(first), owned(second)].map(({ length }) => length)).toEqual([2, 2])
  expect(first.scheduler.problem).toBeUndefined()
  expect(await latenessMs(driver, 10_000)).toBeLessThanOrEqual(500)
  expectEachOnce(driver)
})

test('a disk that is repaired before the group is notified moves nothing', async () => {
  const { driver, processes } = await busy('A', 'B')
  const [first] = processes as [Process]
  const [before, joins] = [owned(first), generation(driver)]
  driver.cluster.brokenDisks.add(first.disk)
  await driver.advance(6_000, 1_000)
  driver.cluster.brokenDisks.clear()
  await driver.advance(30_000, 1_000)
  expect(owned(first)).toEqual(before)
  expect(generation(driver)).toBe(joins)
  expectEachOnce(driver)
})

test('if all disks fail each owner keeps its partitions and nothing moves; the first repaired one fires all', async () => {
  const { driver, processes } = await busy('A', 'B')
  const [first, second] = processes as [Process, Process]
  for (const { disk } of processes) driver.cluster.brokenDisks.add(disk)
  await driver.advance(60_000, 5_000)
  const joins = generation(driver)
  await driver.advance(200_000, 5_000)
  expect(generation(driver)).toBe(joins)
  driver.cluster.brokenDisks.delete(second.disk)
  await driver.advance(40_000, 1_000)
  expect([owned(first), owned(second)]).toEqual([[], all])
  driver.cluster.brokenDisks.clear()
  await driver.advance(2 * awayMsMin, 5_000)
  expect([owned(first), owned(second)].map(({ length }) => length)).toEqual([2, 2])
  expectEachOnce(driver)
})

test('a single owner tries again, and fires again when its disk is repaired', async () => {
  const { driver, processes } = await busy('A')
  const [only] = processes as [Process]
  driver.cluster.brokenDisks.add(only.disk)
  await driver.advance(100_000, 5_000)
  expect(owned(only)).toEqual([])
  driver.cluster.brokenDisks.clear()
  await driver.advance(30_000, 1_000)
  expect(owned(only)).toEqual(all)
  expect(only.scheduler.problem).toBeUndefined()
  expectEachOnce(driver)
})

test('one store that fails for good moves the others only there and back', async () => {
  const { driver, processes } = await busy('A', 'B')
  const [first, second] = processes as [Process, Process]
  const [broken = -1] = owned(first)
  const fail = (): never => {
    throw new Error('Input/output error.')
  }
  Object.assign(first.disk.get(broken) ?? {}, { getNow: fail, scanNow: fail, applyNow: fail })
  await driver.advance(15_000, 1_000)
  expect(owned(second)).toEqual(all)
  await driver.advance(2 * awayMsMin, 5_000)
  expect(owned(first)).toHaveLength(2)
  expect(owned(second)).toContain(broken)
  const joins = generation(driver)
  await driver.advance(200_000, 5_000)
  expect(generation(driver)).toBeLessThanOrEqual(joins + 1)
  expect(owned(first)).toHaveLength(2)
  expectEachOnce(driver)
})
