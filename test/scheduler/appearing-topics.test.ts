/** Jobs whose topic is missing go on as soon as it exists, however long they have waited, and after a takeover too. */
import { expect, it } from 'vitest'
import { names, ordersTopic } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const minute = 60_000
/** More than one commit cycle checks. */
const ids = Array.from({ length: 120 }, (_, index) => `job-${index}`)

it('all of them go on at once, and are checked no more than once for it', async () => {
  const driver = new SchedulerDriver()
  driver.cluster.ordersThere = false
  const first = driver.boot('A')
  await driver.settle()
  const target = { topic: { name: ordersTopic } }
  for (const id of ids) driver.define(id, { schedule: { everyMs: 3_600_000 }, target })
  // The next checks are minutes away.
  await driver.advance(4 * minute, minute)
  expect(driver.state(first, 'job-0')?.status).toBe('INVALID')
  driver.kill(first)
  const second = driver.boot('B')
  await driver.advance(10_000, 1_000)
  expect(driver.state(second, 'job-0')?.status).toBe('INVALID')
  // Otherwise this process would not know that it must look for the topic.
  expect(second.ordersAsked).toBeGreaterThanOrEqual(ids.length)

  const states = (): number => driver.log.allOf(names.state).reduce((sum, { log }) => sum + log.archive.length, 0)
  const before = states()
  driver.cluster.ordersThere = true
  void second.lookAtTopics(driver.cluster)
  await driver.advance(500, 100)
  expect(new Set(ids.map((id) => driver.state(second, id)?.status))).toEqual(new Set(['ACTIVE']))
  // One state for each job, and a few positions and markers of transactions.
  expect(states() - before).toBeLessThan(ids.length + 50)
})

it('runs of a topic that vanished go on at once when it is there again, log nothing meanwhile, and neither does a new owner', async () => {
  const driver = new SchedulerDriver()
  driver.cluster.ordersThere = true
  const first = driver.boot('A')
  await driver.settle()
  await first.lookAtTopics(driver.cluster)
  const target = { topic: { name: ordersTopic } }
  const at = driver.time.nowMs + 2 * minute
  for (const id of ids) driver.define(id, { schedule: { at }, target, startDeadlineMs: 24 * 60 * minute })
  await driver.advance(minute, minute)
  driver.cluster.ordersThere = false
  const looked = first.lookAtTopics(driver.cluster)
  await driver.settle()
  await looked
  await driver.advance(2 * minute, minute)
  expect(ids.map((id) => driver.state(first, id)?.active[0]?.status)).toEqual(ids.map(() => 'RETRY_WAIT'))
  const states = (): number =>
    driver.log
      .allOf(names.state)
      .reduce((sum, { log }) => sum + log.archive.filter(({ record }) => record?.key?.[0] === 0x53).length, 0)
  const before = states()
  await driver.advance(60 * minute, minute)
  driver.kill(first)
  const second = driver.boot('B')
  await driver.advance(60 * minute, minute)
  expect(states()).toBe(before)
  expect(second.ordersAsked).toBeGreaterThanOrEqual(ids.length)

  driver.cluster.ordersThere = true
  void second.lookAtTopics(driver.cluster)
  await driver.advance(1_000, 100)
  expect(new Set(ids.map((id) => driver.state(second, id)?.lastRun?.status))).toEqual(new Set(['SUCCEEDED']))
  expect(
    driver.log
      .allOf(ordersTopic)
      .reduce((sum, { log }) => sum + log.archive.filter(({ record }) => record?.key != null).length, 0),
  ).toBe(ids.length)
})
