/** Joins the broker and registry of this process to its settings: as far as those name no others. */
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config/index.ts'
import { type Embedded, startEmbedded } from '../embedded/index.ts'
import { areSchemasKnown, type KnownIds } from '../kafka/index.ts'
import type { ProcessHealth } from './health.ts'

/** A registry whose ids are known starts when this process fires, or at the latest so long after the broker. */
const registryDueMs = 10_000

export interface Own extends Embedded {
  /** Has the registry start now, where it waits. */
  startRegistry(): void
}

interface OwnOptions {
  config: Config
  onProgress?: (message: string) => void
}

export async function startOwn(options: OwnOptions, logger: Logger, vitals: ProcessHealth, knownIds: KnownIds): Promise<Own> {
  const { config } = options
  const due = Promise.withResolvers<void>()
  const embedded = await startEmbedded({
    dataDir: config.dataDir,
    kafkaPort: config.embeddedKafkaPort,
    registryPort: config.embeddedRegistryPort,
    wantKafka: config.brokers === undefined,
    wantRegistry: config.registryUrl === undefined,
    ...((await areSchemasKnown(knownIds)) ? { registryDue: due.promise } : {}),
    partitionsDefault: config.partitions,
    logger,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    onExit: vitals.died,
  })
  if (config.apiTokens !== undefined) warnOfOpenDoors(config, logger)
  void setTimeout(registryDueMs, undefined, { ref: false }).then(due.resolve)
  return { ...embedded, startRegistry: due.resolve }
}

/** Tokens guard the HTTP API; the embedded broker and registry ask nobody who he is. Says nothing where neither is started. */
export function warnOfOpenDoors(
  config: Pick<Config, 'brokers' | 'registryUrl' | 'embeddedKafkaPort' | 'embeddedRegistryPort'>,
  logger: Pick<Logger, 'warn'>,
): void {
  const doors = [
    ...(config.brokers === undefined ? [`the embedded broker on 127.0.0.1:${config.embeddedKafkaPort}`] : []),
    ...(config.registryUrl === undefined ? [`the embedded registry on 127.0.0.1:${config.embeddedRegistryPort}`] : []),
  ]
  if (doors.length === 0) return
  logger.warn(
    `DUELOG_API_TOKENS guard the HTTP API alone: every program on this machine can go around them by ${doors.join(' and ')}, which take no password. Where others use this machine, set KAFKA_BROKERS and SCHEMA_REGISTRY_URL to some that do.`,
  )
}
