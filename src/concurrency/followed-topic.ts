/**
 * A topic that this process keeps in memory for those who ask. The first question starts to read it, in a group of this process; after
 * that its end is followed. A question is answered when all earlier records have been read.
 */
import type { Clock } from '../clock/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { Batch, GroupReader, Log, LogAdmin, RecordIn } from '../ports/index.ts'
import { type PartitionEnd, ReadPositions } from './read-positions.ts'

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
