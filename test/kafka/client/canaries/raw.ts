/** Plain kafkajs, without our code around it. When a canary fails after an upgrade, read ADR 0002 before changing the test. */
import {
  AssignerProtocol,
  type Consumer,
  Kafka,
  type KafkaConfig,
  logLevel,
  type PartitionAssigner,
  type Producer,
  type ProducerConfig,
} from 'kafkajs'
import { onTestFinished } from 'vitest'
import type { GroupProtocol } from '../../../../src/log/kafka/client/coordinator.ts'
import { type KafkaProxy, type ProxyOptions, startProxy } from '../../../tools/tcp-proxy.ts'
import { brokers } from '../../harness.ts'

export function rawKafka(config: Partial<KafkaConfig> = {}): Kafka {
  return new Kafka({ brokers, clientId: 'canary', logLevel: logLevel.NOTHING, ...config })
}

export async function proxied(options: Partial<ProxyOptions> = {}): Promise<KafkaProxy> {
  const proxy = await startProxy({ target: brokers[0] ?? '', ...options })
  onTestFinished(() => proxy.close())
  return proxy
}

/** A connected producer whose messages name their partition; it is disconnected after the test. */
export async function rawProducer(options: ProducerConfig, kafka = rawKafka()): Promise<Producer> {
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition ?? 0,
    ...options,
  })
  await producer.connect()
  onTestFinished(() => producer.disconnect())
  return producer
}

/** Ends a consumer after the test. */
export function ended(consumer: Consumer): Consumer {
  onTestFinished(() => consumer.disconnect())
  return consumer
}

export const message = (value: string, key: string | Buffer = 'k') => ({ key, value, partition: 0 })

/** A rule of ours for a consumer of kafkajs. */
export const assignerOf =
  ({ name, userData, assign }: GroupProtocol): PartitionAssigner =>
  ({ cluster }) => ({
    name,
    version: 1,
    protocol: ({ topics }) => ({
      name,
      metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: userData() }),
    }),
    assign: async ({ members, topics }) => {
      const counts = new Map(topics.map((topic) => [topic, cluster.findTopicPartitionMetadata(topic).length]))
      const known = members.map(({ memberId, memberMetadata }) => {
        const metadata = AssignerProtocol.MemberMetadata.decode(memberMetadata)
        return { memberId, topics: metadata?.topics ?? [], userData: metadata?.userData }
      })
      const shares = assign(known, counts)
      return members.map(({ memberId }) => ({
        memberId,
        memberAssignment: AssignerProtocol.MemberAssignment.encode({
          ...{ version: 1, assignment: shares.get(memberId) ?? {}, userData: Buffer.alloc(0) },
        }),
      }))
    },
  })
