/** Connection of commands that use Kafka directly: the brokers and the registry of the environment, or the embedded ones of this machine. */
import { pino } from 'pino'
import { readConfig } from '../../../ground/config/index.ts'
import type { ClusterOptions } from '../../../log/cluster/index.ts'
import type { Terminal } from '../terminal/index.ts'

/** Settings of every command that connects to Kafka. */
export const kafkaSettings = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'DUELOG_TOPIC_PREFIX'] as const

export async function clusterIn(env: Terminal['env'], clientId: string): Promise<ClusterOptions> {
  // Loaded on demand, so that commands that use only HTTP start sooner.
  const { signInsOf } = await import('../../../log/cluster/index.ts')
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
