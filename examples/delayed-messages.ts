/**
 * Delayed messages: Kafka records that appear in a topic of yours later, exactly once, and not before their time. The owner of
 * the job writes the record itself, so no worker is needed. Duelog must be allowed to write there:
 * DUELOG_TARGET_TOPICS='example.*'
 */
import { createClient } from 'duelog'
import { Kafka, logLevel } from 'kafkajs'
import { cluster } from './cluster.ts'

const topic = process.env.EXAMPLE_TOPIC ?? 'example.orders'
const kafka = new Kafka({ brokers: cluster.brokers.split(','), logLevel: logLevel.ERROR })

const admin = kafka.admin()
await admin.connect()
await admin.createTopics({ topics: [{ topic }] })

// Readers use read_committed, the default of kafkajs. This reader begins at the end of the topic.
const offsets = await admin.fetchTopicOffsets(topic)
await admin.disconnect()
const consumer = kafka.consumer({ groupId: `example-${process.pid}` })
await consumer.connect()
await consumer.subscribe({ topic, fromBeginning: true })
const all = Promise.withResolvers<void>()
let seen = 0
const delays = [500, 1_000, 1_500]
await consumer.run({
  eachMessage: async ({ message: { key, value, headers } }) => {
    const scheduledFor = Number(headers?.['duelog-scheduled-for'])
    console.log(`${key}: ${value} (${Date.now() < scheduledFor ? 'early' : 'on time'})`)
    if (++seen === delays.length) all.resolve()
  },
})
for (const { partition, high } of offsets) consumer.seek({ topic, partition, offset: high })

const client = createClient(cluster)
for (const delayMs of delays) {
  await client.schedule({
    id: `order-${delayMs}/expires`,
    schedule: { delayMs },
    target: { topic: { name: topic, key: `order-${delayMs}` } },
    payload: { event: 'payment-expired' },
  })
}
await all.promise
console.log(`messages: ${seen}`)
await client.close()
await consumer.disconnect()
