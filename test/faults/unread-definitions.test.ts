/** Takeovers in which the end of the definitions is hard to find: nothing may be decided before every definition is known. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { Kafka, logLevel } from 'kafkajs'
import { expect, test } from 'vitest'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { topicPlans } from '../../streams/topics/topics.ts'
import { clean, type Occurrence } from '../tools/checker-audit.ts'
import { brokers, openSite, recurring, registryUrl } from './harness.ts'

test('an owner that waits long for definitions fires none of their jobs again, and no deleted job', async (context) => {
  const site = await openSite(context, { partitions: 1 })
  const from = Date.now() + 500
  const repeats = recurring('again', 5, from, 300, 40)
  const expected = await site.write(repeats)
  const first = await site.scheduler()
  await site.checker.until(() => site.checker.executions.length > 40)
  await first.stop()
  await rm(site.plan.folder, { recursive: true })
  // No owner runs, so the job is deleted before it can fire, even on a slow machine.
  const doomed = { id: 'doomed', schedule: { at: Date.now() + 2_000 }, target: { handler: 'noop' } }
  await site.write({ jobs: [doomed], expected: [], recurs: false })
  await site.client.delete('doomed')

  const second = await site.scheduler({ lateJobsMs: 4_000 })
  await site.checker.dispatched(expected)
  await second.stop()
  expect(await site.checker.audit(expected)).toEqual(clean)
})

test('definitions that a foreign client wrote in transactions are read to their end', async (context) => {
  const site = await openSite(context, { partitions: 1 })
  const codecs = await createCodecs({ registryUrl, plans: topicPlans(site.names, ['default']) })
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer({
    transactionalId: `${site.prefix}foreign`,
    idempotent: true,
    maxInFlightRequests: 1,
  })
  await producer.connect()
  context.onTestFinished(() => producer.disconnect())
  const at = Date.now() + 6_000
  const value = codecs.definition.encode({ schedule: { at }, target: { handler: 'noop' } })
  const expected: Occurrence[] = []
  for (const kept of [true, false, true, false, false]) {
    const transaction = await producer.transaction()
    const ids = Array.from({ length: 5 }, () => randomUUID())
    await transaction.send({ topic: site.names.jobs, messages: ids.map((key) => ({ key, value })) })
    if (kept) expected.push(...ids.map((jobId) => ({ jobId, scheduledFor: at })))
    await (kept ? transaction.commit() : transaction.abort())
  }
  for (let life = 0; life < 3; life++) {
    const owner = await site.scheduler()
    await owner.next('active')
    if (life === 2) await site.checker.dispatched(expected)
    await owner.stop()
    if (life === 0) await rm(site.plan.folder, { recursive: true })
  }
  expect(await site.checker.audit(expected)).toEqual(clean)
})
