/**
 * One partition of a foreign topic, while this member reads it. Its transactional id is the fence: a new reader first ends the
 * open transaction of an earlier one, and only then asks for the group's position. So each record is translated in exactly one
 * committed transaction.
 *
 *   claiming ──fenced and sought──► reading ──any error──► claiming …
 *       └──────────────── lost ────────┴──► ended
 */
import { slices } from '../../ground/concurrency/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { Batch, GroupReader, RecordIn, RecordOut, TransactionalWriter } from '../../ground/ports/index.ts'
import type { Dialect, IntakeOptions } from './options.ts'
import { translated } from './translation.ts'

/** Foreign records of one transaction, which holds back the readers of jobs while it is open. */
const recordsPerCommitMax = 500
/** Their bytes, except for a single record with more. */
const bytesPerCommitMax = 4 * 1024 * 1024
const againMs = 1_000

const valueBytes = ({ value }: RecordIn): number => value?.length ?? 0

export class SourceLane {
  readonly topic: string
  readonly partition: number
  readonly #dialect: Dialect
  readonly #options: IntakeOptions
  readonly #reader: GroupReader
  #writer: TransactionalWriter | undefined
  /** Next offset to translate; undefined during a claim. */
  #next: number | undefined
  #ended = false
  #problem: string | undefined
  #cancelWait = (): void => {}
  /** The work in progress, which the end waits for. */
  #work: Promise<void> = Promise.resolve()

  constructor(options: IntakeOptions, reader: GroupReader, dialect: Dialect, topic: string, partition: number) {
    this.#options = options
    this.#reader = reader
    this.#dialect = dialect
    this.topic = topic
    this.partition = partition
  }

  /** Where reading continues after a join of the group; undefined while it is paused for a claim. */
  get next(): number | undefined {
    return this.#next
  }

  /** Why nothing is taken, if retries alone do not help, for example because of a missing right; undefined otherwise. */
  get problem(): string | undefined {
    return this.#ended ? undefined : this.#problem
  }

  /** Takes the partition over. Never rejects: it retries until it is ended. */
  claim(): Promise<void> {
    return this.#then(() => this.#claim())
  }

  receive(batch: Batch): Promise<void> {
    const writer = this.#writer
    return this.#then(async () => {
      // A batch of an earlier claim: its records come again.
      if (writer === undefined || writer !== this.#writer) return
      try {
        await this.#translate(batch)
      } catch (error) {
        await this.#failed(error)
      }
    })
  }

  /**
   * The reader has passed all offsets before `next`. Invisible ones are done when the record before them is. They may expire
   * without a loss.
   */
  passed(next: number): Promise<void> {
    const writer = this.#writer
    return this.#then(async () => {
      if (this.#ended || writer === undefined || writer !== this.#writer || next <= (this.#next ?? next)) return
      try {
        await this.#commit(writer, [], next)
      } catch (error) {
        await this.#failed(error)
      }
    })
  }

  /** Ends reading and writing. */
  async end(): Promise<void> {
    this.#ended = true
    this.#cancelWait()
    await this.#then(() => this.#letGo())
  }

  #then(task: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(task)
    return this.#work
  }

  async #claim(): Promise<void> {
    const { log, names, prefix } = this.#options
    if (this.#ended) return
    try {
      // Only a current group member may fence, and it is connected by then: nothing is read between the fence and the first
      // record.
      const mayFence = async (): Promise<void> => {
        await this.#reader.nextHeartbeat()
        if (this.#ended) throw new DuelogError('not-ready', `${this.topic}/${this.partition} is read by others.`)
      }
      this.#writer = await log.transactionalWriter(`${prefix}intake-${this.topic}-${this.partition}`, { mayFence })
      const admin = await log.admin()
      try {
        const committed = await admin.committed(names.group('intake'), this.topic)
        const range = (await admin.offsets(this.topic)).find(({ partition }) => partition === this.partition)
        const offset = committed.find(({ partition }) => partition === this.partition)?.offset
        this.#next = this.#soundPosition(offset, range?.earliest ?? 0, range?.next ?? Number.POSITIVE_INFINITY)
      } finally {
        await admin.close()
      }
      if (this.#ended) return
      this.#problem = undefined
      this.#reader.seek({ topic: this.topic, partition: this.partition, offset: this.#next })
      this.#reader.resume([this])
    } catch (error) {
      await this.#failed(error)
    }
  }

  /** The group's position, or the beginning of the log if the position is not in it. */
  #soundPosition(offset: number | undefined, earliest: number, next: number): number {
    if (offset === undefined || (offset >= earliest && offset <= next)) return offset ?? earliest
    const { metrics, logger } = this.#options
    const { topic, partition } = this
    const reason = offset > next ? 'beyond-end' : 'expired'
    metrics.positionsReset.inc({ topic, reason })
    logger.error(
      { event: 'position-reset', topic, partition, offset, earliest, next, reason },
      `Position ${offset} lies outside of ${topic}/${partition}, which goes from ${earliest} to ${next}. It is read from its beginning.`,
    )
    return earliest
  }

  async #translate({ records, highWatermark, next = 0 }: Batch): Promise<void> {
    if (highWatermark < (this.#next ?? 0)) throw new Error(`${this.topic}/${this.partition} ends before what was read of it.`)
    const { names, targets } = this.#options
    const end = records.at(-1)?.offset
    const left = records.filter(({ offset }) => offset >= (this.#next ?? 0))
    for (const fresh of slices(left, recordsPerCommitMax, bytesPerCommitMax, valueBytes)) {
      const last = fresh.at(-1)
      if (this.#ended || this.#next === undefined || this.#writer === undefined || last === undefined) return
      const out: RecordOut[] = []
      for (const record of fresh) {
        const made = translated(this.#options, this.#dialect, record)
        if (made !== undefined) out.push(made)
      }
      try {
        // With the last record, the invisible offsets after it are done too.
        await this.#commit(this.#writer, out, last.offset === end ? Math.max(next, end + 1) : last.offset + 1)
      } catch (error) {
        const replies = new Set(out.map(({ topic }) => topic).filter((topic) => topic !== names.jobs))
        if (replies.size > 0) await targets.failed(replies, error)
        throw error
      }
    }
  }

  /** Writes records together with the group's position. */
  async #commit(writer: TransactionalWriter, out: RecordOut[], offset: number): Promise<void> {
    const positions = [{ topic: this.topic, partition: this.partition, offset }]
    await writer.commit(out, { groupId: this.#options.names.group('intake'), positions })
    this.#next = offset
  }

  /** The outcome of the work in progress is unknown. A new claim settles it. */
  async #failed(error: unknown): Promise<void> {
    // An ended lane leaves the reader alone: its successor may be reading already.
    if (!this.#ended) this.#reader.pause([this])
    await this.#letGo()
    if (this.#ended) return
    const { clock, logger } = this.#options
    const { topic, partition } = this
    const isPassing = !(error instanceof DuelogError) || error.retriable
    this.#problem = isPassing ? undefined : `Foreign schedules of ${topic}/${partition} cannot be taken: ${error.message}`
    logger.warn(
      { event: 'foreign-schedules-not-taken', topic, partition, err: error },
      'Foreign schedules could not be taken; they are taken again.',
    )
    this.#cancelWait = clock.at(clock.nowMs() + againMs, () => void this.claim())
  }

  async #letGo(): Promise<void> {
    const writer = this.#writer
    this.#writer = undefined
    this.#next = undefined
    await writer?.close().catch(() => undefined)
  }
}
