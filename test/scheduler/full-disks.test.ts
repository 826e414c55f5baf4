/** A local store that cannot be written: its partition fails, and none of its jobs becomes INVALID for it. */
import { expect, test } from 'vitest'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

test('while the disk is full no job becomes INVALID, and all continue afterwards', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 10_000 }, target: { handler: 'x' }, overlap: 'ALLOW', maxConcurrentRuns: 5 })
  await driver.advance(11_000, 1_000)
  const [run] = driver.executions()
  if (run === undefined) throw new Error('Nothing was dispatched.')
  // Only writes of an active owner fail: it reopens each time and meets the same record.
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

test.each(['get', 'scan'])(
  'while a disk cannot be read no job becomes INVALID and no report is passed over (%s)',
  async (what) => {
    const driver = new SchedulerDriver()
    const owner = driver.boot('A')
    await driver.settle()
    driver.define('j', { schedule: { everyMs: 60_000 }, target: { handler: 'x' }, overlap: 'ALLOW', maxConcurrentRuns: 5 })
    await driver.advance(61_000, 1_000)
    const [run] = driver.executions()
    if (run === undefined) throw new Error('Nothing was dispatched.')
    let failed = 0
    driver.cluster.readFails = (kind) => {
      const fails = kind === what && driver.phases(owner) === 'active'
      if (fails) failed++
      return fails
    }
    driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
    await driver.advance(20_000, 500)
    expect(failed).toBeGreaterThan(2)
    delete driver.cluster.readFails
    await driver.advance(45_000, 500)
    expect(driver.phases(owner)).toBe('active')
    expect(driver.state(owner, 'j')).toMatchObject({ status: 'ACTIVE', runNo: 2, succeeded: 1, reason: null })
  },
)
