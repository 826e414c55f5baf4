/** Codecs made from the schema ids in the data folder, so that a start does not wait for the registry. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../ground/logging/index.ts'
import type { Log } from '../../ground/ports/index.ts'
import { writePrivate } from '../../ground/process/index.ts'
import { type Codecs, type CodecsSeed, createCodecsEarly, type EarlyCodecsOptions, type KnownIds } from '../../log/kafka/index.ts'
import type { ProcessHealth } from './health.ts'

export interface CodecsHome {
  dataDir: string
  /** Cluster id of the brokers. Undefined: unknown. */
  clusterId: string | undefined
}

/**
 * If the ids turn out to belong to another registry, the process ends. The folder also holds the cluster and the registry of its ids: ids
 * from a folder that was used with another cluster must not be written into this one.
 */
export async function openCodecs(
  options: Omit<EarlyCodecsOptions, 'signal' | 'onAway' | 'onForeign' | 'onRefused' | 'isProven' | 'onProven'>,
  { dataDir, clusterId }: CodecsHome,
  logger: Logger,
  vitals: ProcessHealth,
  undo: (() => Promise<unknown>)[],
): Promise<Codecs & { seed: CodecsSeed }> {
  const checking = new AbortController()
  undo.push(async () => checking.abort())
  const path = join(dataDir, 'schema-ids.of')
  const home = `${clusterId} ${options.registryUrl}\n`
  return createCodecsEarly({
    ...options,
    isProven: clusterId !== undefined && (await readFile(path, 'utf8').catch(() => '')) === home,
    onProven: () =>
      writePrivate(path, home).catch((error) =>
        logger.warn(
          { event: 'schema-ids-not-kept', err: error },
          `${path} cannot be written. Each start waits for the registry.`,
        ),
      ),
    signal: checking.signal,
    onAway: (error) =>
      logger.warn(
        { event: 'registry-unreachable', err: error },
        'The schema registry cannot be reached. The known schema ids are used meanwhile.',
      ),
    onForeign: vitals.died,
    onRefused: (sentence) => logger.warn({ event: 'schema-refused' }, sentence),
  })
}

/** Schema ids and their fingerprints, stored in the data folder to detect a registry that lost its storage. Also the schemas of other writers. */
export function knownIdsIn(dataDir: string): KnownIds {
  const path = join(dataDir, 'schema-ids.json')
  const schemaPath = (id: number): string => join(dataDir, 'schemas', `${id}.json`)
  return {
    async read() {
      try {
        return JSON.parse(await readFile(path, 'utf8')) as Record<string, string>
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
        throw error
      }
    },
    write: (ids) => writePrivate(path, JSON.stringify(ids, null, 2)),
    // If a file is missing or truncated, the registry is asked for the schema.
    readSchema: (id) => readFile(schemaPath(id), 'utf8').catch(() => undefined),
    writeSchema: (id, schema) => writePrivate(schemaPath(id), schema).catch(() => undefined),
  }
}

/** Undefined if this process has no right to read it. */
export async function clusterIdOf(log: Pick<Log, 'admin'>): Promise<string | undefined> {
  try {
    const admin = await log.admin()
    return await admin.clusterId().finally(() => admin.close())
  } catch {
    return undefined
  }
}
