/**
 * The jobs of a drill, and the log of definitions: JSON lines, each written before its job is sent. This log is all that the
 * checker knows of the jobs.
 *
 * Job i of n is due at `first` + i/n of the interval, and each interval after. So the load is even, and every occurrence can be
 * computed by hand. All occurrences run, however late (catchUp ALL): an occurrence that does not run is lost.
 */
import { appendFile } from 'node:fs/promises'
import { Kafka, logLevel, type Message } from 'kafkajs'
import { createClient, type Job, type KafkaClient } from '../../../src/clients/library/index.ts'
import { targetTopic, topicPrefix } from '../system/duelog.ts'

/** The share of each kind of job, in 20. */
const kinds = [
  { name: 'topic', share: 6, target: { topic: { name: targetTopic } }, more: {} },
  {
    name: 'flaky',
    share: 1,
    target: { handler: 'chaos-flaky' },
    more: { retry: { maxAttempts: 20, backoff: { list: [1_000] } } },
  },
  {
    name: 'plain',
    share: 13,
    target: { handler: 'chaos-tick' },
    more: { retry: { maxAttempts: 20, backoff: { list: [1_000] } } },
  },
] as const
const kindByTwentieth = kinds.flatMap((kind) => new Array<(typeof kinds)[number]>(kind.share).fill(kind))

/** The number of jobs in one send. */
const chunkSize = 5_000
const rawChunkSize = 100

export interface Load {
  jobs: number
  everyMs: number
  first: number
}

/** A million intervals of a second may be missed before one is skipped. */
const catchUp = { catchUp: 'ALL', catchUpMax: 100_000, misfireThresholdMs: 86_400_000 } as const

/** A job and its line in the log of definitions. */
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
  // It runs however late it is; the fields of catchUp have no effect here.
  return { job: { id, schedule: { at }, target, ...more }, line: { op: 'define', id, first: at, every: 0, topic } }
}

/** The topic for the jobs and the file for their log. */
export interface LoadPlace {
  brokers: string[]
  registryUrl: string
  /** The file of the definitions log. */
  log: string
  signal: AbortSignal
}

/**
 * Writes all jobs of a load, and resolves when the last is durable. They become due in the order of writing, so the first may
 * fire before the last is written. Rejects if a job may have been due before it was written.
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

/** Writes these jobs, and resolves when the last is durable. */
export async function sendJobs(place: LoadPlace, jobs: readonly JobAndLine[]): Promise<void> {
  const client = openClient(place)
  try {
    for (let from = 0; from < jobs.length; from += chunkSize) await send(client, place, jobs.slice(from, from + chunkSize))
  } finally {
    await client.close()
  }
}

const openClient = ({ brokers, registryUrl }: LoadPlace): KafkaClient =>
  createClient({ brokers, registryUrl, topicPrefix, clientId: 'chaos-load' })

async function send(client: KafkaClient, { log, signal }: LoadPlace, chunk: readonly JobAndLine[]): Promise<void> {
  signal.throwIfAborted()
  await appendFile(log, chunk.map(({ line }) => `${JSON.stringify(line)}\n`).join(''))
  const { rejected, rejections } = await client.scheduleMany(chunk.map(({ job }) => job))
  if (rejected > 0) throw new Error(`${rejected} jobs were refused: ${rejections[0]?.error.message}`)
}

/** Writes raw records that are in no log of definitions. */
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
