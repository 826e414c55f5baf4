/**
 * A topic that this process keeps in memory for those who ask. The first question starts to read it, in a group of this process; after
 * that its end is followed. A question is answered when all earlier records have been read.
 */
import type { Clock } from '../clock/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { Batch, GroupReader, Log, LogAdmin, LogWriter, Position, RecordIn, RecordOut } from '../ports/index.ts'

export interface FollowedTopicOptions {
  log: Pick<Log, 'reader'>
  admin: Pick<LogAdmin, 'offsets'>
  topic: string
  groupId: string
  /** name@host:pid:boot of this process. */
  instance: string
  clock: Clock
  /** Limit of one wait for the end of the topic. */
  caughtUpMs: number
  /** What a caller is told after that time. */
  lateText: string
  /** Where reading begins. Default: at the first record. */
  startOf?(end: PartitionEnd, partitions: number): number
  /** Reading begins, the first time or again after a crash: what was taken before comes once more. */
  onBegin(): void
  /** Keeps the record in what the last `onBegin` made before the call, also if a later one comes while it waits. */
  onRecord(record: RecordIn): Promise<unknown>
}

export class FollowedTopic {
  readonly #options: FollowedTopicOptions
  readonly #positions: ReadPositions
  #opening: Promise<GroupReader> | undefined
  /** Readers that were made. Only the last one counts. */
  #readers = 0
  #stopped = false

  constructor(options: FollowedTopicOptions) {
    this.#options = options
    this.#positions = new ReadPositions(options.clock)
  }

  /** Resolves when everything is read that was written before the call. Rejects with `not-ready` while the topic cannot be read. */
  async readToEnd(): Promise<void> {
    const { admin, topic, caughtUpMs, lateText } = this.#options
    const ends = await admin.offsets(topic)
    this.#opening ??= this.#open(ends).catch((error) => {
      this.#opening = undefined
      throw error
    })
    await this.#opening
    if (!(await this.#positions.reached(ends, caughtUpMs))) throw new DuelogError('not-ready', lateText)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#opening?.then((reader) => reader.stop()).catch(() => undefined)
  }

  async #open(ends: readonly PartitionEnd[]): Promise<GroupReader> {
    const { log, topic, groupId, instance, onBegin, startOf = ({ earliest }) => earliest } = this.#options
    if (this.#stopped) throw new DuelogError('not-ready', 'This process is stopping.')
    onBegin()
    for (const end of ends) this.#positions.set(end.partition, startOf(end, ends.length))
    const number = ++this.#readers
    const isLast = (): boolean => number === this.#readers
    const reader = log.reader({
      ...{ groupId, topics: [topic], instance },
      onAssigned: () => ({ positions: this.#positions.of(topic) }),
      onBatch: (batch) => this.#take(batch, isLast),
      // Compaction may have removed the last records.
      onPassed: ({ partition, offset }) => {
        if (!isLast()) return
        this.#positions.advance(partition, offset)
        this.#positions.wake()
      },
      // The next question restarts.
      onCrash: () => {
        if (isLast()) this.#opening = undefined
      },
    })
    await reader.start()
    return reader
  }

  /** A reader may be lost while a record waits for the registry. The next reader reads everything again. */
  async #take({ partition, records }: Batch, isLast: () => boolean): Promise<void> {
    for (const record of records) {
      if (!isLast()) return
      if (this.#positions.isRead(record)) continue
      await this.#options.onRecord(record)
      if (!isLast()) return
      this.#positions.advance(partition, record.offset + 1)
    }
    this.#positions.wake()
  }
}

/** First offset of a partition that is kept, and the offset after its last record. */
export interface PartitionEnd {
  partition: number
  earliest: number
  next: number
}

/** How far a process has read the partitions of a topic, and waits until it has read up to a place. */
export class ReadPositions {
  readonly #clock: Pick<Clock, 'at' | 'nowMs'>
  /** Next offset to read of each partition. */
  readonly #next = new Map<number, number>()
  readonly #waiting = new Set<() => void>()

  constructor(clock: Pick<Clock, 'at' | 'nowMs'>) {
    this.#clock = clock
  }

  /** The next offset to read; undefined before `set`. */
  get(partition: number): number | undefined {
    return this.#next.get(partition)
  }

  /** The partition is read from this offset on, also if it was read further before. */
  set(partition: number, offset: number): void {
    this.#next.set(partition, offset)
  }

  /** Everything before this offset has been read. Waits notice it at the next `wake`. */
  advance(partition: number, offset: number): void {
    this.#next.set(partition, Math.max(offset, this.#next.get(partition) ?? 0))
  }

  isRead({ partition, offset }: { partition: number; offset: number }): boolean {
    return offset < (this.#next.get(partition) ?? 0)
  }

  of(topic: string): Position[] {
    return Array.from(this.#next, ([partition, offset]) => ({ topic, partition, offset }))
  }

  /** An empty partition has always been read. */
  hasReached(ends: readonly PartitionEnd[]): boolean {
    return ends.every(({ partition, earliest, next }) => next === earliest || (this.#next.get(partition) ?? 0) >= next)
  }

  /** Waits until all ends are reached. False: they were not within the limit. */
  reached(ends: readonly PartitionEnd[], limitMs: number): Promise<boolean> {
    if (this.hasReached(ends)) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (isReached: boolean): void => {
        cancelTimer()
        this.#waiting.delete(look)
        resolve(isReached)
      }
      const look = (): void => {
        if (this.hasReached(ends)) end(true)
      }
      const cancelTimer = this.#clock.at(this.#clock.nowMs() + limitMs, () => end(false))
      this.#waiting.add(look)
    })
  }

  wake(): void {
    for (const look of [...this.#waiting]) look()
  }
}

/** A writer that is opened at its first use, and again after a failed open. */
export class LazyWriter {
  readonly #log: Pick<Log, 'writer'>
  #writer: Promise<LogWriter> | undefined

  constructor(log: Pick<Log, 'writer'>) {
    this.#log = log
  }

  open(): Promise<LogWriter> {
    if (this.#writer !== undefined) return this.#writer
    const opening = this.#log.writer()
    this.#writer = opening
    opening.catch(() => {
      if (this.#writer === opening) this.#writer = undefined
    })
    return opening
  }

  async write(records: RecordOut[]): Promise<void> {
    await (await this.open()).write(records)
  }

  async close(): Promise<void> {
    await this.#writer?.then(
      (writer) => writer.close(),
      () => {},
    )
  }
}
