/**
 * Heavy runs that start in the same commit cycle as their cause: a new definition, a command's own payload, or the end of the
 * previous run.
 */
import { expect, it } from 'vitest'
import { recordBytes } from '../../streams/topics/log-records.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const payload = Buffer.alloc(500_000, 'x')
/** ADR 0035: a commit cycle writes 4 MiB. One run more than estimated is allowed. */
const most = 4 * 1024 * 1024 + payload.length

/** Bytes of each transaction. */
function weighed(driver: SchedulerDriver): number[] {
  const sizes: number[] = []
  const append = driver.log.append.bind(driver.log)
  driver.log.append = (records, transaction) => {
    if (transaction !== undefined) sizes.push(records.reduce((sum, record) => sum + recordBytes(record), 0))
    return append(records, transaction)
  }
  return sizes
}

it('the weight of triggers includes a new definition that is read with them', async () => {
  const driver = new SchedulerDriver()
  const sizes = weighed(driver)
  driver.boot('A')
  await driver.settle()
  const ids = ['one', 'two']
  for (const id of ids)
    driver.define(id, { schedule: { at: beginMs + 3_600_000 }, target: { handler: 'x' }, payload, maxConcurrentRuns: 20 })
  for (let time = 0; time < 16; time++) for (const id of ids) driver.command(id, { commandId: `${id}-${time}`, type: 'TRIGGER' })
  await driver.advance(2_000, 20)
  expect(driver.executions()).toHaveLength(32)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(most)
})

it('payloads of triggers count twice: they are given to a worker, and kept', async () => {
  const driver = new SchedulerDriver()
  const sizes = weighed(driver)
  driver.boot('A')
  await driver.settle()
  const shared = { schedule: { at: beginMs + 3_600_000 }, target: { handler: 'x' }, maxConcurrentRuns: 20 }
  driver.define('heavy', { ...shared, payload })
  driver.define('light', shared)
  await driver.settle()
  const brought = Buffer.alloc(100_000, 'y')
  for (let time = 0; time < 7; time++) driver.command('heavy', { commandId: `heavy-${time}`, type: 'TRIGGER' })
  for (let time = 0; time < 9; time++) driver.command('light', { commandId: `light-${time}`, type: 'TRIGGER', payload: brought })
  await driver.advance(2_000, 20)
  expect(driver.executions().filter((run) => run.payload?.length === brought.length)).toHaveLength(9)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(most)
})

it('the weight of a report includes the runs that wait for the end of its run', async () => {
  const driver = new SchedulerDriver()
  const sizes = weighed(driver)
  driver.boot('A')
  await driver.settle()
  const ids = Array.from({ length: 16 }, (_, index) => `job-${index}`)
  for (const id of ids)
    driver.define(id, {
      ...{ schedule: { everyMs: 5_000, anchor: 0 }, target: { handler: 'x' }, payload, overlap: 'QUEUE_ONE' },
      ...{ leaseMs: 60_000, attemptTimeoutMs: 60_000, startDeadlineMs: 60_000 },
    })
  await driver.advance(11_000, 100)
  const first = driver.executions()
  expect(first).toHaveLength(16)
  for (const run of first) driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.advance(2_000, 20)
  expect(driver.executions()).toHaveLength(32)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(most)
})
