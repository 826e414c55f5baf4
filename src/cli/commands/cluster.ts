/** Connection of commands that use Kafka directly: the brokers and the registry of the environment, or the embedded ones of this machine. */
import { pino } from 'pino'
import { type ClusterOptions, signInsOf } from '../../cluster/index.ts'
import { readConfig } from '../../config/index.ts'
import type { Terminal } from '../terminal/index.ts'

/** Settings of every command that connects to Kafka. */
export const kafkaSettings = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'DUELOG_TOPIC_PREFIX'] as const

export function clusterIn(env: Terminal['env'], clientId: string): ClusterOptions {
  const config = readConfig(env)
  const { brokers, registryUrl, embeddedKafkaPort, embeddedRegistryPort, topicPrefix } = config
  return {
    brokers: brokers ?? [`127.0.0.1:${embeddedKafkaPort}`],
    registryUrl: registryUrl ?? `http://127.0.0.1:${embeddedRegistryPort}/apis/ccompat/v7`,
    topicPrefix,
    clientId,
    logger: pino({ level: 'silent' }),
    ...signInsOf(config),
  }
}
