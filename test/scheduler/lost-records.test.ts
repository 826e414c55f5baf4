/** The real scheduler when expected records never arrive, with the log in memory. */
import { expect, it } from 'vitest'
import { retryGuardMs } from '../../streams/state/timers.ts'
import { names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const error = { type: 'Error', message: 'db away' }

it('a retry whose record in the delay topic was lost is dispatched, also after a takeover from an empty store', async () => {
  const driver = new SchedulerDriver()
  const first = driver.boot('A')
  await driver.settle()
  driver.define('etl', { schedule: { everyMs: 3_600_000 }, target: { handler: 'etl' }, overlap: 'SKIP' })
  await driver.advance(3_600_010, 1_800_000)
  const [attempt] = driver.executions()
  if (attempt === undefined) throw new Error('Nothing was dispatched.')
  driver.report(attempt, 'FAILED', { startedAt: driver.time.nowMs, error })
  await driver.settle()
  expect(driver.state(first, 'etl')?.active).toMatchObject([{ status: 'RETRY_WAIT', parked: false, attempt: 2 }])
  // No forwarder ever reports it.
  driver.kill(first)
  const second = driver.boot('B')
  await driver.settle()
  await driver.advance(retryGuardMs + 5_000, 5_000)
  expect(driver.state(second, 'etl')?.active).toMatchObject([{ status: 'DISPATCHED', attempt: 2 }])
  expect(driver.executions().map((execution) => execution.attempt)).toEqual([1, 2])
  // It arrives too late: the attempt is not made twice.
  driver.report({ ...attempt, attempt: 2 }, 'RETRY_DUE')
  await driver.settle()
  expect(driver.executions()).toHaveLength(2)
})

it('a partition that has failed, and cannot open again yet, reads nothing: it would drop what it fetches', async () => {
  const driver = new SchedulerDriver()
  const process = driver.boot('A')
  await driver.settle()
  const definition = { schedule: { everyMs: 1_000 }, target: { handler: 'x' }, overlap: 'ALLOW' as const }
  driver.define('a', definition)
  await driver.advance(500, 100)
  // Its commit hangs while its commands are lost.
  const { promise, resolve } = Promise.withResolvers<void>()
  driver.commitGate = promise
  for (let count = 0; count < 5; count++) driver.command('a', { type: 'RESUME', commandId: `c${count}` })
  await driver.advance(100)
  driver.log.recreate(driver.log.at(names.commands, 0))
  driver.cluster.group.moved(names.commands, 0)
  driver.command('a', { type: 'RESUME', commandId: 'after' })
  await driver.settle()
  for (const id of ['b', 'c', 'd']) driver.define(id, { ...definition, payload: Buffer.alloc(400_000) })
  await driver.settle()
  expect(driver.cluster.fullness.waiting.every(({ bytes }) => bytes < 400_000)).toBe(true)
  driver.commitGate = undefined
  resolve()
  await driver.advance(30_000, 500)
  expect(driver.phases(process)).toBe('active')
  expect(new Set(driver.executions().map(({ jobId }) => jobId))).toEqual(new Set(['a', 'b', 'c', 'd']))
})
