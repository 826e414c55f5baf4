/** Starts the embedded broker and registry, unless the settings name others. */
import { setTimeout } from 'node:timers/promises'
import type { Config } from '../../ground/config/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import { areSchemasKnown, type KnownIds } from '../../log/kafka/index.ts'
import { type Embedded, startEmbedded } from '../embedded/index.ts'
import type { ProcessHealth } from './health.ts'
import type { RolePlan } from './role-child.ts'

/** If the schema ids are known, the registry starts when this process fires, or at the latest this long after the broker. */
const registryDueMs = 10_000
/** Without a call the registry ends after this time: longer than a program that is being tried, or a page that is read, asks nothing. */
const registryIdleMs = 60_000

export interface Own extends Embedded {
  /** Starts the registry now, if its start was deferred. */
  startRegistry(): void
}

interface OwnOptions {
  config: Config
  /** The cluster that the parent of this process has connected to. */
  plan?: Pick<RolePlan, 'cluster'> | undefined
  onProgress?: (message: string) => void
}

export async function startOwn(options: OwnOptions, logger: Logger, vitals: ProcessHealth, knownIds: KnownIds): Promise<Own> {
  const { config, plan } = options
  if (plan !== undefined) return { ...plan.cluster, registryUp: Promise.resolve(), startRegistry() {}, stop: async () => {} }
  const due = Promise.withResolvers<void>()
  const embedded = await startEmbedded({
    dataDir: config.dataDir,
    kafkaPort: config.embeddedKafkaPort,
    registryPort: config.embeddedRegistryPort,
    wantKafka: config.brokers === undefined,
    wantRegistry: config.registryUrl === undefined,
    ...((await areSchemasKnown(knownIds)) ? { registryDue: due.promise } : {}),
    registryIdleMs,
    partitionsDefault: config.partitions,
    logger,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    onExit: vitals.died,
  })
  if (config.apiTokens !== undefined) warnOfOpenDoors(config, logger)
  warnOfOwnRegistry(config, logger)
  void setTimeout(registryDueMs, undefined, { ref: false }).then(due.resolve)
  return { ...embedded, startRegistry: due.resolve }
}

/** Warns of a cluster of several machines with a registry that only this one reaches. Its schema ids mean nothing to others. */
export function warnOfOwnRegistry(
  { brokers, registryUrl, embeddedRegistryPort }: Pick<Config, 'brokers' | 'registryUrl' | 'embeddedRegistryPort'>,
  logger: Pick<Logger, 'warn'>,
): void {
  if (brokers === undefined || registryUrl !== undefined) return
  logger.warn(
    { event: 'registry-of-own', brokers: brokers.join(',') },
    `KAFKA_BROKERS is set and SCHEMA_REGISTRY_URL is not: the schemas of this cluster are in a registry of this process, on 127.0.0.1:${embeddedRegistryPort}, which other machines cannot reach. Set SCHEMA_REGISTRY_URL to the registry of the cluster, unless you only try it.`,
  )
}

/** Warns that tokens protect the HTTP API only: the embedded broker and registry have no authentication. Logs nothing if neither is started. */
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
    { event: 'tokens-bypassable' },
    `DUELOG_API_TOKENS protect the HTTP API only: every program on this machine can bypass them through ${doors.join(' and ')}, which require no password. If others use this machine, set KAFKA_BROKERS and SCHEMA_REGISTRY_URL to a broker and a registry that require one.`,
  )
}
