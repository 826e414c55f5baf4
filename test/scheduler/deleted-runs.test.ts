/** Jobs that are deleted while their runs are active: the messages to their workers, and the run that gets the slot then. */
import { expect, it } from 'vitest'
import type { WorkerControl } from '../../schemas/generated.ts'
import { codecs, names } from '../model/world.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

it('a deleted job notifies the workers of its run, and frees the slot for the next', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const schedule = { at: driver.time.nowMs + 1_000 }
  for (const id of ['a', 'b']) driver.define(id, { schedule, target: { handler: 'x' }, concurrencyKey: 'crm' })
  await driver.advance(1_200, 100)
  const [running] = driver.executions()
  if (running === undefined) throw new Error('Nothing was dispatched.')
  driver.report(running, 'STARTED', { startedAt: driver.time.nowMs })
  await driver.settle()
  expect(driver.executions()).toHaveLength(1)
  driver.remove(running.jobId)
  await driver.settle()
  const { jobId, runNo, attempt, specOffset } = running
  const word = { type: 'CANCEL', jobId, runNo, attempt, specOffset, reason: 'deleted' }
  expect(control(driver)).toMatchObject([word])
  expect(driver.executions().map((execution) => execution.jobId)).toEqual([running.jobId, running.jobId === 'a' ? 'b' : 'a'])
  // Its worker does not know of the deletion yet: its success is ignored.
  driver.report(running, 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.settle()
  expect(driver.state(owner, running.jobId)).toBeUndefined()
})

const control = (driver: SchedulerDriver): WorkerControl[] =>
  driver.log
    .at(names.control, 0)
    .archive.flatMap(({ record }) => (record?.value ? [codecs.control.decode(record.value) as WorkerControl] : []))

// The first one fires with its definition. Those whose times take a search fire by the timer that the cycle has taken.
it.each([
  ['at', { at: beginMs + 60_000 }],
  ['cron', { cron: '* * * * *' }],
])('a job that is deleted and defined again for the same time, in the cycle of that time, runs (%s)', async (_, schedule) => {
  const driver = new SchedulerDriver()
  driver.boot('A')
  await driver.settle()
  const job = { schedule, target: { handler: 'x' } }
  driver.define('j', job)
  driver.define('other', { schedule: { at: beginMs + 58_000 }, target: { handler: 'x' } })
  await driver.advance(57_000, 500)
  // One commit takes until that time, so that all of it is in the next commit cycle.
  const gate = Promise.withResolvers<void>()
  driver.commitGate = gate.promise
  await driver.advance(2_000, 500)
  driver.remove('j')
  const offset = driver.define('j', job)
  await driver.advance(2_000, 500)
  driver.commitGate = undefined
  gate.resolve()
  await driver.advance(10_000, 500)
  expect(driver.executions().filter(({ jobId, specOffset }) => jobId === 'j' && specOffset === offset)).toHaveLength(1)
})
