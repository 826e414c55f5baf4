/** Memory of an owner that takes over during a flood of records, with the log in memory. */
import { expect, test } from 'vitest'
import { replyHeaders } from '../../streams/jobs/receipt.ts'
import { names, repliesTopic } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

/** Records for four times the bytes of an input buffer (8 MiB). */
const large = Buffer.alloc(800_000, 'x')
const many = 40
/** ADR 0047: an input buffer, plus one fetch of each topic, plus the records that a commit cycle has taken. */
const mostBytes = 13 * 1024 * 1024

test('a topic that is opened while the input buffer is full waits for room, like those that were open before', async () => {
  const driver = new SchedulerDriver()
  // An answer takes a commit, so no later definition is applied before the partition has an owner.
  const headers = { [replyHeaders.topic]: repliesTopic, [replyHeaders.correlationId]: '1' }
  driver.log.append([{ topic: names.jobs, key: 'j', value: Buffer.from('garbage'), headers }])
  for (const topic of [names.jobs, names.commands, names.events])
    for (let record = 0; record < many; record++) driver.append(topic, 'j', large)
  const owner = driver.boot('A')
  const claim = driver.hold(owner, `asks for the offsets of ${names.commands}`)
  await driver.advance(1_000, 50)
  expect(driver.phases(owner)).toBe('claiming')
  const commit = driver.hold(owner, 'commits')
  claim()
  await driver.advance(9_000, 50)
  commit()
  await driver.advance(9_000, 50)
  expect(driver.phases(owner)).toBe('active')
  const [waiting] = driver.cluster.fullness.waiting
  expect(waiting?.bytes).toBeGreaterThan(8 * 1024 * 1024)
  expect(waiting?.bytes).toBeLessThan(mostBytes)
})
