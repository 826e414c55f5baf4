/** A local store that cannot be written is the trouble of its partition, and of none of its jobs. */
import { expect, test } from 'vitest'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

test('while the disk is full no job becomes INVALID, and all go on when it is not', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 10_000 }, target: { handler: 'x' }, overlap: 'ALLOW', maxConcurrentRuns: 5 })
  await driver.advance(11_000, 1_000)
  const [run] = driver.executions()
  if (run === undefined) throw new Error('Nothing was dispatched.')
  // Only what an active owner writes fails: it comes back each time, and meets the same record.
  const { happens } = driver.cluster.chance
  driver.cluster.chance.happens = (share) => (share === 1 ? driver.phases(owner) === 'active' : happens(share))
  driver.cluster.storeFailures = 1
  driver.report({ ...run, attempt: 7 }, 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.advance(6_000, 500)
  driver.cluster.storeFailures = 0
  await driver.advance(15_000, 500)
  expect(driver.phases(owner)).toBe('active')
  expect(driver.state(owner, 'j')).toMatchObject({ status: 'ACTIVE', runNo: 3 })
})
