/** Codecs from the schema ids that stand in the data folder, so that a start need not wait for the registry. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Vitals } from './health.ts'
import { type Codecs, createCodecsEarly, type EarlyCodecsOptions, type KnownIds } from './kafka/codecs.ts'

/** A process whose ids turn out to be another registry's ends. */
export function openCodecs(
  options: Omit<EarlyCodecsOptions, 'signal' | 'onAway' | 'onForeign'>,
  logger: Logger,
  vitals: Vitals,
  undo: (() => Promise<unknown>)[],
): Promise<Codecs> {
  const checking = new AbortController()
  undo.push(async () => checking.abort())
  return createCodecsEarly({
    ...options,
    signal: checking.signal,
    onAway: (error) => logger.warn({ err: error }, 'The schema registry is away; the ids that are known are used meanwhile.'),
    onForeign: vitals.died,
  })
}

/** Schema ids and their fingerprints, kept beside the data so that a registry that lost its storage is found out. */
export function knownIdsIn(dataDir: string): KnownIds {
  const path = join(dataDir, 'schema-ids.json')
  return {
    async read() {
      try {
        return JSON.parse(await readFile(path, 'utf8')) as Record<string, string>
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
        throw error
      }
    },
    async write(ids) {
      await mkdir(dataDir, { recursive: true })
      await writeFile(`${path}.new`, JSON.stringify(ids, null, 2))
      await rename(`${path}.new`, path)
    },
  }
}
