/** From when on a worker counts as silent. */
import { expect, test } from 'vitest'
import { SchedulerDriver } from '../../tools/scheduler-driver.ts'

test('a report that an attempt has begun renews its lease, however long ago it began', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const retry = { maxAttempts: 2 }
  driver.define('j', { schedule: { at: driver.time.nowMs + 1_000 }, target: { handler: 'x' }, leaseMs: 10_000, retry })
  await driver.advance(2_000, 500)
  const [run] = driver.executions()
  if (run === undefined) throw new Error('Nothing was dispatched.')
  const startedAt = driver.time.nowMs
  // The brokers took 8 s to accept it.
  await driver.advance(8_000, 1_000)
  driver.report(run, 'STARTED', { startedAt, at: startedAt })
  await driver.advance(9_000, 1_000)
  expect(driver.state(owner, 'j')?.active).toMatchObject([{ attempt: 1, status: 'RUNNING', startedAt }])
  await driver.advance(3_000, 1_000)
  expect(driver.state(owner, 'j')?.active).toMatchObject([{ attempt: 2 }])
  expect(driver.executions()).toHaveLength(2)
})
