/**
 * The tombstone of a completed job meets a job that was revived: by its own owner in the same commit cycle, or by an owner that
 * was suspended.
 */
import { expect, it } from 'vitest'
import type { Process } from '../model/cluster/process.ts'
import { names } from '../model/world.ts'
import { type Dispatched, SchedulerDriver } from '../tools/scheduler-driver.ts'

const retainCompletedMs = 600_000
const patient = { leaseMs: 3_600_000, attemptTimeoutMs: 86_400_000 }
const later = { retry: { backoff: { list: [1_000] } } }

it('a trigger in the cycle of the deletion keeps its run, and the definition survives compaction and an empty store', async () => {
  const { driver, owner, deleteAt } = await completed()
  await driver.advance(deleteAt - driver.time.nowMs - 5, 10_000)
  // The commit of a neighbor is in progress when the deletion falls due and the trigger is read.
  const { promise, resolve } = Promise.withResolvers<void>()
  driver.commitGate = promise
  driver.command('nobody', { type: 'PAUSE', commandId: 'x' })
  await driver.advance(2)
  driver.command('etl', { type: 'TRIGGER', commandId: 't1' })
  await driver.advance(8)
  driver.commitGate = undefined
  resolve()
  await driver.advance(50, 10)
  expect(tombstones(driver)).toBe(1)
  const second = runOf(driver, 2)
  expect(driver.state(owner, 'etl')).toMatchObject({ definitionKept: true, deleteAt: null, active: [{ runNo: 2 }] })
  driver.report(second, 'FAILED', { startedAt: driver.time.nowMs, error: { type: 'Error', message: 'db away' } })
  await driver.settle()

  // Compaction leaves only the tombstone, and the next owner has no store. The last record of a log is never compacted.
  driver.remove('nobody')
  await driver.settle()
  compact(driver)
  expect(driver.log.at(names.jobs, 0).entries.some(({ record }) => record?.value != null)).toBe(false)
  driver.kill(owner)
  const successor = driver.boot('B')
  await driver.settle()
  await driver.advance(90_000, 5_000)
  const again = driver.executions().find(({ runNo, attempt }) => runNo === 2 && attempt === 2)
  expect(again).toMatchObject({ handler: 'etl', payload: Buffer.from('p') })
  driver.report(again as Dispatched, 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.settle()
  expect(driver.state(successor, 'etl')).toMatchObject({ status: 'COMPLETED', succeeded: 2 })
  // It is deleted at its own time.
  await driver.advance(retainCompletedMs + 1_000, 60_000)
  expect(driver.state(successor, 'etl')).toBeUndefined()
})

it('an owner that was suspended deletes nothing that its successor has revived', async () => {
  const { driver, owner, deleteAt } = await completed()
  await driver.advance(retainCompletedMs / 2, 50_000)
  owner.machine.clock.stopped = true
  if (owner.member !== undefined) driver.cluster.group.leave(owner.member)
  const successor = driver.boot('B')
  await driver.settle()
  await driver.advance(1_000, 100)
  driver.command('etl', { type: 'TRIGGER', commandId: 't1' })
  await driver.advance(1_000, 100)
  driver.report(runOf(driver, 2), 'STARTED', { startedAt: driver.time.nowMs })
  await driver.settle()
  await driver.advance(deleteAt - driver.time.nowMs + 5_000, 60_000)
  // It wakes up and writes its pending records before a commit fails because it is fenced.
  owner.machine.clock.stopped = false
  await driver.advance(40_000, 500)
  expect(tombstones(driver)).toBe(1)
  expect(driver.state(successor, 'etl')?.active).toMatchObject([{ runNo: 2, status: 'RUNNING' }])
})

async function completed(): Promise<{ driver: SchedulerDriver; owner: Process; deleteAt: number }> {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const schedule = { at: driver.time.nowMs + 1_000 }
  driver.define('etl', {
    schedule,
    target: { handler: 'etl' },
    payload: Buffer.from('p'),
    retainCompletedMs,
    ...patient,
    ...later,
  })
  await driver.advance(1_200, 100)
  driver.report(runOf(driver, 1), 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.settle()
  return { driver, owner, deleteAt: driver.state(owner, 'etl')?.deleteAt ?? Number.NaN }
}

function runOf(driver: SchedulerDriver, runNo: number): Dispatched {
  const execution = driver.executions().find((candidate) => candidate.runNo === runNo)
  if (execution === undefined) throw new Error(`Run ${runNo} was not dispatched.`)
  return execution
}

const tombstones = (driver: SchedulerDriver): number =>
  driver.log.at(names.jobs, 0).archive.filter(({ record }) => record?.value === null).length

function compact(driver: SchedulerDriver): void {
  for (const topic of [names.jobs, names.state]) {
    const log = driver.log.at(topic, 0)
    driver.log.compact(log, log.next, Number.POSITIVE_INFINITY)
  }
}
