/**
 * Owners whose wall clock is wrong: by the true time nothing is early and nothing is lost. Firing continues when the clock is
 * right again.
 */
import { describe, expect, it, vi } from 'vitest'
import { WakeSignal } from '../../src/ground/concurrency/waits.ts'
import { PartitionContext } from '../../src/scheduler/partition/partition-context.ts'
import type { Process } from '../model/cluster/process.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const secondMs = 1_000
const hourMs = 3_600_000

const driverWith = (clocks = {}, partitions = 1, withStandbys = false): SchedulerDriver =>
  new SchedulerDriver(partitions, withStandbys ? 'standbys' : 'owners', { clockStepMsMax: 2_000, ...clocks })

/** The clock is wrong for this time. */
async function stepped(driver: SchedulerDriver, process: Process, skewMs: number, forMs = secondMs): Promise<void> {
  process.machine.clock.skewMs = skewMs
  await driver.advance(forMs, 50)
  process.machine.clock.skewMs = 0
  await driver.advance(6_000, 50)
}

const of = (driver: SchedulerDriver, id: string) => driver.executions().filter(({ jobId }) => jobId === id)

/** True times at which records arrived in the topic of the user, since the beginning. */
const orders = (driver: SchedulerDriver): number[] =>
  driver.log.allOf('orders').flatMap(({ log }) => log.archive.flatMap(({ record, at }) => (record ? [at - beginMs] : [])))

const answer = (driver: SchedulerDriver, id: string): void => {
  for (const execution of of(driver, id)) {
    driver.report(execution, 'STARTED', { startedAt: execution.at + beginMs })
    driver.report(execution, 'SUCCEEDED', { startedAt: execution.at + beginMs })
  }
}

describe.each([24 * hourMs, 48 * hourMs, hourMs, -hourMs])('a clock that is off by %i ms for one second', (skewMs) => {
  it('loses no occurrence, ends no run, and writes no record early', async () => {
    const driver = driverWith()
    const owner = driver.boot('A')
    await driver.settle()
    const t0 = driver.time.nowMs
    driver.define('hourly', { schedule: { everyMs: hourMs }, target: { handler: 'y' } })
    driver.define('long', {
      ...{ schedule: { at: t0 + hourMs }, target: { handler: 'y' }, attemptTimeoutMs: 4 * hourMs, retry: { maxAttempts: 1 } },
      ...{ leaseMs: hourMs },
    })
    driver.define('order', {
      schedule: { at: t0 + 5 * hourMs },
      target: { topic: { name: 'orders' } },
      payload: Buffer.from('x'),
    })
    driver.define('done', { schedule: { at: t0 + 1_000 }, target: { handler: 'y' } })
    await driver.advance(2_000, 1_000)
    answer(driver, 'done')
    await driver.advance(hourMs, hourMs / 2)
    answer(driver, 'hourly')
    for (const execution of of(driver, 'long')) driver.report(execution, 'STARTED', { startedAt: driver.time.nowMs })
    await driver.settle()
    await stepped(driver, owner, skewMs)
    expect([driver.phases(owner), driver.state(owner, 'long')?.active[0]?.status]).toEqual(['active', 'RUNNING'])
    const tombstones = driver.log
      .allOf('model.jobs')
      .flatMap(({ log }) => log.archive.filter(({ record }) => record?.key?.equals(Buffer.from('done')) && record.value === null))
    // An hour after its end it is deleted, and not before.
    expect(tombstones.filter(({ at }) => at - beginMs < hourMs + 1_000)).toEqual([])
    for (let hour = 0; hour < 6; hour++) {
      await driver.advance(hourMs, hourMs / 6)
      for (const execution of of(driver, 'long')) driver.report(execution, 'HEARTBEAT')
      for (const execution of of(driver, 'hourly')) driver.report(execution, 'SUCCEEDED', { startedAt: driver.time.nowMs })
    }
    await driver.settle()
    const times = of(driver, 'hourly').map(({ scheduledFor }) => (scheduledFor - t0) / hourMs)
    expect(times).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(driver.state(owner, 'hourly')?.skipped).toBe(0)
    for (const { at, dueAt } of driver.executions()) expect(at + beginMs).toBeGreaterThanOrEqual(dueAt - 200)
    expect(orders(driver)).toHaveLength(1)
    expect(orders(driver)[0]).toBeGreaterThanOrEqual(5 * hourMs)
  })

  it('leaves a key with a rateLimit unchanged, and retries on time', async () => {
    const driver = driverWith({ clockLookMs: secondMs })
    const owner = driver.boot('A')
    await driver.settle()
    const rate = { rateLimit: { key: 'crm', limit: 100, perMs: 1_000 } }
    driver.define('hourly', { schedule: { everyMs: hourMs }, target: { handler: 'y' }, ...rate })
    driver.define('minutely', { schedule: { everyMs: 60_000 }, target: { handler: 'y' }, ...rate, overlap: 'ALLOW' })
    driver.define('failing', {
      ...{ schedule: { at: driver.time.nowMs + 1_000 }, target: { handler: 'y' } },
      retry: { maxAttempts: 3, backoff: { fixed: { delayMs: 30_000 } } },
    })
    await driver.advance(2_000, 500)
    owner.machine.clock.skewMs = skewMs
    // A failure that is read while the clock is wrong waits until it is right.
    const [failing] = of(driver, 'failing')
    if (failing === undefined) throw new Error('Nothing was dispatched.')
    driver.report(failing, 'FAILED', { error: { type: 'Error', message: 'no' } })
    await driver.settle()
    await stepped(driver, owner, skewMs)
    await driver.advance(24_000, 6_000)
    driver.report({ ...failing, attempt: 2 }, 'RETRY_DUE')
    await driver.advance(1_000, 50)
    expect(of(driver, 'failing').map(({ attempt }) => attempt)).toEqual([1, 2])
    await driver.advance(10 * 60_000, 30_000)
    expect(of(driver, 'minutely').map(({ scheduledFor }) => (scheduledFor - beginMs) / 60_000)).toHaveLength(10)
    expect(driver.state(owner, 'minutely')?.failed).toBe(0)
  })
})

it('decides nothing when the clock is corrected between taking timers and applying them, and everything when it is right again', async () => {
  const driver = driverWith()
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('soon', { schedule: { at: beginMs + 10_000 }, target: { topic: { name: 'orders' } }, payload: Buffer.from('x') })
  driver.define('later', { schedule: { at: beginMs + hourMs }, target: { topic: { name: 'orders' } }, payload: Buffer.from('x') })
  await driver.advance(9_000, 500)
  const { store } = { store: owner.disk.get(0) }
  if (store === undefined) throw new Error('The owner has no store.')
  // Definitions are read between the two.
  const { getNow } = store
  let readings = 0
  store.getNow = (keys) => {
    readings++
    owner.machine.clock.skewMs = 2 * hourMs
    return getNow.call(store, keys)
  }
  await driver.advance(3_000, 50)
  store.getNow = getNow
  expect(readings).toBeGreaterThan(0)
  const early = orders(driver).filter((at) => at < 10_000)
  expect(early).toEqual([])
  owner.machine.clock.skewMs = 0
  await driver.advance(6_000, 50)
  expect(orders(driver)).toHaveLength(1)
  await driver.advance(2 * hourMs, hourMs / 2)
  expect(orders(driver).map((at) => at >= hourMs)).toEqual([false, true])
})

/** A run of the job `leased`. A worker has started it, with a lease of 30 s. */
async function runningUnderLease(more: { attemptTimeoutMs?: number } = {}) {
  const driver = driverWith()
  const owner = driver.boot('A')
  await driver.settle()
  const schedule = { at: beginMs + 1_000 }
  driver.define('leased', { schedule, target: { handler: 'y' }, leaseMs: 30_000, retry: { maxAttempts: 2 }, ...more })
  await driver.advance(2_000, 500)
  const [execution] = of(driver, 'leased')
  if (execution === undefined) throw new Error('Nothing was dispatched.')
  driver.report(execution, 'STARTED', { startedAt: driver.time.nowMs })
  await driver.settle()
  return { driver, owner, execution }
}

it('a heartbeat that is read while the clock is ahead does not lengthen a lease', async () => {
  const { driver, owner, execution } = await runningUnderLease()
  owner.machine.clock.skewMs = hourMs
  driver.report(execution, 'HEARTBEAT')
  await driver.advance(1_000, 50)
  owner.machine.clock.skewMs = 0
  await driver.advance(45_000, 500)
  expect(driver.state(owner, 'leased')?.active[0]?.attempt ?? driver.state(owner, 'leased')?.lastRun?.attempts).toBe(2)
})

it('a heartbeat that is read while the clock is behind counts from when the clock is right again', async () => {
  const { driver, owner, execution } = await runningUnderLease({ attemptTimeoutMs: 2 * hourMs })
  owner.machine.clock.skewMs = -hourMs
  // This worker is alive all the time.
  for (let beat = 0; beat < 12; beat++) {
    driver.report(execution, 'HEARTBEAT')
    await driver.advance(10_000, 1_000)
  }
  owner.machine.clock.skewMs = 0
  await driver.advance(9_000, 500)
  driver.report(execution, 'HEARTBEAT')
  await driver.settle()
  expect(driver.state(owner, 'leased')?.active).toMatchObject([{ attempt: 1, status: 'RUNNING' }])
})

it('says why nothing fires while the clock is not trusted: which owner, by how much, and what to do', async () => {
  const driver = driverWith()
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('minutely', { schedule: { everyMs: 60_000 }, target: { handler: 'y' } })
  await driver.advance(5_000, 500)
  const why = async () => (await owner.scheduler.queries.why(0, 'minutely'))?.reasons.map(({ code }) => code)
  expect(await why()).toEqual(['scheduled'])
  owner.machine.clock.skewMs = hourMs
  await driver.advance(10_000, 500)
  expect((await owner.scheduler.queries.why(0, 'minutely'))?.reasons).toEqual([
    {
      code: 'clock',
      at: null,
      text: expect.stringMatching(
        /^The owner of its partition, .*, decides nothing for now\. .* 3600\d\d\d ms ahead of the brokers.* Check the time services/,
      ),
    },
    expect.objectContaining({ code: 'scheduled' }),
  ])
  // A standby is read when the owner is unreachable. The clock of that process says nothing about the owner.
  expect((await owner.scheduler.queries.standbyReads.why(0, 'minutely'))?.reasons).toHaveLength(1)
  owner.machine.clock.skewMs = 0
  await driver.advance(10_000, 500)
  expect(await why()).toEqual(['scheduled'])
})

it('a process that starts with a wrong clock takes over nothing; the previous owner fires', async () => {
  const driver = driverWith({}, 1, true)
  const first = driver.boot('A')
  await driver.settle()
  driver.define('minutely', { schedule: { everyMs: 60_000 }, target: { handler: 'y' } })
  await driver.advance(5_000, 500)
  const second = driver.boot('B')
  second.machine.clock.skewMs = hourMs
  await driver.advance(10_000, 500)
  driver.kill(first)
  await driver.advance(180_000, 1_000)
  const before = of(driver, 'minutely').length
  expect(driver.phases(second)).not.toContain('active')
  expect(second.scheduler.queries.partitions()[0]?.problem).toMatch(
    /is 36000\d\d ms ahead of the brokers.*DUELOG_CLOCK_STEP_MS_MAX/,
  )
  await expect(second.scheduler.queries.job(0, 'minutely')).rejects.toThrow(
    /not active in this process\. .* ms ahead of the brokers/,
  )
  second.machine.clock.skewMs = 0
  await driver.advance(180_000, 1_000)
  expect(driver.phases(second)).toBe('active')
  expect(of(driver, 'minutely').length).toBeGreaterThan(before)
  for (const { at, dueAt } of driver.executions()) expect(at + beginMs).toBeGreaterThanOrEqual(dueAt - 200)
})

it('an owner whose clock steps while it applies records from before its takeover waits until it is right again', async () => {
  const driver = driverWith()
  const first = driver.boot('A')
  await driver.settle()
  driver.define('minutely', { schedule: { everyMs: 60_000 }, target: { handler: 'y' } })
  await driver.advance(5_000, 500)
  driver.kill(first)
  driver.define('more', { schedule: { everyMs: 60_000 }, target: { handler: 'y' } })
  const second = driver.boot('B')
  const entering = PartitionContext.prototype.enter
  const enter = vi.spyOn(PartitionContext.prototype, 'enter').mockImplementation(function (this: PartitionContext, phase) {
    entering.call(this, phase)
    if (phase === 'draining') second.machine.clock.skewMs = hourMs
  })
  const waits = vi.spyOn(WakeSignal.prototype, 'wait')
  await driver.advance(60_000, 500)
  enter.mockRestore()
  expect(driver.phases(second)).toBe('claiming')
  expect(waits.mock.calls.length).toBeLessThan(1_000)
  waits.mockRestore()
  second.machine.clock.skewMs = 0
  await driver.advance(10_000, 500)
  expect(driver.phases(second)).toBe('active')
})

it('a machine that slept continues with the first answer of a broker', async () => {
  const driver = driverWith()
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('minutely', { schedule: { everyMs: 60_000 }, target: { handler: 'y' }, overlap: 'ALLOW' })
  await driver.advance(65_000, 500)
  owner.machine.clock.stopped = true
  driver.time.nowMs += hourMs
  owner.machine.clock.asleepMs += hourMs
  owner.machine.clock.stopped = false
  await driver.advance(2_000, 50)
  expect(owner.scheduler.queries.partitions()[0]?.problem).toBeNull()
  await driver.advance(60_000, 500)
  expect(of(driver, 'minutely').length).toBeGreaterThanOrEqual(3)
})

it('clocks that are slewed at 500 ppm do not stop owners', async () => {
  const driver = driverWith()
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('minutely', { schedule: { everyMs: 60_000 }, target: { handler: 'y' }, overlap: 'ALLOW' })
  const problems = new Set<unknown>()
  for (let minute = 0; minute < 60; minute++) {
    await driver.advance(60_000, 15_000)
    answer(driver, 'minutely')
    owner.machine.clock.skewMs += 30
    problems.add(owner.scheduler.queries.partitions()[0]?.problem)
  }
  expect([...problems]).toEqual([null])
  expect(of(driver, 'minutely').length).toBeGreaterThanOrEqual(59)
})

it('one broker of three with a wrong clock does not stop owners; a single broker does, and the message names the remedy', async () => {
  const many = driverWith({ brokerSkewsMs: [0, hourMs, 0] }, 3)
  const owner = many.boot('A')
  await many.advance(10_000, 500)
  expect(many.phases(owner)).toBe('active,active,active')
  const alone = driverWith({ brokerSkewsMs: [hourMs] })
  const stopped = alone.boot('A')
  await alone.advance(10_000, 500)
  expect(alone.phases(stopped)).not.toBe('active')
  expect(stopped.clock.problem).toMatch(/DUELOG_CLOCK_STEP_MS_MAX=0/)
})
