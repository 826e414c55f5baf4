/**
 * Reports that were durable before a timer of their run fell due: they always win, in normal operation, under load, and after a
 * time without any owner.
 */
import { expect, test } from 'vitest'
import type { JobState } from '../../schemas/generated.ts'
import type { Disk, Process } from '../model/cluster/process.ts'
import { codecs, names } from '../model/world.ts'
import { type Dispatched, SchedulerDriver } from '../tools/scheduler-driver.ts'

const minute = 60_000

interface Site {
  driver: SchedulerDriver
  owner: Process
  disk: Disk
  beganAt: number
}

async function started(): Promise<Site> {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const owner = driver.boot('A', disk)
  await driver.settle()
  return { driver, owner, disk, beganAt: driver.time.nowMs }
}

const executionOf = (driver: SchedulerDriver, id: string): Dispatched => {
  const found = driver.executions().find(({ jobId }) => jobId === id)
  if (found === undefined) throw new Error(`${id} was not dispatched.`)
  return found
}
const attemptsOf = (driver: SchedulerDriver, id: string): number[] =>
  driver.executions().flatMap(({ jobId, attempt }) => (jobId === id ? [attempt] : []))
const runsOf = (state: JobState | undefined): string[] => state?.active.map(({ status, attempt }) => `${status} ${attempt}`) ?? []

/** Runs until this many ms after the beginning. */
const until = (driver: SchedulerDriver, ms: number): Promise<void> => driver.advance(ms - driver.nowMs, 500)

test('a success that was read during a commit counts before the lease that ended meanwhile', async () => {
  const { driver, owner, beganAt } = await started()
  driver.define('pay', { schedule: { at: beganAt + 1_000 }, target: { handler: 'x' }, leaseMs: 30_000 })
  driver.define('noise', { schedule: { at: beganAt + 900_000 }, target: { handler: 'x' } })
  await driver.advance(1_000, 100)
  const run = executionOf(driver, 'pay')
  driver.report(run, 'STARTED', { startedAt: driver.time.nowMs })
  await driver.advance(9_010, 500)
  driver.report(run, 'HEARTBEAT')
  await driver.settle()
  const leaseEndsAt = driver.nowMs + 30_000
  await until(driver, leaseEndsAt - 100)
  const { promise, resolve } = Promise.withResolvers<void>()
  driver.commitGate = promise
  driver.command('noise', { type: 'PAUSE', commandId: 'c1' })
  await driver.advance(5)
  driver.report(run, 'SUCCEEDED', { startedAt: beganAt + 1_000 })
  await until(driver, leaseEndsAt + 50)
  expect(owner.scheduler.queries.partitions()[0]?.mailboxDepth).toBeGreaterThan(0)
  driver.commitGate = undefined
  resolve()
  await driver.advance(500, 20)
  expect(attemptsOf(driver, 'pay')).toEqual([1])
  expect(driver.state(owner, 'pay')).toMatchObject({ succeeded: 1, failed: 0, active: [] })
})

test('after an absence of all owners, timely reports count before timeouts, leases and start deadlines', async () => {
  const { driver, owner, disk, beganAt } = await started()
  const job = { schedule: { at: beganAt + 1_000 }, target: { handler: 'x' }, retry: { maxAttempts: 3 } }
  driver.define('pay', { ...job, attemptTimeoutMs: 5 * minute })
  driver.define('silent-lease', { ...job, leaseMs: 30_000, attemptTimeoutMs: 30 * minute })
  driver.define('short', { ...job, startDeadlineMs: minute, onFailure: ['alarm'] })
  await driver.advance(1_000, 100)
  for (const id of ['pay', 'silent-lease']) driver.report(executionOf(driver, id), 'STARTED', { startedAt: driver.time.nowMs })
  await driver.advance(100)
  expect(['pay', 'short'].map((id) => runsOf(driver.state(owner, id)))).toEqual([['RUNNING 1'], ['DISPATCHED 1']])
  driver.kill(owner)
  await driver.advance(2_000)
  for (const id of ['pay', 'short', 'silent-lease'])
    driver.report(executionOf(driver, id), 'SUCCEEDED', { startedAt: beganAt + 1_000 })
  driver.time.nowMs += 6 * minute
  const successor = driver.boot('B', disk)
  await driver.advance(40_000, 500)
  for (const id of ['pay', 'short', 'silent-lease']) {
    expect(attemptsOf(driver, id)).toEqual([1])
    expect(driver.state(successor, id)).toMatchObject({ status: 'COMPLETED', succeeded: 1, failed: 0, active: [] })
  }
  expect(driver.log.at(names.commands, 0).archive).toEqual([])
})

test('under load no worker that reports in time loses its lease, though its heartbeats are read late', async () => {
  const { driver, owner, beganAt } = await started()
  const { io } = driver.cluster
  const submit = io.submit.bind(io)
  let commitMs = 0
  driver.cluster.io.submit = (machine, name, effect) =>
    name === 'commits' && commitMs > 0
      ? new Promise((resolve, reject) => {
          machine.clock.at(machine.clock.nowMs() + commitMs, () => submit(machine, name, effect).then(resolve, reject))
        })
      : submit(machine, name, effect)
  const once = { schedule: { at: beganAt + 1_000 }, target: { handler: 'x' } }
  driver.define('long', once)
  for (let index = 0; index < 400; index++) driver.define(`j${index}`, once)
  await driver.advance(1_200, 100)
  const long = executionOf(driver, 'long')
  const others = driver.executions().filter(({ jobId }) => jobId !== 'long')
  expect(others).toHaveLength(400)
  driver.report(long, 'STARTED', { startedAt: driver.time.nowMs })
  await driver.settle()
  commitMs = 3_000
  for (const other of others)
    driver.report(other, 'SUCCEEDED', { startedAt: driver.time.nowMs, result: Buffer.alloc(60_000, '1') })
  for (let beat = 0; beat < 12; beat++) {
    await driver.advance(9_000, 500)
    driver.report(long, 'HEARTBEAT')
    expect(runsOf(driver.state(owner, 'long'))).toEqual(['RUNNING 1'])
  }
  // A worker that falls silent loses its lease once it is known that it sent no report.
  commitMs = 0
  await driver.advance(31_000, 500)
  expect(driver.state(owner, 'long')?.active[0]?.errors.map(({ type }) => type)).toEqual(['LeaseLost'])
})

test('a heartbeat that is read before the start of its attempt is applied renews the lease too', async () => {
  const { driver, owner, beganAt } = await started()
  driver.define('long', { schedule: { at: beganAt + 1_000 }, target: { handler: 'x' }, leaseMs: 30_000 })
  driver.define('noise', { schedule: { at: beganAt + 900_000 }, target: { handler: 'x' } })
  await driver.advance(1_000, 100)
  const run = executionOf(driver, 'long')
  const { promise, resolve } = Promise.withResolvers<void>()
  driver.commitGate = promise
  driver.command('noise', { type: 'PAUSE', commandId: 'c1' })
  await driver.advance(5)
  driver.report(run, 'STARTED', { startedAt: beganAt + 1_000 })
  await until(driver, 21_000)
  driver.report(run, 'HEARTBEAT')
  await until(driver, 24_000)
  driver.commitGate = undefined
  resolve()
  await until(driver, 50_000)
  expect(runsOf(driver.state(owner, 'long'))).toEqual(['RUNNING 1'])
  await until(driver, 53_000)
  expect(driver.state(owner, 'long')?.active[0]?.errors.map(({ type }) => type)).toEqual(['LeaseLost'])
})

test('a start that is reported within the grace makes a run RUNNING; without a start it expires then', async () => {
  const { driver, owner, beganAt } = await started()
  const job = { schedule: { at: beganAt + 1_000 }, target: { handler: 'x' }, startDeadlineMs: 10_000 }
  driver.define('slow-report', job)
  driver.define('not-taken', job)
  await until(driver, 15_900)
  expect(runsOf(driver.state(owner, 'not-taken'))).toEqual(['DISPATCHED 1'])
  driver.report(executionOf(driver, 'slow-report'), 'STARTED', { startedAt: beganAt + 10_999 })
  await until(driver, 16_200)
  expect(runsOf(driver.state(owner, 'slow-report'))).toEqual(['RUNNING 1'])
  expect(driver.state(owner, 'not-taken')?.lastRun).toMatchObject({ status: 'EXPIRED' })
})

test('an open transaction on execution-events keeps no silent attempt alive', async () => {
  const { driver, owner, beganAt } = await started()
  driver.define('pay', { schedule: { at: beganAt + 1_000 }, target: { handler: 'x' }, leaseMs: 10_000 })
  await driver.advance(1_000, 100)
  const run = executionOf(driver, 'pay')
  driver.report(run, 'STARTED', { startedAt: driver.time.nowMs })
  await driver.settle()
  // A transaction that ended leaves a record that no reader is shown. Another one stays open after it.
  const other = { ...run, worker: 'w@h:1:a', at: driver.time.nowMs, type: 'HEARTBEAT' as const }
  const record = { topic: names.events, partition: 0, key: 'pay', value: codecs.event.encode({ ...other, jobId: 'other' }) }
  const epoch = driver.log.fence('python')
  driver.log.append([record], driver.log.begin('python', epoch))
  driver.log.commit('python', epoch)
  driver.log.append([record], driver.log.begin('python', epoch))
  await driver.advance(12_000, 500)
  expect(driver.state(owner, 'pay')?.active[0]?.errors.map(({ type }) => type)).toEqual(['LeaseLost'])
})

test('while the end of execution-events is unknown, no attempt is given up and other jobs fire; then it is', async () => {
  const { driver, owner, beganAt } = await started()
  const { io } = driver.cluster
  const submit = io.submit.bind(io)
  let answers: 'never' | 'refused' | 'given' = 'never'
  driver.cluster.io.submit = (machine, name, effect) => {
    if (answers === 'given' || name !== `asks for the offsets of ${names.events}`) return submit(machine, name, effect)
    return answers === 'never' ? new Promise(() => {}) : Promise.reject(new Error('The broker is away.'))
  }
  driver.define('pay', { schedule: { at: beganAt + 1_000 }, target: { handler: 'x' }, leaseMs: 10_000 })
  driver.define('not-taken', { schedule: { at: beganAt + 1_000 }, target: { handler: 'x' }, startDeadlineMs: 2_000 })
  driver.define('slow', {
    ...{ schedule: { at: beganAt + 1_000 }, target: { handler: 'x' }, leaseMs: 3_600_000, attemptTimeoutMs: 2_000 },
    retry: { maxAttempts: 1 },
  })
  driver.define('each-second', {
    schedule: { everyMs: 1_000 },
    target: { handler: 'x' },
    maxConcurrentRuns: 100,
  })
  await driver.advance(1_000, 100)
  for (const id of ['pay', 'slow']) driver.report(executionOf(driver, id), 'STARTED', { startedAt: driver.time.nowMs })
  const activeRuns = (): string[][] => ['pay', 'slow', 'not-taken'].map((id) => runsOf(driver.state(owner, id)))
  await driver.advance(15_000, 500)
  expect(activeRuns()).toEqual([['RUNNING 1'], ['RUNNING 1'], ['DISPATCHED 1']])
  answers = 'refused'
  await driver.advance(15_000, 500)
  expect(activeRuns()).toEqual([['RUNNING 1'], ['RUNNING 1'], ['DISPATCHED 1']])
  expect(attemptsOf(driver, 'each-second').length).toBeGreaterThanOrEqual(30)
  answers = 'given'
  await driver.advance(11_000, 500)
  expect(driver.state(owner, 'pay')?.active[0]?.errors.map(({ type }) => type)).toEqual(['LeaseLost'])
  expect(driver.state(owner, 'slow')?.lastRun).toMatchObject({ status: 'DEAD', errors: [{ type: 'AttemptTimeout' }] })
  expect(driver.state(owner, 'not-taken')?.lastRun).toMatchObject({ status: 'EXPIRED' })
})
