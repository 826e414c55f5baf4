/** The real scheduler when expected records never arrive, with the log in memory. */
import { expect, it } from 'vitest'
import { retryBackstopMs } from '../../streams/state/timers.ts'
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
  await driver.advance(retryBackstopMs + 5_000, 5_000)
  expect(driver.state(second, 'etl')?.active).toMatchObject([{ status: 'DISPATCHED', attempt: 2 }])
  expect(driver.executions().map((execution) => execution.attempt)).toEqual([1, 2])
  // It arrives too late: the attempt is not made twice.
  driver.report({ ...attempt, attempt: 2 }, 'RETRY_DUE')
  await driver.settle()
  expect(driver.executions()).toHaveLength(2)
})
