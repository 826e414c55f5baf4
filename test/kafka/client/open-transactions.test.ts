/** The end of a log for brokers, and for readers of committed records, while a client has an open transaction. */
import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { expect, onTestFinished, test } from 'vitest'
import { brokers, makeTopics, openLog } from '../harness.ts'

test('the high watermark counts records after an open transaction, the end for readers does not', async () => {
  const { orders } = await makeTopics(['orders'])
  const admin = await openLog().admin()
  onTestFinished(() => admin.close())
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING })
  const producer = kafka.producer({ transactionalId: randomUUID(), idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  onTestFinished(() => producer.disconnect())
  const first = await producer.transaction()
  await first.send({ topic: orders, messages: [{ value: 'a' }] })
  await first.commit()
  const second = await producer.transaction()
  await second.send({ topic: orders, messages: [{ value: 'b' }, { value: 'c' }] })
  expect(await admin.offsets(orders)).toEqual([{ partition: 0, earliest: 0, next: 2 }])
  expect(await admin.highWatermarks?.(orders)).toEqual(new Map([[0, 4]]))
  // Other lookups do not change, even at the same time.
  const both = await Promise.all([admin.highWatermarks?.(orders), admin.offsets(orders)])
  expect(both).toEqual([new Map([[0, 4]]), [{ partition: 0, earliest: 0, next: 2 }]])
  await second.abort()
})
