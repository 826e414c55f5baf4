/** A one-shot that is done, deleted after its retention, and scheduled again with the same id: two occurrences, and how they differ. */
import { expect, it } from 'vitest'
import { executionIdOf } from '../../streams/state/job.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

it('the runs of two lives of a job have identities of their own', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const define = (): number =>
    driver.define('invoice-7', {
      schedule: { at: driver.time.nowMs + 1_000 },
      target: { http: { url: 'https://pay.example/charge' } },
    })
  define()
  await driver.advance(1_200, 100)
  const [first] = driver.executions()
  if (first === undefined) throw new Error('Nothing was dispatched.')
  driver.report(first, 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.advance(3_700_000, 600_000)
  expect(driver.state(owner, 'invoice-7')).toBeUndefined()
  define()
  await driver.advance(1_200, 100)
  // A new owner gives it the same identity.
  const again = driver.executions().at(-1)
  if (again === undefined) throw new Error('Nothing was dispatched.')
  driver.kill(owner)
  driver.boot('B')
  await driver.settle()
  driver.report(again, 'FAILED', { startedAt: driver.time.nowMs, error: { type: 'Error', message: 'later', retryAfterMs: 0 } })
  await driver.advance(2_000, 100)
  const names = driver.executions().map((execution) => `${executionIdOf(execution)} ${execution.attempt}`)
  expect(names).toHaveLength(3)
  expect(names[0]).toMatch(/^invoice-7\/1@0-\w+ 1$/)
  expect(names[1]).toMatch(/^invoice-7\/1@2-\w+ 1$/)
  expect(names[2]).toBe(names[1]?.replace(/ 1$/, ' 2'))
})
