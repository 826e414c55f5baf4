/** Joins the broker and registry of this process to its settings: as far as those name no others. */
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from './config/config.ts'
import type { Embedded } from './embedded/options.ts'
import { startEmbedded } from './embedded/start.ts'
import type { Vitals } from './health.ts'
import { areSchemasKnown, type KnownIds } from './kafka/codecs.ts'

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

export async function startOwn(options: OwnOptions, logger: Logger, vitals: Vitals, knownIds: KnownIds): Promise<Own> {
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
  void setTimeout(registryDueMs, undefined, { ref: false }).then(due.resolve)
  return { ...embedded, startRegistry: due.resolve }
}
