/**
 * Schedulers that join: they are warm before they own a partition, whatever happens meanwhile. The group assigns by the rule of
 * the product.
 */
import { expect, test } from 'vitest'
import { gatherMs } from '../../src/scheduler/standby-warmth.ts'
import type { Process } from '../model/cluster/process.ts'
import { codecs, names } from '../model/world.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const partitions = 4

/** One scheduler that fires all. Each of eight jobs is due every second. */
async function busy(
  times: ConstructorParameters<typeof SchedulerDriver>[2] = {},
): Promise<{ driver: SchedulerDriver; first: Process }> {
  const driver = new SchedulerDriver(partitions, 'by the rule', times)
  const first = driver.boot('A')
  await driver.settle()
  for (let job = 0; job < 8; job++) driver.define(`tick-${job}`, { schedule: { everyMs: 1_000 }, target: { handler: 'x' } })
  await driver.advance(2_000, 250)
  expect(owned(first)).toEqual([0, 1, 2, 3])
  return { driver, first }
}

const inPhase = (process: Process, phase: string): number[] =>
  process.scheduler.queries.partitions().flatMap((view) => (view.phase === phase ? [view.partition] : []))
const owned = (process: Process): number[] => inPhase(process, 'active')
const followed = (process: Process): number[] => inPhase(process, 'following')

/** Its stores of these partitions do not open until the caller calls the returned function. */
function held(driver: SchedulerDriver, process: Process, numbers: readonly number[]): () => void {
  const releases = numbers.map((number) => driver.hold(process, `opens store ${number}`))
  return () => {
    for (const release of releases) release()
  }
}

/** Asserts that each job fired once for each second. */
function expectAll(driver: SchedulerDriver): void {
  for (let job = 0; job < 8; job++) {
    const times = driver.executions().flatMap(({ jobId, scheduledFor }) => (jobId === `tick-${job}` ? [scheduledFor] : []))
    const [begin = 0] = times
    expect(times).toEqual(times.map((_, place) => begin + place * 1_000))
  }
}

/** Asserts that no run was later than this in the log, in ms. */
const latestMs = (driver: SchedulerDriver): number =>
  Math.max(...driver.executions().map(({ at, scheduledFor }) => at - (scheduledFor - beginMs)))
const all = [0, 1, 2, 3]
const generation = ({ cluster }: SchedulerDriver): number => cluster.group.generation

test('the first fires until the second is warm; then each has half, and follows the other', async () => {
  const { driver, first } = await busy()
  const second = driver.boot('B')
  const release = held(driver, second, all)
  const before = generation(driver)
  await driver.advance(60_000, 1_000)
  // Its join only: it has nothing to report.
  expect(generation(driver)).toBe(before + 1)
  expect(owned(first)).toEqual(all)
  release()
  await driver.advance(5_000, 250)
  expect([owned(first), owned(second)].map(({ length }) => length)).toEqual([2, 2])
  expect([...owned(second), ...followed(second)].sort()).toEqual(all)
  expect([...owned(first), ...followed(first)].sort()).toEqual(all)
  expect(generation(driver)).toBe(before + 2)
  await driver.advance(60_000, 1_000)
  expect(generation(driver)).toBe(before + 2)
  expectAll(driver)
  expect(latestMs(driver)).toBeLessThanOrEqual(250)
})

test('one copy that never gets warm keeps no partition from the others, and requests nothing', async () => {
  const { driver, first } = await busy()
  const second = driver.boot('B')
  held(driver, second, [3])
  const before = generation(driver)
  await driver.advance(gatherMs - 1_000, 250)
  expect(owned(first)).toEqual(all)
  await driver.advance(600_000, 5_000)
  expect(owned(second).length).toBe(2)
  expect(owned(second)).not.toContain(3)
  expect(generation(driver)).toBeLessThanOrEqual(before + 3)
  expectAll(driver)
  expect(latestMs(driver)).toBeLessThanOrEqual(250)
})

test('an aborted transaction at the end of all definitions keeps no copy cold', async () => {
  const { driver, first } = await busy()
  const load = driver.log.begin('client', driver.log.fence('client'))
  const value = Buffer.from('never seen')
  const records = Array.from({ length: 1_500 }, (_, number) => ({ topic: names.jobs, key: `load-${number}`, value }))
  for (const partition of all)
    driver.log.append(
      records.map((record) => ({ ...record, partition })),
      load,
    )
  driver.log.fence('client')
  const second = driver.boot('B')
  await driver.advance(10_000, 500)
  expect([owned(first), owned(second)].map(({ length }) => length)).toEqual([2, 2])
  const copies = [first, second].flatMap(({ scheduler }) =>
    scheduler.queries.partitions().filter(({ role }) => role === 'standby'),
  )
  expect(copies.map(({ phase, behindRecords }) => [phase, behindRecords])).toEqual(all.map(() => ['following', 0]))
  expectAll(driver)
  expect(latestMs(driver)).toBeLessThanOrEqual(500)
})

test('a newcomer whose clock is wrong is not warm: the owner fires until it is right', async () => {
  const { driver, first } = await busy({ clockStepMsMax: 2_000 })
  const second = driver.boot('B')
  held(driver, second, [3])
  await driver.advance(gatherMs - 2_000, 250)
  second.machine.clock.skewMs = 3_600_000
  await driver.advance(60_000, 1_000)
  expect(owned(first)).toEqual(all)
  second.machine.clock.skewMs = 0
  await driver.advance(30_000, 1_000)
  expect(owned(second)).toHaveLength(2)
  expectAll(driver)
})

test('without standbys a newcomer gets warm too: an idle owner commits how much it has decided', async () => {
  const driver = new SchedulerDriver(2, 'by the rule', { standbys: 0 })
  const first = driver.boot('A')
  await driver.settle()
  const value = codecs.definition.encode({ schedule: { at: beginMs + 86_400_000 }, target: { handler: 'x' } })
  for (const partition of [0, 1])
    driver.log.append(
      Array.from({ length: 1_200 }, (_, number) => ({ topic: names.jobs, partition, key: `later-${number}`, value })),
    )
  await driver.advance(10_000, 500)
  const second = driver.boot('B')
  await driver.advance(30_000, 1_000)
  expect([owned(first), owned(second)].map(({ length }) => length)).toEqual([1, 1])
})

test('a member that is to own no more leaves the partition it was about to take over to its owner', async () => {
  const { driver, first } = await busy()
  const second = driver.boot('B')
  await driver.advance(3_000, 250)
  expect(owned(second)).toHaveLength(2)
  const [mine, gate] = [owned(first), Promise.withResolvers<void>()]
  const { member } = second
  if (member === undefined || first.member === undefined) throw new Error('Somebody has not joined.')
  // All partitions are assigned to it for a moment, and its heartbeats do not arrive.
  const beat = member.nextHeartbeat.bind(member)
  member.nextHeartbeat = () => gate.promise.then(beat)
  first.member.outOfReach(true)
  await driver.advance(1_000, 250)
  expect(inPhase(second, 'claiming')).toEqual(mine)
  first.member.outOfReach(false)
  await driver.advance(1_000, 250)
  const fenced: string[] = []
  const fence = driver.log.fence.bind(driver.log)
  driver.log.fence = (id) => {
    fenced.push(id)
    return fence(id)
  }
  gate.resolve()
  await driver.advance(5_000, 250)
  expect(fenced).toEqual([])
  expect(owned(first)).toEqual(mine)
  expectAll(driver)
})

test('a newcomer that is killed while it warms up does no harm', async () => {
  const { driver, first } = await busy()
  const second = driver.boot('B')
  held(driver, second, all)
  await driver.advance(2_000, 250)
  driver.kill(second)
  await driver.advance(20_000, 250)
  expect(owned(first)).toEqual(all)
  expectAll(driver)
  expect(latestMs(driver)).toBeLessThanOrEqual(250)
})

test('a stop while two others join, one of them warm before and one after: warm members fire, and the end is even', async () => {
  const { driver, first } = await busy()
  const second = driver.boot('B')
  await driver.advance(3_000, 250)
  expect(owned(second)).toHaveLength(2)
  const third = driver.boot('C')
  const fourth = driver.boot('D')
  const release = held(driver, third, all)
  const releaseLast = held(driver, fourth, [0, 1])
  await driver.advance(1_000, 250)
  let hasEnded = false
  void first.scheduler.stop().then(() => {
    hasEnded = true
  })
  await driver.advance(5_000, 250)
  expect(hasEnded).toBe(true)
  first.machine.alive = false
  expect([...owned(second), ...owned(fourth)].sort()).toEqual(all)
  release()
  releaseLast()
  await driver.advance(60_000, 1_000)
  expect([second, third, fourth].flatMap(owned).sort()).toEqual(all)
  expect([second, third, fourth].map((each) => owned(each).length).sort()).toEqual([1, 1, 2])
  expect([second, third, fourth].map((each) => followed(each).length).sort()).toEqual([1, 1, 2])
  expectAll(driver)
  expect(latestMs(driver)).toBeLessThanOrEqual(250)
})

test('schedulers that start together share at once: no owner fires that could delay them', async () => {
  const driver = new SchedulerDriver(partitions, 'by the rule')
  const processes = ['A', 'B'].map((name) => driver.boot(name))
  const releases = processes.map((process) => held(driver, process, all))
  await driver.advance(1_000, 250)
  const given = processes.map(({ scheduler }) => scheduler.queries.partitions().filter(({ role }) => role === 'owner'))
  expect(given.map(({ length }) => length)).toEqual([2, 2])
  for (const release of releases) release()
  await driver.advance(2_000, 250)
  expect(processes.flatMap(owned).sort()).toEqual(all)
})
