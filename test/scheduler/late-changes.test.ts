/** Changes of jobs whose runs were dispatched ahead of their time, as in a burst (ADR 0147). */
import { expect, it } from 'vitest'
import type { WorkerControl } from '../../schemas/generated.ts'
import { codecs, names } from '../model/world.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const dueAt = beginMs + 20_000
const target = { handler: 'x' }

/** A burst that is in the log, some hundred ms before it is due. */
async function dispatchedAhead() {
  const driver = new SchedulerDriver(1, 'owners', { leadMsMax: 120_000 })
  const owner = driver.boot('A')
  await driver.settle()
  for (let index = 0; index < 2_000; index++) driver.define(`herd-${index}`, { schedule: { at: dueAt }, target })
  await driver.advance(18_800, 100)
  await driver.advance(700, 20)
  const runs = driver.executions()
  expect(runs).toHaveLength(2_000)
  expect(runs.every((run) => beginMs + run.at < dueAt - 400)).toBe(true)
  return { driver, owner, specOffset: (id: string) => runs.find(({ jobId }) => jobId === id)?.specOffset }
}

const controls = (driver: SchedulerDriver): WorkerControl[] =>
  driver.log
    .at(names.control, 0)
    .archive.flatMap(({ record }) => (record?.value ? [codecs.control.decode(record.value) as WorkerControl] : []))

it('a cancelled or deleted job ends its run at once, and workers are told before it is due', async () => {
  const { driver, owner, specOffset } = await dispatchedAhead()
  driver.command('herd-1', { type: 'CANCEL', commandId: 'late' })
  driver.command('herd-2', { type: 'CANCEL_RUN', commandId: 'run', runNo: 1 })
  driver.remove('herd-3')
  await driver.advance(100, 10)
  const wordOf = (jobId: string, reason: string) => ({
    ...{ type: 'CANCEL', jobId, runNo: 1, attempt: 1, specOffset: specOffset(jobId), reason },
  })
  const told = controls(driver).toSorted((a, b) => a.jobId.localeCompare(b.jobId))
  expect(told).toMatchObject([wordOf('herd-1', 'command'), wordOf('herd-2', 'command'), wordOf('herd-3', 'deleted')])
  expect(driver.state(owner, 'herd-1')).toMatchObject({ active: [], lastRun: { status: 'CANCELLED' } })
  expect(driver.state(owner, 'herd-3')).toBeUndefined()
  await driver.advance(5_000, 500)
  expect(driver.executions()).toHaveLength(2_000)
})

it('a job that is edited or paused keeps the run that was dispatched, as it was; what comes later is new', async () => {
  const { driver, owner, specOffset } = await dispatchedAhead()
  const later = dueAt + 60_000
  const offset = driver.define('herd-1', { schedule: { at: later }, target, payload: Buffer.from('new') })
  driver.command('herd-2', { type: 'PAUSE', commandId: 'pause' })
  await driver.advance(100, 10)
  expect(controls(driver)).toEqual([])
  expect(driver.state(owner, 'herd-1')).toMatchObject({ active: [{ runNo: 1, dueAt, specOffset: specOffset('herd-1') }] })
  expect(driver.state(owner, 'herd-2')).toMatchObject({ active: [{ runNo: 1, dueAt }] })
  await driver.advance(62_000, 1_000)
  const again = driver.executions().filter(({ jobId }) => jobId === 'herd-1')
  expect(again.map(({ runNo, dueAt: due, specOffset: of }) => [runNo, due, of])).toEqual([
    [1, dueAt, specOffset('herd-1')],
    [2, later, offset],
  ])
})
