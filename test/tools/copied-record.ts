/** Writes a record a second time, as a broken owner would. */
import kafkajs from 'kafkajs'

/** Copies the first record of a topic of the test broker. */
export async function copyFirst(topic: string): Promise<void> {
  const brokers = (process.env.DUELOG_TEST_BROKERS ?? '').split(',')
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING })
  const consumer = kafka.consumer({ groupId: `${topic}-copy` })
  const producer = kafka.producer()
  try {
    await Promise.all([consumer.connect(), producer.connect()])
    await consumer.subscribe({ topic, fromBeginning: true })
    const read = Promise.withResolvers<{ partition: number; key: Buffer | null; value: Buffer | null }>()
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message: { key, value } }) => read.resolve({ partition, key, value }),
    })
    const { partition, key, value } = await read.promise
    await producer.send({ topic, messages: [{ partition, key, value }] })
  } finally {
    await Promise.all([consumer.disconnect(), producer.disconnect()])
  }
}
