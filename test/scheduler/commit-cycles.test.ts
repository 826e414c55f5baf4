/** Results of a commit cycle: exactly the timers that its jobs need, and no half-done work. */
import { expect, test } from 'vitest'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import { prefix, timerOfKey } from '../../streams/state/keys.ts'
import type { Process } from '../model/cluster/process.ts'
import { names } from '../model/world.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const hourMs = 3_600_000

/** Due times of the timers in the store of a process, in ms since the beginning. */
const timersIn = ({ disk }: Process): number[] =>
  (disk.get(0)?.dump() ?? [])
    .map(([key]) => Buffer.from(key, 'hex'))
    .filter((key) => key[0] === prefix.timer)
    .map((key) => timerOfKey(key).dueAt - beginMs)

test('a job that is put off repeatedly, and runs in the end, has one timer at any time except while it runs', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const job = { target: { handler: 'x' }, leaseMs: 30_000, attemptTimeoutMs: hourMs }
  for (const hours of [5, 3, 4, 1]) {
    driver.define('j', { ...job, schedule: { at: beginMs + hours * hourMs } })
    await driver.advance(1_000, 500)
    expect(timersIn(owner)).toEqual([hours * hourMs])
  }
  driver.command('j', { type: 'PAUSE', commandId: 'c1' })
  await driver.advance(1_000, 500)
  expect(timersIn(owner)).toEqual([])
  driver.command('j', { type: 'RESUME', commandId: 'c2' })
  await driver.advance(hourMs, hourMs / 4)
  const [run] = driver.executions()
  if (run === undefined) throw new Error('Nothing was dispatched.')
  driver.report(run, 'STARTED', { startedAt: driver.time.nowMs })
  await driver.advance(1_000, 500)
  expect(timersIn(owner)).toHaveLength(2)
  driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.advance(1_000, 500)
  expect(timersIn(owner)).toHaveLength(1)
})

test('an occurrence that waits for the end of a run starts with it, also if one batch applies both', async () => {
  const driver = new SchedulerDriver()
  driver.boot('A')
  await driver.settle()
  driver.define('j', {
    schedule: { everyMs: 10_000, anchor: beginMs },
    target: { handler: 'x' },
    ...{ catchUp: 'ALL', overlap: 'ALLOW', maxConcurrentRuns: 1 },
  })
  driver.define('noise', { schedule: { at: beginMs + hourMs }, target: { handler: 'x' } })
  await driver.advance(10_500 - driver.nowMs, 500)
  const [run] = driver.executions()
  if (run === undefined) throw new Error('Nothing was dispatched.')
  driver.report(run, 'STARTED', { startedAt: driver.time.nowMs })
  await driver.advance(19_000 - driver.nowMs, 500)
  const { promise, resolve } = Promise.withResolvers<void>()
  driver.commitGate = promise
  driver.command('noise', { type: 'PAUSE', commandId: 'c1' })
  await driver.advance(5)
  driver.report(run, 'SUCCEEDED', { startedAt: run.dueAt })
  await driver.advance(20_100 - driver.nowMs, 500)
  driver.commitGate = undefined
  resolve()
  await driver.advance(5_000, 500)
  expect(driver.executions().map(({ runNo, scheduledFor }) => [runNo, scheduledFor - beginMs])).toEqual([
    [1, 10_000],
    [2, 20_000],
  ])
})

test('a finished job is deleted in the end, also if its tombstone could not be written at first', async () => {
  const driver = new SchedulerDriver()
  const { io } = driver.cluster
  const submit = io.submit.bind(io)
  let refused = 0
  driver.cluster.io.submit = (machine, name, effect) => {
    if (name !== 'writes' || refused === 3) return submit(machine, name, effect)
    refused++
    return Promise.reject(new DuelogError('broker-unavailable', 'The broker is away.'))
  }
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('j', { schedule: { at: beginMs + 1_000 }, target: { handler: 'x' }, retainCompletedMs: 60_000 })
  await driver.advance(2_000, 500)
  const [run] = driver.executions()
  if (run === undefined) throw new Error('Nothing was dispatched.')
  driver.report(run, 'SUCCEEDED', { startedAt: run.dueAt })
  await driver.advance(1_000, 500)
  expect(driver.state(owner, 'j')?.status).toBe('COMPLETED')
  await driver.advance(3 * 60_000, 1_000)
  expect(refused).toBe(3)
  expect(driver.log.at(names.jobs, 0).archive.map(({ record }) => record?.value === null)).toEqual([false, true])
  expect(driver.state(owner, 'j')).toBeUndefined()
})

test('a job that is due when it is defined is dispatched before its definition is stored, and once', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const release = driver.hold(owner, 'applies')
  const dueMs = driver.nowMs
  driver.define('j', { schedule: { at: beginMs + dueMs }, target: { handler: 'x' } })
  driver.define('later', { schedule: { at: beginMs + hourMs }, target: { handler: 'x' } })
  await driver.advance(20)
  expect(driver.executions().map(({ jobId, dueAt }) => [jobId, dueAt - beginMs])).toEqual([['j', dueMs]])
  driver.kill(owner)
  release()
  const next = driver.boot('B', owner.disk)
  await driver.advance(2_000, 500)
  expect(driver.executions()).toHaveLength(1)
  expect(driver.state(next, 'j')?.active).toHaveLength(1)
  expect(timersIn(next)).not.toContain(dueMs)
  expect(timersIn(next)).toContain(hourMs)
})

test('a job that is due does not fire if its definition and its deletion are read together', async () => {
  const driver = new SchedulerDriver()
  driver.boot('A')
  await driver.settle()
  driver.define('j', { schedule: { at: beginMs }, target: { handler: 'x' } })
  driver.remove('j')
  await driver.advance(2_000, 500)
  expect(driver.executions()).toEqual([])
})

test('only a part of the jobs that are defined together and due fire with their definitions, and all fire once', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const due = { schedule: { at: beginMs }, target: { handler: 'x' } }
  const first = driver.hold(owner, 'applies')
  driver.define('first', due)
  await driver.advance(20)
  expect(driver.executions()).toHaveLength(1)
  // While the first cycle is held, the others are read. Then one cycle has them all.
  for (let at = 0; at < 200; at++) driver.define(`j${at}`, due)
  await driver.advance(100)
  first()
  const second = driver.hold(owner, 'applies')
  await driver.advance(20)
  expect(driver.executions()).toHaveLength(1 + 64)
  second()
  await driver.advance(2_000, 500)
  expect(new Set(driver.executions().map(({ jobId }) => jobId)).size).toBe(1 + 200)
  expect(driver.executions()).toHaveLength(1 + 200)
})

test('a heavy job, and one that is due soon, do not fire in the commit cycle of their definitions', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const release = driver.hold(owner, 'applies')
  const soon = beginMs + driver.nowMs + 90
  driver.define('heavy', { schedule: { at: beginMs }, target: { handler: 'x' }, payload: Buffer.alloc(100_000) })
  driver.define('soon', { schedule: { at: soon }, target: { handler: 'x' } })
  await driver.advance(20)
  expect(driver.executions()).toEqual([])
  release()
  await driver.advance(2_000, 500)
  expect(
    driver
      .executions()
      .map(({ jobId }) => jobId)
      .sort(),
  ).toEqual(['heavy', 'soon'])
})
