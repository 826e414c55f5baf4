/** The records of ended runs on the topic `runs`, and the option that turns them off. */
import { expect, it } from 'vitest'
import type { EndedRun } from '../../schemas/generated.ts'
import { codecs, names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

/** The driver after one run of the job `j` has succeeded. */
async function withEndedRun(recordsRuns?: boolean): Promise<SchedulerDriver> {
  const driver = new SchedulerDriver(1, 'owners', recordsRuns === undefined ? {} : { recordsRuns })
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('j', { schedule: { at: driver.time.nowMs + 1_000 }, target: { handler: 'x' } })
  await driver.advance(1_200, 100)
  const [execution] = driver.executions()
  if (execution === undefined) throw new Error('Nothing was dispatched.')
  driver.report(execution, 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.settle()
  expect(driver.state(owner, 'j')?.succeeded).toBe(1)
  return driver
}

const entriesOf = (driver: SchedulerDriver, topic: string) =>
  driver.log.at(topic, 0).archive.filter(({ record }) => record !== undefined)

it('a record is in the transaction that ends the run, under the key of its job', async () => {
  const driver = await withEndedRun()
  const [entry, ...others] = entriesOf(driver, names.runs)
  expect(others).toEqual([])
  expect(entry?.record?.key?.toString()).toBe('j')
  const record = codecs.endedRun.decode(entry?.record?.value ?? Buffer.alloc(0)) as EndedRun
  expect(record).toMatchObject({ jobId: 'j', runNo: 1, outcome: 'SUCCEEDED', handler: 'x' })
  const last = entriesOf(driver, names.state).findLast(({ record: state }) => state?.key?.toString() === 'Sj')
  expect(entry?.transaction).toBe(last?.transaction)
})

it('without recordsRuns there is no record', async () => {
  expect(entriesOf(await withEndedRun(false), names.runs)).toEqual([])
})
