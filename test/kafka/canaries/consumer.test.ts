import { randomUUID } from 'node:crypto'
import type { Consumer, ConsumerConfig } from 'kafkajs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeTopics, openLog } from '../harness.ts'
import { ended, message, rawKafka, rawProducer } from './raw.ts'

async function consumerOf(topic: string, config: Partial<ConsumerConfig> = {}): Promise<Consumer> {
  const consumer = ended(rawKafka().consumer({ groupId: `g-${randomUUID()}`, maxWaitTimeInMs: 50, ...config }))
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  return consumer
}

/** Runs the consumer until it has seen the value; resolves with all that it saw. */
async function seenUntil(consumer: Consumer, last: string): Promise<string[]> {
  const seen: string[] = []
  const done = Promise.withResolvers<void>()
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch }) => {
      for (const { value } of batch.messages) seen.push(value?.toString() ?? '')
      if (seen.includes(last)) done.resolve()
    },
  })
  await done.promise
  return seen
}

const seekAtJoin = (consumer: Consumer, topic: string, offset: string): void => {
  consumer.on(consumer.events.GROUP_JOIN, () => consumer.seek({ topic, partition: 0, offset }))
}

describe('a kafkajs consumer', () => {
  test('calls GROUP_JOIN listeners before the first fetch; seek and pause inside are in time', async () => {
    const { t } = await makeTopics(['t'], 2)
    const producer = await rawProducer({})
    await producer.send({ topic: t, messages: ['a', 'b', 'c'].map((value) => message(value)) })
    await producer.send({ topic: t, messages: [{ key: 'k', value: 'paused', partition: 1 }] })
    const consumer = await consumerOf(t)
    const order: string[] = []
    consumer.on(consumer.events.FETCH_START, () => void order.push('fetch'))
    consumer.on(consumer.events.GROUP_JOIN, () => {
      order.push('join')
      consumer.seek({ topic: t, partition: 0, offset: '2' })
      consumer.pause([{ topic: t, partitions: [1] }])
    })
    expect(await seenUntil(consumer, 'c')).toEqual(['c'])
    expect(order.slice(0, 2)).toEqual(['join', 'fetch'])
  })

  test('continues its heartbeats with every partition paused', async () => {
    const { t } = await makeTopics(['t'])
    const consumer = await consumerOf(t, { heartbeatInterval: 60 })
    let beats = 0
    const enough = Promise.withResolvers<void>()
    consumer.on(consumer.events.GROUP_JOIN, () => consumer.pause([{ topic: t }]))
    consumer.on(consumer.events.HEARTBEAT, () => void (++beats >= 3 && enough.resolve()))
    await consumer.run({ eachBatch: async () => {} })
    await enough.promise
  })

  test('reads the heartbeat interval each time, so an object with a changing value can shorten it', async () => {
    const { t } = await makeTopics(['t'])
    let interval = 500_000
    const heartbeatInterval = { valueOf: () => interval } as unknown as number
    const consumer = await consumerOf(t, { sessionTimeout: 600_000, heartbeatInterval })
    const beat = Promise.withResolvers<void>()
    consumer.on(consumer.events.HEARTBEAT, () => beat.resolve())
    await consumer.run({ eachBatch: async () => {} })
    interval = 0
    await beat.promise
  })

  test('never delivers a batch that has only control records, but moves past it', async () => {
    const { t } = await makeTopics(['t'])
    const transactional = await rawProducer({ transactionalId: t })
    const transaction = await transactional.transaction()
    await transaction.send({ topic: t, messages: [message('a')] })
    await transaction.commit()
    const consumer = await consumerOf(t)
    seekAtJoin(consumer, t, '1')
    const sizes: number[] = []
    const skipped = Promise.withResolvers<void>()
    consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => void (payload.batchSize === 0 && skipped.resolve()))
    await consumer.run({ autoCommit: false, eachBatch: async ({ batch }) => void sizes.push(batch.messages.length) })
    await skipped.promise
    expect(sizes).toEqual([])
  })

  test('shows aborted records when a fetch begins inside two interleaved aborted transactions', async () => {
    const { t } = await makeTopics(['t'])
    const [first, second] = await Promise.all(['a', 'b'].map((id) => rawProducer({ transactionalId: `${t}.${id}` })))
    const [a, b] = [await first?.transaction(), await second?.transaction()]
    for (const [transaction, value] of [
      [a, 'a0'],
      [b, 'b1'],
      [b, 'b2'],
      [a, 'a3'],
    ] as const)
      await transaction?.send({ topic: t, messages: [message(value)] })
    // The broker answers before it has written the marker that ends a transaction, and the order of the markers matters.
    const admin = await openLog().admin()
    onTestFinished(() => admin.close())
    for (const [transaction, endOffset] of [
      [a, 5],
      [b, 6],
    ] as const) {
      await transaction?.abort()
      await expect.poll(async () => (await admin.highWatermarks?.(t))?.get(0)).toBe(endOffset)
    }
    await (await rawProducer({})).send({ topic: t, messages: [message('end')] })
    const consumer = await consumerOf(t)
    seekAtJoin(consumer, t, '2')
    // b2 was aborted. Hence one transactional writer for each partition (design, I1).
    expect(await seenUntil(consumer, 'end')).toContain('b2')
  })

  test('mistakes a key of four zero bytes for the end of an aborted transaction', async () => {
    const { t } = await makeTopics(['t'])
    const producer = await rawProducer({ transactionalId: t })
    const transaction = await producer.transaction()
    await transaction.send({ topic: t, messages: [message('zeros', Buffer.alloc(4)), message('leaks')] })
    await transaction.abort()
    await (await rawProducer({})).send({ topic: t, messages: [message('end')] })
    expect(await seenUntil(await consumerOf(t), 'end')).toContain('leaks')
  })
})
