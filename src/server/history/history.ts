/**
 * The role history: reads the topic runs and writes its records to a database, each batch together with the positions of the topic.
 * Nobody waits for it. If the database or the log fails, reading pauses and continues later from the positions of the database.
 *
 *   opening (paused) ──positions read and sought──► reading ──any error──► waiting ──► opening …
 *
 * With SQLite each process has a file of its own and reads all partitions, in a group of its own. With PostgreSQL the processes share the
 * partitions in one group; two that write the same records for a moment write the same rows.
 */
import { trustedMs } from '../../ground/clock/index.ts'
import { RejoinTimer, slices } from '../../ground/concurrency/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { Batch, GroupReader, HistoryQueries, LogAdmin, TopicPartition } from '../../ground/ports/index.ts'
import { type HistoryStore, threadStore } from './databases/index.ts'
import { rowsOf } from './memory-history.ts'
import type { HistoryOptions } from './options.ts'

/** Records of one transaction, so that neither the thread of the database nor this one is busy for long. */
const recordsPerWriteMax = 500
const bytesPerWriteMax = 2 * 1024 * 1024
const againFirstMs = 1_000
const againMaxMs = 60_000
/** Interval of looks at the end of the topic and at old runs. */
const roundMs = 30_000
/** A run that ended later than this from now did not: it would be the newest for years, and no retention would remove it. */
const aheadMsMax = 86_400_000
/** Old runs that one transaction removes. */
const removedAtOnce = 1_000

export class History implements HistoryQueries {
  readonly #options: HistoryOptions
  readonly #store: HistoryStore
  readonly #again: RejoinTimer
  #reader: GroupReader | undefined
  #admin: LogAdmin | undefined
  #assigned: TopicPartition[] = []
  /** Next offset of each partition, once it is read from the database. */
  readonly #next = new Map<number, number>()
  /** Position of each partition in the database, as last read or written. */
  readonly #known = new Map<number, number>()
  /** Counts openings: what an earlier one began is dropped. */
  #opening = 0
  #isReading = false
  #problem: string | undefined
  #cancelRound = (): void => {}
  #work: Promise<unknown> = Promise.resolve()
  #stopped = false
  #stopping: Promise<void> | undefined

  constructor(options: HistoryOptions) {
    const { path, url, names, clusterId, clock } = options
    this.#options = options
    this.#store = threadStore(url === undefined ? { path } : { url }, { topic: names.runs, clusterId }, clock)
    this.#again = new RejoinTimer(clock, againFirstMs, againMaxMs)
  }

  /** Never rejects: what cannot be reached is tried again. */
  async start(): Promise<void> {
    this.#planRound()
    await this.#join().catch((error: unknown) => this.#failed(error))
  }

  /** Finishes the write in progress, if that takes no longer than 3 s, and leaves the group. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.#stopped = true
    this.#cancelRound()
    this.#again.cancel()
    // First, so that nothing waits for a database that hangs. Unwritten records are read again.
    await this.#store.close()
    await this.#reader?.stop()
    await this.#work.catch(() => undefined)
    await this.#admin?.close()
  }

  async page(...[filter, limit, before]: Parameters<HistoryQueries['page']>): ReturnType<HistoryQueries['page']> {
    const page = await this.#asked(() => this.#store.page(filter, limit, before))
    return this.#problem === undefined ? page : { ...page, problem: this.#problem }
  }

  counts(...[filter, bucketMs]: Parameters<HistoryQueries['counts']>): ReturnType<HistoryQueries['counts']> {
    return this.#asked(() => this.#store.counts(filter, bucketMs))
  }

  handlers(...[from, to]: Parameters<HistoryQueries['handlers']>): ReturnType<HistoryQueries['handlers']> {
    return this.#asked(() => this.#store.handlers(from, to))
  }

  async #asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof DuelogError && error.code === 'overloaded') throw error
      // The answer does not say more than callers may know.
      if (this.#problem === undefined)
        this.#options.logger.warn(
          { event: 'history-not-readable', err: error },
          'The database of the history could not be read; callers ask again.',
        )
      throw new DuelogError('not-ready', `The database of the history cannot be read. ${this.#shown(error)}`, { cause: error })
    }
  }

  /** Errors of PostgreSQL name its address and user, which callers need not know. */
  #shown(error: unknown): string {
    if (this.#options.url !== undefined && !(error instanceof DuelogError && error.code !== 'not-ready'))
      return `The log of ${this.#options.instance} says why.`
    return `${messageOf(error).replace(/[.]?$/, '.')}`
  }

  async #join(): Promise<void> {
    const { log, names, instance, userData, url } = this.#options
    if (this.#stopped) return
    this.#admin ??= await log.admin()
    const reader = log.reader({
      groupId: names.group(url === undefined ? `history.${instance}` : 'history'),
      topics: [names.runs],
      instance,
      userData,
      onAssigned: (assigned) => {
        this.#assigned = assigned
        void this.#open()
        return { paused: assigned }
      },
      onBatch: (batch) => this.#take(batch),
      onPassed: ({ partition, offset }) => void this.#next.set(partition, Math.max(offset, this.#next.get(partition) ?? 0)),
      onCrash: (error) => this.#crashed(error),
    })
    this.#reader = reader
    try {
      await reader.start()
    } catch (error) {
      this.#reader = undefined
      throw error
    }
  }

  /** Reads the positions of the assigned partitions, and begins to read there. */
  #open(): Promise<void> {
    const opening = ++this.#opening
    this.#isReading = false
    this.#again.cancel()
    const opened = this.#sought(opening).catch((error: unknown) => {
      if (opening === this.#opening) this.#failed(error)
    })
    this.#work = opened
    return opened
  }

  async #sought(opening: number): Promise<void> {
    const { names } = this.#options
    const positions = await this.#store.positions()
    const ends = new Map((await this.#admin?.offsets(names.runs))?.map((range) => [range.partition, range]))
    if (opening !== this.#opening || this.#stopped) return
    // Not before: while the database is away, the lag is that behind the positions known until then.
    this.#next.clear()
    this.#known.clear()
    for (const { topic, partition } of this.#assigned) {
      const { earliest, next } = ends.get(partition) ?? { earliest: 0, next: Number.POSITIVE_INFINITY }
      const offset = this.#soundPosition(partition, positions.get(partition), earliest, next)
      this.#next.set(partition, offset)
      // A position that is not in the topic holds for nothing.
      if (positions.get(partition) === offset) this.#known.set(partition, offset)
      this.#reader?.seek({ topic, partition, offset })
    }
    this.#isReading = true
    this.#reader?.resume(this.#assigned)
    // A full disk can be read, so a problem is over with the next write, or if there is nothing to write.
    if (this.#assigned.every(({ partition }) => (this.#next.get(partition) ?? 0) >= (ends.get(partition)?.next ?? 0)))
      this.#works()
  }

  #works(): void {
    this.#again.reset()
    if (this.#problem === undefined) return
    this.#problem = undefined
    this.#options.metrics.historyProblem.set(0)
    this.#options.logger.info({ event: 'history-written-again' }, 'Ended runs are written to the history again.')
  }

  /** The position, or the beginning of the topic if it is not in it. Rows that are there already stay. */
  #soundPosition(partition: number, position: number | undefined, earliest: number, next: number): number {
    if (position === undefined || (position >= earliest && position <= next)) return position ?? earliest
    const { metrics, logger, names } = this.#options
    const reason = position > next ? 'beyond-end' : 'expired'
    metrics.positionsReset.inc({ topic: names.runs, reason })
    logger.error(
      { event: 'position-reset', topic: names.runs, partition, offset: position, earliest, next, reason },
      `Position ${position} lies outside of ${names.runs}/${partition}, which goes from ${earliest} to ${next}. It is read from its beginning; the history lacks runs that expired before they were read.`,
    )
    return earliest
  }

  async #take(batch: Batch): Promise<void> {
    const opening = this.#opening
    const writing = this.#write(batch, opening)
    this.#work = writing
    try {
      await writing
    } catch (error) {
      if (opening === this.#opening) this.#failed(error)
    }
  }

  async #write({ partition, records, highWatermark }: Batch, opening: number): Promise<void> {
    const { metrics, names, logger, clock, retentionMs } = this.#options
    if (highWatermark < (this.#next.get(partition) ?? 0))
      throw new DuelogError('log-shrunk', `${names.runs}/${partition} ends before what was read of it.`)
    const nowMs = trustedMs(clock)
    const range = nowMs === undefined ? {} : { from: nowMs - retentionMs, to: nowMs + aheadMsMax }
    for (const some of slices(records, recordsPerWriteMax, bytesPerWriteMax, ({ value }) => value?.length ?? 0)) {
      const last = some.at(-1)
      const rows = await rowsOf(this.#options, some, range)
      if (this.#stopped || !this.#isReading || opening !== this.#opening || last === undefined) return
      const { stored, refused } = await this.#store.write(partition, last.offset + 1, rows, this.#known.get(partition))
      metrics.historyRuns.inc(stored)
      if (refused > 0) {
        metrics.invalid.inc({ reason: 'refused-run' }, refused)
        logger.error(
          { event: 'history-runs-refused', partition, refused },
          'The database refused ended runs. They are left out of the history.',
        )
      }
      this.#works()
      if (opening !== this.#opening) return
      this.#next.set(partition, last.offset + 1)
      this.#known.set(partition, last.offset + 1)
    }
  }

  #crashed(error: unknown): void {
    this.#reader = undefined
    this.#assigned = []
    this.#failed(error)
  }

  /** Pauses, and opens again after a while. The first failure of a row is logged. */
  #failed(error: unknown): void {
    if (this.#stopped) return
    const { logger, metrics } = this.#options
    this.#opening++
    this.#isReading = false
    this.#reader?.pause(this.#assigned)
    const { delayMs } = this.#again
    const line = { err: error, delayMs }
    const sentence = 'Ended runs cannot be written to the history. Nothing else waits for it, and it is tried again.'
    if (this.#problem === undefined) logger.error({ event: 'history-not-written', ...line }, sentence)
    else logger.debug({ event: 'history-still-not-written', ...line }, sentence)
    this.#problem = `Ended runs are not written to the history at present. ${this.#shown(error)}`
    metrics.historyProblem.set(1)
    this.#again.cancel()
    this.#again.start(
      () => (this.#reader === undefined ? this.#join() : this.#open()),
      (failure) => {
        this.#reader = undefined
        this.#failed(failure)
      },
    )
  }

  #planRound(): void {
    const { clock, logger } = this.#options
    this.#cancelRound = clock.at(clock.nowMs() + roundMs, () => {
      const looked = this.#look().catch((error: unknown) =>
        logger.debug({ event: 'history-sweep-failed', err: error }, 'The history could not look for old runs; it does so again.'),
      )
      void looked.then(() => {
        if (!this.#stopped) this.#planRound()
      })
    })
  }

  /** The lag, and what is older than the retention. A clock that is not trusted removes nothing. */
  async #look(): Promise<void> {
    const { names, metrics, clock, retentionMs } = this.#options
    const mine = new Set(this.#assigned.map(({ partition }) => partition))
    const ends = (await this.#admin?.offsets(names.runs)) ?? []
    const lags = ends
      .filter(({ partition }) => mine.has(partition))
      .map(({ partition, earliest, next }) => Math.max(0, next - (this.#next.get(partition) ?? earliest)))
    metrics.historyLag.set(lags.reduce((sum, lag) => sum + lag, 0))
    if (!this.#isReading) return
    const nowMs = trustedMs(clock)
    if (nowMs === undefined) return
    while (!this.#stopped && (await this.#store.removeOld(nowMs - retentionMs, removedAtOnce)) === removedAtOnce);
  }
}
