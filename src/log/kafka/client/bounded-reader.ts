/** Reads topics from their beginning, or from a time, up to their current ends, as a member of no group. */
import type { Kafka } from 'kafkajs'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Batch, RecordIn, TopicPartition } from '../../../ground/ports/index.ts'
import { type Cluster, clusterOf, SharedCluster } from './cluster.ts'
import { faultOn, type LogSettings } from './connection.ts'
import { faultOf, withRetry } from './errors.ts'
import { Fetches, keyOf } from './fetches.ts'
import { offsetAt, offsetOfEnd, offsetsOf } from './offsets.ts'
import { reportUnread } from './record-batches.ts'

export interface BoundedRead {
  /**
   * All must exist. Their ends are looked up in this order, so records that are written together are complete in the later ones.
   */
  topics: string[]
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

/**
 * How long to wait for a lost broker and its partitions while nothing else arrives. Kafka needs about 10 s to name another leader.
 */
const lostMsMax = 60_000

/** Rejects with DuelogError, with the signal's reason, or with an error of `onRecord`. */
export async function readToEnd(kafka: Kafka, settings: LogSettings, options: BoundedRead): Promise<Span[]> {
  const lookups = new SharedCluster(kafka, 'committed')
  const cluster = clusterOf(kafka, 'committed')
  try {
    const spans = await withRetry(() => lookups.use((fresh) => spansOf(fresh, options)))
    if (spans.some(({ from, to }) => from < to)) {
      await cluster.connect()
      await cluster.addMultipleTargetTopics(options.topics)
      await new BoundedReader(cluster, spans, settings, options).read()
    }
    return spans
  } catch (thrown) {
    options.signal.throwIfAborted()
    throw faultOn(kafka, thrown, 'Reading the log')
  } finally {
    await Promise.all([lookups.close(), cluster.disconnect().catch(() => {})])
  }
}

async function spansOf(cluster: Cluster, { topics, from, begin }: BoundedRead): Promise<Span[]> {
  const spans: Span[] = []
  for (const topic of topics)
    for (const { partition, earliest, next: to } of (await offsetsOf(cluster, [topic])).get(topic) ?? []) {
      const place = `${topic}/${partition}`
      const ofTime = from?.topics.has(topic) ? ((await offsetAt(cluster, { topic, partition }, from.ms)) ?? to) : undefined
      const first = ofTime ?? begin?.get(place) ?? earliest
      spans.push({ topic, partition, earliest, from: Math.max(earliest, first), to })
    }
  return spans
}

/** A partition that is not at its end. */
interface Part {
  span: Span
  next: number
  /** Record time up to which it was read. */
  reachedMs: number
  /** It is paused, because it is ahead of the slowest one. */
  isHeld: boolean
}

class BoundedReader {
  readonly #options: BoundedRead
  readonly #fetches: Fetches
  readonly #parts: Map<string, Part>
  readonly #ended = Promise.withResolvers<void>()
  readonly #total: number
  #done = 0
  #handing: Promise<void> = Promise.resolve()
  /** Since when nothing has arrived, although the log is longer for its readers, or is not there. */
  #lostSinceMs: number | undefined

  constructor(cluster: Cluster, spans: readonly Span[], settings: LogSettings, options: BoundedRead) {
    this.#options = options
    const open = spans.filter(({ from, to }) => from < to)
    this.#parts = new Map(open.map((span) => [keyOf(span), { span, next: span.from, reachedMs: 0, isHeld: false }]))
    this.#total = open.reduce((sum, { from, to }) => sum + to - from, 0)
    this.#fetches = new Fetches({
      ...{ cluster, isolation: 'committed' },
      ...{ fetchBytes: settings.fetchBytes, fetchPartitionBytes: settings.fetchPartitionBytes },
      ...{ quietWaitMs: () => 0, isPatientWhilePaused: true },
      onAnswer: (place, end, isEmpty) => this.#answered(place, end, isEmpty),
      // One after the other: callers handle one record at a time.
      onBatch: (batch) => {
        this.#handing = this.#handing.then(() => this.#handOver(batch)).catch(this.#ended.reject)
        return this.#handing
      },
      onPassed: ({ offset, ...place }) => this.#passed(place, offset),
      onUnread: (unread, place) => {
        const tell = (): void => {
          settings.onUnread?.()
          options.onUnread?.()
        }
        reportUnread(unread, place, { logger: settings.logger, onUnread: tell })
      },
      onLost: (error) => this.#lost(error),
      // The log lost its beginning while it was read.
      onOutOfRange: (place) => offsetOfEnd(cluster, place, 'earliest'),
      onFault: this.#ended.reject,
    })
  }

  async read(): Promise<void> {
    const { signal } = this.#options
    const onAbort = (): void => this.#ended.reject(signal.reason)
    signal.throwIfAborted()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      this.#fetches.assign(
        [...this.#parts.values()].map(({ span: { topic, partition }, next }) => ({ topic, partition, next, isPaused: false })),
      )
      await this.#ended.promise
    } finally {
      signal.removeEventListener('abort', onAbort)
      await this.#fetches.stop()
    }
  }

  /**
   * If compaction has removed the last records, nothing arrives any more. An empty answer shows that, unless a new leader hides its
   * last records until a follower has them, or the log has lost its end: then it is shorter for its readers than it was.
   */
  #answered(place: TopicPartition, end: number, isEmpty: boolean): void {
    const part = this.#parts.get(keyOf(place))
    if (part === undefined || !isEmpty) return
    const { to } = part.span
    if (end >= to) return this.#passed(place, to)
    const reason = `${keyOf(place)} ends at ${end} for its readers, and ended at ${to} when the read began. Its leader waits for the other brokers, or the log has lost its end. Try again when all brokers run.`
    this.#lost(new DuelogError('broker-unavailable', reason))
  }

  #lost(error: unknown): void {
    this.#lostSinceMs ??= performance.now()
    if (performance.now() - this.#lostSinceMs >= lostMsMax) this.#ended.reject(faultOf(error, 'Reading the log'))
  }

  #passed(place: TopicPartition, offset: number): void {
    const part = this.#parts.get(keyOf(place))
    if (part === undefined || offset <= part.next) return
    const { to } = part.span
    this.#done += Math.min(offset, to) - Math.min(part.next, to)
    part.next = offset
    this.#lostSinceMs = undefined
    this.#options.onProgress(this.#done, this.#total)
    if (offset < to) return
    this.#parts.delete(keyOf(place))
    this.#fetches.pause([place], true)
    if (this.#parts.size === 0) this.#ended.resolve()
    else this.#pace()
  }

  async #handOver({ topic, partition, records }: Batch): Promise<void> {
    const part = this.#parts.get(keyOf({ topic, partition }))
    if (part === undefined) return
    for (const record of records) {
      // Records written after the lookup of the ends belong to the next read.
      if (record.offset >= part.next && record.offset < part.span.to) await this.#options.onRecord(record)
    }
    // A producer whose clock was set back writes earlier times later. The watermark never goes back.
    part.reachedMs = Math.max(part.reachedMs, records.at(-1)?.timestampMs ?? 0)
    this.#pace()
    await this.#options.onPassed?.(this.#watermark())
  }

  #watermark(): number {
    let least = Number.POSITIVE_INFINITY
    for (const { reachedMs } of this.#parts.values()) least = Math.min(least, reachedMs)
    return least
  }

  /** Pauses partitions that are ahead of the slowest one. */
  #pace(): void {
    const { paceMs } = this.#options
    if (paceMs === undefined) return
    const untilMs = this.#watermark() + paceMs
    for (const part of this.#parts.values()) {
      const isAhead = part.reachedMs > untilMs
      if (isAhead === part.isHeld) continue
      part.isHeld = isAhead
      this.#fetches.pause([part.span], isAhead)
    }
  }
}
