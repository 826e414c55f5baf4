/** Restores of an older store: the timers and the queue of each later state are derived from the changelog. */
import { expect, test } from 'vitest'
import { type Disk, metrics } from '../model/cluster/process.ts'
import { names } from '../model/world.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const rearmed = async (): Promise<number> => (await metrics.timersRearmed.get()).values[0]?.value ?? 0

test('each occurrence comes in time, without the lost-timer sweeper', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const first = driver.boot('A', disk)
  await driver.settle()
  driver.define('often', { schedule: { everyMs: 10_000, anchor: 0 }, target: { handler: 'x' }, maxConcurrentRuns: 100 })
  await driver.advance(5_000, 500)
  driver.kill(first)
  const second = driver.boot('B')
  await driver.advance(35_000, 500)
  driver.kill(second)
  const before = driver.executions().length
  const sets = await rearmed()
  const successor = driver.boot('C', disk)
  await driver.advance(40_000, 500)
  expect(driver.phases(successor)).toBe('active')
  const later = driver.executions().slice(before)
  const fired = later.filter(({ attempt }) => attempt === 1)
  expect(fired.length).toBeGreaterThanOrEqual(3)
  for (const { at, scheduledFor } of fired) expect(at + beginMs - scheduledFor).toBeLessThanOrEqual(5_000)
  expect(await rearmed()).toBe(sets)
})

test('runs that wait for a slot get it in their order', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const first = driver.boot('A', disk)
  await driver.settle()
  const limited = { schedule: { at: beginMs + 5_000 }, target: { handler: 'x' }, concurrencyKey: 'k', concurrencyLimit: 1 }
  for (const id of ['a', 'b', 'c']) driver.define(id, limited)
  await driver.advance(1_000, 500)
  driver.kill(first)
  const second = driver.boot('B')
  await driver.advance(8_000, 500)
  expect(driver.executions()).toHaveLength(1)
  driver.kill(second)
  driver.boot('C', disk)
  await driver.advance(4_000, 500)
  for (let ended = 0; ended < 3; ended++) {
    const run = driver.executions().at(-1)
    if (run === undefined) throw new Error('Nothing was dispatched.')
    driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
    await driver.advance(2_000, 500)
  }
  expect(new Set(driver.executions().map(({ jobId }) => jobId)).size).toBe(3)
})

test('hidden records do not count as unread: a partition that waits to claim has nothing before it', async () => {
  const driver = new SchedulerDriver()
  const load = driver.log.begin('client', driver.log.fence('client'))
  const value = Buffer.from('never seen')
  driver.log.append(
    Array.from({ length: 1_500 }, (_, number) => ({ topic: names.jobs, partition: 0, key: `load-${number}`, value })),
    load,
  )
  driver.log.fence('client')
  const owner = driver.boot('A')
  const release = driver.hold(owner, 'opens store 0')
  await driver.advance(1_000)
  if (owner.member === undefined) throw new Error('It has not joined.')
  owner.member.nextHeartbeat = () => new Promise(() => {})
  release()
  await driver.advance(10_000, 500)
  const [view] = owner.scheduler.queries.partitions()
  expect(view).toMatchObject({ phase: 'claiming', restoreRemaining: 0 })
})
