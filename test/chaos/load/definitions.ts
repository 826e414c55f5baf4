/**
 * The jobs of a drill, and the log of what was defined: JSON lines, each written before its job is sent. The checker knows of the jobs
 * by that log alone.
 *
 * Job i of n is due at `first` + i/n of the interval, and each interval after: the load is even, and every occurrence can be computed
 * by hand. All occurrences run, however late (catchUp ALL): one that does not is lost.
 */
import { appendFile } from 'node:fs/promises'
import { Kafka, logLevel, type Message } from 'kafkajs'
import { type Client, createClient, type Job } from '../../../src/library/index.ts'
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
const rawChunkSize = 100

export interface Load {
  jobs: number
  everyMs: number
  first: number
}

/** A million intervals of a second may be missed before one is skipped. */
const catchUp = { catchUp: 'ALL', catchUpMax: 100_000, misfireThresholdMs: 86_400_000 } as const

/** A job, and its line in the log of definitions. */
export interface JobAndLine {
  job: Job
  line: object
}

export function jobAt(load: Load, index: number): JobAndLine {
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

/** A job that is due once. */
export function onceAt(id: string, at: number, target: Job['target'], more: Partial<Job> = {}): JobAndLine {
  const topic = 'topic' in target
  return { job: { id, schedule: { at }, target, ...more, ...catchUp }, line: { op: 'define', id, first: at, every: 0, topic } }
}

/** Where jobs are sent, and where it is written down. */
export interface LoadPlace {
  brokers: string[]
  registryUrl: string
  /** File of the definitions log. */
  log: string
  signal: AbortSignal
}

/**
 * Writes all jobs of a load; resolves when the last is durable. They fall due in the order in which they are written, so the first may fire
 * while the last are still to come. Rejects where one might have been due before it was there.
 */
export async function defineJobs(place: LoadPlace, load: Load): Promise<void> {
  const client = openClient(place)
  try {
    for (let from = 0; from < load.jobs; from += chunkSize) {
      const count = Math.min(chunkSize, load.jobs - from)
      await send(
        client,
        place,
        Array.from({ length: count }, (_, at) => jobAt(load, from + at)),
      )
      const dueAt = load.first + Math.floor((from * load.everyMs) / load.jobs)
      if (Date.now() > dueAt) throw new Error(`The jobs were sent too slowly: number ${from} was due before it was there.`)
    }
  } finally {
    await client.close()
  }
}

/** Writes these jobs; resolves when the last is durable. */
export async function sendJobs(place: LoadPlace, jobs: readonly JobAndLine[]): Promise<void> {
  const client = openClient(place)
  try {
    for (let from = 0; from < jobs.length; from += chunkSize) await send(client, place, jobs.slice(from, from + chunkSize))
  } finally {
    await client.close()
  }
}

const openClient = ({ brokers, registryUrl }: LoadPlace): Client =>
  createClient({ brokers, registryUrl, topicPrefix, clientId: 'chaos-load' })

async function send(client: Client, { log, signal }: LoadPlace, chunk: readonly JobAndLine[]): Promise<void> {
  signal.throwIfAborted()
  await appendFile(log, chunk.map(({ line }) => `${JSON.stringify(line)}\n`).join(''))
  const { rejected, rejections } = await client.scheduleMany(chunk.map(({ job }) => job))
  if (rejected > 0) throw new Error(`${rejected} jobs were refused: ${rejections[0]?.error.message}`)
}

/** Writes records as they are, which nobody defined. */
export async function writeRaw(
  { brokers }: LoadPlace,
  topic: string,
  records: readonly Pick<Message, 'key' | 'value'>[],
): Promise<void> {
  const producer = new Kafka({ brokers, clientId: 'chaos', logLevel: logLevel.NOTHING, retry: { retries: 20 } }).producer()
  await producer.connect()
  try {
    for (let from = 0; from < records.length; from += rawChunkSize)
      await producer.send({ topic, messages: records.slice(from, from + rawChunkSize) })
  } finally {
    await producer.disconnect()
  }
}
