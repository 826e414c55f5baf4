/** The topic that jobs write to. The brokers' append time is what its records are judged by. */
import { Kafka, logLevel } from 'kafkajs'
import { partitions, targetTopic } from '../system/duelog.ts'

export async function createTargetTopic(brokers: string[]): Promise<void> {
  const admin = new Kafka({ brokers, clientId: 'chaos', logLevel: logLevel.NOTHING, retry: { retries: 20 } }).admin()
  await admin.connect()
  try {
    const configEntries = [{ name: 'message.timestamp.type', value: 'LogAppendTime' }]
    await admin.createTopics({
      topics: [{ topic: targetTopic, numPartitions: partitions, replicationFactor: 3, configEntries }],
      // Whoever reads it or writes to it waits for it.
      waitForLeaders: false,
    })
  } finally {
    await admin.disconnect()
  }
}
