/** A job is deleted while its runs are at work: what its workers hear, and who has its slot then. */
import { expect, it } from 'vitest'
import type { WorkerControl } from '../../schemas/generated.ts'
import { codecs, names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

it('tells the workers of its run, and gives the slot to the next', async () => {
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
  // Its worker has not heard of it yet: that it succeeded nobody wants to know.
  driver.report(running, 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.settle()
  expect(driver.state(owner, running.jobId)).toBeUndefined()
})

const control = (driver: SchedulerDriver): WorkerControl[] =>
  driver.log
    .at(names.control, 0)
    .archive.flatMap(({ record }) => (record?.value ? [codecs.control.decode(record.value) as WorkerControl] : []))
