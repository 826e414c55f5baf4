/** Completion candidates that a running Duelog knows: ids and tags of jobs. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Job } from '../../answers/index.ts'
import { type CommandFrame, remotely } from '../remote/index.ts'
import type { AskedWord } from './candidates.ts'

/** How long a key press waits for the server. */
const askedMs = 1_000
const idsMax = 50
/** Jobs whose tags are offered. */
const taggedMax = 200

/**
 * Shells expand the words that they are offered: bash would run a command in a job id. So only words of harmless characters are offered.
 */
const harmless = /^[A-Za-z0-9._/:@+{}-]+$/

/** Words that begin with `typed`, sorted. Empty if the server does not answer in time. */
export async function wordsOfServer(frame: CommandFrame, asked: AskedWord, typed: string): Promise<string[]> {
  const found = new Set<string>()
  const look = remotely(frame, {}, async ({ api }) => {
    const query = asked === 'tag' ? { limit: String(taggedMax) } : { limit: String(idsMax), ...(typed && { idPrefix: typed }) }
    const { jobs } = await api.get<{ jobs: Job[] }>('/v1/jobs', query)
    for (const { id, definition } of jobs) for (const word of asked === 'id' ? [id] : (definition?.tags ?? [])) found.add(word)
  })
  // A shell shows nothing but words, so an error is no candidate.
  await Promise.race([look.catch(() => undefined), wait(askedMs, undefined, { ref: false })])
  return [...found].filter((word) => word.startsWith(typed) && harmless.test(word)).sort()
}
