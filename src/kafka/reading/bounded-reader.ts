/**
 * Reads topics from their beginning, or from a time, up to their current ends. It leaves no group or commit behind.
 *
 * The last offsets of a partition may be only transaction markers, which are never delivered as records. kafkajs reports them all
 * the same (END_BATCH_PROCESS). If compaction has removed the last records, nothing arrives at all. So the end is also reached
 * when several rounds of fetches have brought nothing (quiet-end.ts).
 */
import { randomUUID } from 'node:crypto'
import type { Admin, Consumer, EachBatchHandler, Kafka } from 'kafkajs'
import { DuelogError } from '../../errors/index.ts'
import type { RecordIn, TopicPartition } from '../../ports/index.ts'
import type { LogSettings } from '../brokers/index.ts'
import { faultOf, withRetry } from '../errors/index.ts'
import { answeredOffset, withBoundedFetches, withLostCoordinators } from '../kafkajs/index.ts'
import { Pace } from './pace.ts'
import { QuietEnd } from './quiet-end.ts'
import { recordsOf } from './records.ts'
import { reportUnread } from './unreadable-records.ts'

export interface BoundedRead {
  /**
   * All must exist. Their ends are looked up in this order, so records that are written together are complete in the later ones.
   */
  topics: string[]
  /** Prefix of the temporary consumer groups, which are deleted at the end. */
  groupPrefix: string
  /** Epoch ms: from these topics only records from this time on. */
  from?: { ms: number; topics: ReadonlySet<string> } | undefined
  /** First offset of partitions, by `topic/partition`. Default: the first that the log has. */
  begin?: ReadonlyMap<string, number> | undefined
  /** In offset order for each partition; read committed. */
  onRecord(record: RecordIn): void | Promise<void>
  /** Called for each unreadable batch or record that is skipped, in addition to the log. Default: not called. */
  onUnread?(): void
  /** Offsets read so far, of the total. */
  onProgress(done: number, total: number): void
  /** Reads partitions in parallel by record time: none is further ahead of another than this, in ms. Default: no limit. */
  paceMs?: number
  /**
   * Called after a batch with the time up to which all partitions were read; infinity when all are at their ends. It must not
   * wait for anything.
   */
  onPassed?(watermark: number): void | Promise<void>
  signal: AbortSignal
}

/** The range of a partition that was read. */
export interface Span {
  topic: string
  partition: number
  earliest: number
  from: number
  /** Exclusive. */
  to: number
}

/** Rejects with DuelogError, with the signal's reason, or with an error of `onRecord`. */
export async function readToEnd(kafka: Kafka, settings: LogSettings, options: BoundedRead): Promise<Span[]> {
  const groupId = `${options.groupPrefix}${randomUUID()}`
  const admin = kafka.admin()
  let consumer: Consumer | undefined
  try {
    await admin.connect()
    const spans = await withRetry(() => spansOf(kafka, options))
    if (spans.every(({ from, to }) => from >= to)) return spans
    consumer = kafka.consumer({
      groupId,
      maxWaitTimeInMs: settings.fetchWaitMs,
      maxBytesPerPartition: settings.fetchPartitionBytes,
      maxBytes: settings.fetchBytes,
      readUncommitted: false,
      allowAutoTopicCreation: false,
      retry: { restartOnFailure: async () => false },
    })
    const onUnread = (): void => {
      settings.onUnread?.()
      options.onUnread?.()
    }
    await read({ kafka, consumer }, spans, { ...settings, onUnread }, options)
    return spans
  } catch (thrown) {
    options.signal.throwIfAborted()
    throw faultOf(thrown, 'Reading the log')
  } finally {
    await consumer?.disconnect().catch(() => {})
    await admin.deleteGroups([groupId]).catch(() => {})
    await admin.disconnect().catch(() => {})
  }
}

/**
 * Each with its own admin client: kafkajs would keep asking the leaders it knows until its metadata expires, even if they have
 * moved.
 */
async function spansOf(kafka: Kafka, options: Pick<BoundedRead, 'topics' | 'from' | 'begin'>): Promise<Span[]> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    return await lookUpSpans(admin, options)
  } finally {
    await admin.disconnect().catch(() => {})
  }
}

async function lookUpSpans(admin: Admin, { topics, from, begin }: Parameters<typeof spansOf>[1]): Promise<Span[]> {
  const spans: Span[] = []
  for (const topic of topics) {
    const begins = new Map<number, number>()
    if (from?.topics.has(topic)) {
      for (const { partition, offset } of await admin.fetchTopicOffsetsByTimestamp(topic, from.ms))
        begins.set(partition, Number(offset))
    }
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
      const earliest = answeredOffset(low, topic, partition)
      const to = answeredOffset(high, topic, partition)
      const first = begins.get(partition) ?? begin?.get(`${topic}/${partition}`) ?? earliest
      spans.push({ topic, partition, earliest, from: Math.max(earliest, first), to })
    }
  }
  return spans
}

/** Rejects if the log of one of these partitions is shorter than at the beginning of the read. */
async function checkEnds(kafka: Kafka, places: readonly string[], spans: ReadonlyMap<string, Span>): Promise<void> {
  const topics = new Set(places.flatMap((place) => spans.get(place)?.topic ?? []))
  const found = await spansOf(kafka, { topics: [...topics] })
  const ends = new Map(found.map((span) => [placeOf(span), span.to]))
  for (const place of places) {
    const [end, to] = [ends.get(place) ?? 0, spans.get(place)?.to ?? 0]
    if (end < to)
      throw new DuelogError(
        'broker-unavailable',
        `${place} ends at ${end} for its readers, and ended at ${to} when the read began. Its leader waits for the other brokers, or the log has lost its end. Try again when all brokers run.`,
      )
  }
}

const placeOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

async function read(
  { kafka, consumer }: { kafka: Kafka; consumer: Consumer },
  spans: readonly Span[],
  settings: LogSettings,
  options: BoundedRead,
): Promise<void> {
  const { topics, signal } = options
  const ended = Promise.withResolvers<void>()
  const ends = new Map(spans.map((span) => [placeOf(span), span]))
  const next = new Map(spans.map((span) => [placeOf(span), span.from]))
  const open = new Set(spans.filter(({ from, to }) => from < to).map(placeOf))
  const total = spans.reduce((sum, { from, to }) => sum + Math.max(0, to - from), 0)
  const pace = new Pace(consumer, spans, open, options.paceMs ?? Number.POSITIVE_INFINITY)
  // The others are only held back for them.
  const fetched = (): string[] => [...open].filter((place) => !pace.holds(place))
  const quiet = new QuietEnd({
    checkEnds: () => checkEnds(kafka, fetched(), ends),
    onEnd: () => {
      for (const place of fetched()) open.delete(place)
      if (open.size === 0) ended.resolve()
      else pace.adjust()
    },
    onLost: ended.reject,
  })
  let done = 0
  const passed = (place: string, offset: number): void => {
    const [span, before] = [ends.get(place), next.get(place) ?? 0]
    if (span === undefined || offset <= before) return
    const until = Math.min(offset, span.to)
    done += Math.max(0, until - Math.min(before, span.to))
    next.set(place, offset)
    quiet.progress()
    options.onProgress(done, total)
    if (offset < span.to || !open.delete(place)) return
    consumer.pause([{ topic: span.topic, partitions: [span.partition] }])
    if (open.size === 0) ended.resolve()
    else pace.adjust()
  }
  const { GROUP_JOIN, END_BATCH_PROCESS, FETCH_START, FETCH, CRASH } = consumer.events
  // Also after a rebalance: without a committed offset, a partition would be read from its beginning.
  consumer.on(GROUP_JOIN, () => {
    for (const [place, { topic, partition, from }] of ends) {
      consumer.seek({ topic, partition, offset: String(Math.max(from, next.get(place) ?? 0)) })
      if (!open.has(place)) consumer.pause([{ topic, partitions: [partition] }])
    }
    pace.forget()
  })
  consumer.on(END_BATCH_PROCESS, ({ payload }) => passed(placeOf(payload), Number(payload.lastOffset) + 1))
  consumer.on(FETCH_START, ({ payload: { nodeId } }) => quiet.asked(nodeId))
  consumer.on(FETCH, ({ payload: { nodeId } }) => quiet.answered(nodeId))
  consumer.on(CRASH, ({ payload: { error } }) => ended.reject(error))
  const onAbort = (): void => ended.reject(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await consumer.connect()
    await consumer.subscribe({ topics, fromBeginning: true })
    const eachBatch: EachBatchHandler = ({ batch }) => {
      const { topic, partition, messages } = batch
      const records = recordsOf(topic, partition, messages)
      if (records.length < messages.length) reportUnread(messages, batch, settings)
      const span = { from: next.get(placeOf(batch)) ?? 0, to: ends.get(placeOf(batch))?.to ?? 0 }
      return handOver(records, span, pace, options).catch(ended.reject)
    }
    // An audit right after the loss of a broker continues with the new leaders.
    const run = (): Promise<void> => consumer.run({ autoCommit: false, eachBatch })
    await withBoundedFetches(() => withLostCoordinators(run, (error) => quiet.failed(error)))
    await ended.promise
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

async function handOver(
  records: readonly RecordIn[],
  { from, to }: Pick<Span, 'from' | 'to'>,
  pace: Pace,
  { onRecord, onPassed }: BoundedRead,
): Promise<void> {
  for (const record of records) {
    // Records written after the lookup of the ends belong to the next read.
    if (record.offset >= from && record.offset < to) await onRecord(record)
  }
  const last = records.at(-1)
  if (last !== undefined) pace.reached(`${last.topic}/${last.partition}`, last.timestampMs)
  await onPassed?.(pace.watermark())
}
