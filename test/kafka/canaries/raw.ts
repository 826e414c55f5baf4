/** Plain kafkajs, without our code around it. When a canary fails after an upgrade, read ADR 0002 before changing the test. */
import { type Consumer, Kafka, type KafkaConfig, logLevel, type Producer, type ProducerConfig } from 'kafkajs'
import { onTestFinished } from 'vitest'
import { type KafkaProxy, type ProxyOptions, startProxy } from '../../tools/tcp-proxy.ts'
import { brokers } from '../harness.ts'

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
