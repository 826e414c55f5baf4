/**
 * The topics of the drill itself: the topic that jobs write to, and that of the canary. They use the append time of the brokers,
 * by which records are judged.
 */
import { Kafka, logLevel } from 'kafkajs'
import { changeRequestQueues } from '../../../src/log/kafka/client/connection.ts'
import { canaryTopic, partitions, targetTopic } from '../system/duelog.ts'

export async function createDrillTopics(brokers: string[]): Promise<void> {
  changeRequestQueues()
  const admin = new Kafka({ brokers, clientId: 'chaos', logLevel: logLevel.NOTHING, retry: { retries: 20 } }).admin()
  await admin.connect()
  try {
    const configEntries = [{ name: 'message.timestamp.type', value: 'LogAppendTime' }]
    const topics = [targetTopic, canaryTopic].map((topic) => ({
      ...{ topic, numPartitions: partitions, replicationFactor: 3, configEntries },
    }))
    // Readers and writers wait for the leaders themselves.
    await admin.createTopics({ topics, waitForLeaders: false })
  } finally {
    await admin.disconnect()
  }
}
