/**
 * An owner that cannot reach a broker although others can: its partitions on that broker move to others, and return once it
 * reaches the broker again.
 */
import { expect, test } from 'vitest'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { Process } from '../model/cluster/process.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const partitions = 4
const catchUp = { catchUp: 'ALL', catchUpMax: 100, misfireThresholdMs: 60_000 } as const

/** Two schedulers that each own some partitions. In each partition something is due every second. */
async function pair(): Promise<{ driver: SchedulerDriver; first: Process; second: Process }> {
  const driver = new SchedulerDriver(partitions)
  const first = driver.boot('A')
  const second = driver.boot('B')
  await driver.settle()
  for (let index = 0; index < 40; index++)
    driver.define(`tick-${index}`, { schedule: { everyMs: 1_000 }, target: { handler: 'x' }, ...catchUp })
  await driver.advance(3_000, 250)
  return { driver, first, second }
}

const owned = ({ scheduler }: Process): number[] =>
  scheduler.queries
    .partitions()
    .filter(({ phase, role }) => role === 'owner' && phase === 'active')
    .map(({ partition }) => partition)

/** No run is missing or doubled. */
function expectEachOnce(driver: SchedulerDriver): void {
  const nominal = Map.groupBy(driver.executions(), ({ jobId }) => jobId)
  expect(nominal.size).toBe(40)
  for (const runs of nominal.values()) {
    const times = runs.map(({ scheduledFor }) => scheduledFor).sort((a, b) => a - b)
    expect(times).toEqual(times.map((_, place) => (times[0] ?? 0) + place * 1_000))
  }
}

test('others fire what it cannot commit, it owns nothing until it reaches the broker again, and nothing is lost or doubled', async () => {
  const { driver, first, second } = await pair()
  const before = owned(first)
  expect(before.length).toBeGreaterThan(0)
  // Its writes do not arrive; those of its successors do.
  const append = driver.log.append.bind(driver.log)
  let isHeirs = false
  driver.log.append = (records, transaction) => {
    if (transaction !== undefined && !isHeirs && records.some(({ partition }) => before.includes(partition ?? -1)))
      throw new DuelogError('broker-unavailable', 'The broker has not answered.')
    return append(records, transaction)
  }
  await driver.advance(3_000, 250)
  isHeirs = true
  first.member?.outOfReach(true)
  await driver.advance(6_000, 250)
  expect(owned(first)).toEqual([])
  expect(owned(second)).toHaveLength(partitions)
  first.member?.outOfReach(false)
  await driver.advance(6_000, 250)
  expect(owned(first).length).toBeGreaterThan(0)
  expect(owned(first).length + owned(second).length).toBe(partitions)
  expectEachOnce(driver)
})

test('if all are cut off from one broker, each keeps its partitions', async () => {
  const { driver, first, second } = await pair()
  first.member?.outOfReach(true)
  second.member?.outOfReach(true)
  await driver.advance(6_000, 250)
  expect(owned(first).length + owned(second).length).toBe(partitions)
  expect(owned(first).length).toBeGreaterThan(0)
  expect(owned(second).length).toBeGreaterThan(0)
  expectEachOnce(driver)
})

test('a member that starts while all others are cut off takes over what they fire only when it is warm', async () => {
  const driver = new SchedulerDriver(partitions, 'by the rule')
  const processes = ['A', 'B'].map((name) => driver.boot(name))
  await driver.advance(5_000, 250)
  const tick = { schedule: { everyMs: 1_000 }, target: { handler: 'x' }, startDeadlineMs: 1_000 }
  for (let index = 0; index < 40; index++) driver.define(`tick-${index}`, { ...tick, ...catchUp })
  await driver.advance(2_000, 250)
  for (const { member } of processes) member?.outOfReach(true)
  await driver.advance(1_000, 250)
  const third = driver.boot('C')
  const releases = [0, 1, 2, 3].map((partition) => driver.hold(third, `opens store ${partition}`))
  await driver.advance(40_000, 1_000)
  expect(owned(third)).toEqual([])
  expect(processes.flatMap(owned).sort()).toEqual([0, 1, 2, 3])
  for (const release of releases) release()
  await driver.advance(5_000, 250)
  expect(owned(third)).toEqual([0, 1, 2, 3])
  expectEachOnce(driver)
})
