/**
 * The jobs of a drill, and the log of what was defined: JSON lines, each written before its job is sent. The checker knows of the jobs
 * by that log alone.
 *
 * Job i of n is due at `first` + i/n of the interval, and each interval after: the load is even, and every occurrence can be computed
 * by hand. All occurrences run, however late (catchUp ALL): one that does not is lost.
 */
import { appendFile } from 'node:fs/promises'
import { createClient, type Job } from '../../../src/client-entry.ts'
import { targetTopic, topicPrefix } from '../system/duelog.ts'

/** Share of each kind of job, in 20. */
const kinds = [
  { name: 'topic', share: 6, target: { topic: { name: targetTopic } }, more: {} },
  { name: 'untracked', share: 3, target: { handler: 'chaos-tick' }, more: { trackRuns: false } },
  {
    name: 'flaky',
    share: 1,
    target: { handler: 'chaos-flaky' },
    more: { retry: { maxAttempts: 20, backoff: { list: [1_000] } } },
  },
  {
    name: 'tracked',
    share: 10,
    target: { handler: 'chaos-tick' },
    more: { retry: { maxAttempts: 20, backoff: { list: [1_000] } } },
  },
] as const
const kindByTwentieth = kinds.flatMap((kind) => new Array<(typeof kinds)[number]>(kind.share).fill(kind))

/** Which jobs are sent in one go. */
const chunkSize = 5_000

export interface Load {
  jobs: number
  everyMs: number
  first: number
}

/** A million intervals of a second may be missed before one is skipped. */
const catchUp = { catchUp: 'ALL', catchUpMax: 100_000, misfireThresholdMs: 86_400_000 } as const

export function jobAt(load: Load, index: number): { job: Job; line: object } {
  const kind = kindByTwentieth[index % 20] as (typeof kinds)[number]
  const first = load.first + Math.floor((index * load.everyMs) / load.jobs)
  const id = `${kind.name}-${index}`
  return {
    job: {
      id,
      schedule: { everyMs: load.everyMs, anchor: first },
      startAt: first,
      target: kind.target,
      payload: { index },
      ...kind.more,
      ...catchUp,
    } as Job,
    line: { op: 'define', id, first, every: load.everyMs, topic: kind.name === 'topic' },
  }
}

export interface DefineOptions {
  brokers: string[]
  registryUrl: string
  load: Load
  /** File of the definitions log. */
  log: string
  signal: AbortSignal
}

/** Writes all jobs; resolves when the last is durable. */
export async function defineJobs({ brokers, registryUrl, load, log, signal }: DefineOptions): Promise<void> {
  const client = createClient({ brokers, registryUrl, topicPrefix, clientId: 'chaos-load' })
  try {
    for (let from = 0; from < load.jobs; from += chunkSize) {
      signal.throwIfAborted()
      const count = Math.min(chunkSize, load.jobs - from)
      const chunk = Array.from({ length: count }, (_, at) => jobAt(load, from + at))
      await appendFile(log, chunk.map(({ line }) => `${JSON.stringify(line)}\n`).join(''))
      const { rejected, rejections } = await client.scheduleMany(chunk.map(({ job }) => job))
      if (rejected > 0) throw new Error(`${rejected} jobs were refused: ${rejections[0]?.error.message}`)
    }
  } finally {
    await client.close()
  }
}
