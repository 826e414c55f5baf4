/**
 * Carries out operations in this process. The processes with the role `api` are a group over the topic `operations`, so that each
 * partition of it, and so each operation, has one driver, and another one goes on after a crash. Two at once, while a partition moves,
 * would do no harm: commands have the same commandIds.
 *
 *   joined ──► reading (from the beginning) ──► caught up: begins what has not ended ──► … ──► lost: leaves it
 */
import { keyPartitionOf } from '../../../streams/topics/index.ts'
import { RejoinTimer, Semaphore } from '../../ground/concurrency/index.ts'
import type { Batch, GroupReader, LogWriter, Operation, TopicPartition } from '../../ground/ports/index.ts'
import { hasEnded } from '../../ground/records/index.ts'
import { isKnown, OperationRecords, type RecordTools, tombstones } from './operation-records.ts'
import { OperationRun } from './operation-run.ts'
import type { OperationsOptions } from './options.ts'

/** Operations that one process carries out at once. Others wait. */
const runsAtOnce = 4
/** Of those, operations of one caller: another one's need not wait for all of them. */
const runsOfCallerAtOnce = 3
/** Pages of changes at once, of all operations of a process. */
const pagesAtOnce = 8
const rejoinFirstMs = 1_000
const rejoinMaxMs = 30_000
/** How often ended operations are looked through for those that are too old or too many. */
const sweepMs = 600_000

export class OperationDriver {
  readonly #options: OperationsOptions
  readonly #recordTools: RecordTools
  readonly #writer: LogWriter
  readonly #records: OperationRecords
  readonly #pages = new Semaphore(pagesAtOnce)
  readonly #rejoinTimer: RejoinTimer
  /** Next offset of each partition that this process has. */
  readonly #next = new Map<number, number>()
  /** Partitions whose records have all been read once. */
  readonly #caughtUp = new Set<number>()
  readonly #runs = new Map<string, { run: OperationRun; done: Promise<void>; actor: string | null }>()
  #generation = -1
  #reader: GroupReader | undefined
  #joining: Promise<void> | undefined
  #cancelSweep = (): void => undefined
  #stopped = false

  constructor(options: OperationsOptions, writer: LogWriter) {
    const { clock, codecs, names, partitions } = options
    this.#options = options
    this.#writer = writer
    this.#recordTools = { codec: codecs.operation, names, partitions }
    this.#records = new OperationRecords(this.#recordTools, ({ partition, offset }, problem) =>
      options.logger.warn(
        { event: 'operation-record-skipped', topic: names.operations, partition, offset },
        `A record on the topic of the operations is passed over: ${problem}.`,
      ),
    )
    this.#rejoinTimer = new RejoinTimer(clock, rejoinFirstMs, rejoinMaxMs)
  }

  /** Joins the group in the background: no start of a process waits for it, and a failed join is repeated. */
  start(): void {
    this.#joining = this.#join().catch((error: unknown) => this.#crashed(error))
    this.#sweepLater()
  }

  /** Leaves what has not ended to another process. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelSweep()
    this.#rejoinTimer.cancel()
    const running = [...this.#runs.values()]
    for (const { run } of running) run.leave()
    await this.#joining
    await this.#reader?.stop()
    await Promise.all(running.map(({ done }) => done))
  }

  async #join(): Promise<void> {
    const { log, names, instance } = this.#options
    this.#reader = log.reader({
      groupId: names.group('operations'),
      topics: [names.operations],
      instance,
      onAssigned: (assigned, generation) => this.#assigned(assigned, generation),
      onBatch: (batch) => this.#take(batch),
      onPassed: ({ partition, offset }) => {
        if (offset > (this.#next.get(partition) ?? offset)) this.#next.set(partition, offset)
      },
      onCrash: (error) => this.#crashed(error),
    })
    await this.#reader.start()
  }

  #assigned(assigned: TopicPartition[], generation: number) {
    const missed = generation !== this.#generation + 1
    this.#generation = generation
    this.#rejoinTimer.reset()
    const kept = new Set(assigned.map(({ partition }) => partition))
    this.#lose(new Set([...this.#next.keys()].filter((partition) => missed || !kept.has(partition))))
    for (const partition of kept) if (!this.#next.has(partition)) this.#next.set(partition, 0)
    const { names } = this.#options
    return { positions: Array.from(this.#next, ([partition, offset]) => ({ topic: names.operations, partition, offset })) }
  }

  /** Operations of these partitions are left to others, or begun again from the log. */
  #lose(partitions: ReadonlySet<number>): void {
    for (const partition of partitions) {
      this.#next.delete(partition)
      this.#caughtUp.delete(partition)
    }
    this.#records.forget(partitions)
    for (const [id, { run }] of this.#runs) {
      if (partitions.has(keyPartitionOf(id, this.#options.partitions))) run.leave()
    }
  }

  #crashed(error: unknown): void {
    this.#lose(new Set(this.#next.keys()))
    this.#generation = -1
    if (this.#stopped) return
    const { delayMs } = this.#rejoinTimer
    this.#options.logger.error(
      { event: 'operations-session-lost', err: error, delayMs },
      'The group of the operations was lost and is joined again.',
    )
    this.#rejoinTimer.start(
      () => {
        this.#joining = this.#join().catch((joinError: unknown) => this.#crashed(joinError))
        return this.#joining
      },
      () => {},
    )
  }

  async #take({ partition, records, highWatermark, next }: Batch): Promise<void> {
    for (const record of records) {
      if (record.offset < (this.#next.get(partition) ?? Number.POSITIVE_INFINITY)) continue
      const operation = await this.#records.take(record)
      // The partition may have been lost meanwhile.
      if (this.#stopped || !this.#next.has(partition)) return
      this.#next.set(partition, record.offset + 1)
      if (operation?.cancel !== undefined) this.#runs.get(operation.id)?.run.cancel()
    }
    const read = Math.max(next ?? 0, (records.at(-1)?.offset ?? -1) + 1)
    if (read >= highWatermark && this.#next.has(partition)) this.#caughtUp.add(partition)
    this.#beginRuns()
  }

  /** Begins the oldest operations that have not ended, as many as there is room for, and not only those of one caller. */
  #beginRuns(): void {
    if (this.#stopped) return
    const { partitions } = this.#options
    const open = this.#records.all().filter((operation) => !hasEnded(operation) && isKnown(operation))
    const mine = open.filter(({ id }) => this.#caughtUp.has(keyPartitionOf(id, partitions)) && !this.#runs.has(id))
    for (const operation of mine.sort((a, b) => a.createdAt - b.createdAt)) {
      if (this.#runs.size >= runsAtOnce) return
      const { actor } = operation.request
      const mine = [...this.#runs.values()].filter((running) => running.actor === actor).length
      if (mine >= runsOfCallerAtOnce) continue
      const run = new OperationRun(operation, { ...this.#options, writer: this.#writer, pages: this.#pages })
      const done = run.carryOut().then(() => this.#ended(run))
      this.#runs.set(operation.id, { run, done, actor })
    }
  }

  #ended(run: OperationRun): void {
    this.#runs.delete(run.id)
    // Its last record may not have been read yet; until then it is known as ended here.
    if (run.outcome !== undefined) this.#records.end(run.id, run.outcome)
    this.#beginRuns()
  }

  #sweepLater(): void {
    const { clock } = this.#options
    this.#cancelSweep = clock.at(clock.nowMs() + sweepMs, () => {
      void this.#sweep().catch((error: unknown) =>
        this.#options.logger.warn(
          { event: 'operations-not-deleted', err: error },
          'Old operations could not be deleted; they are deleted later.',
        ),
      )
      if (!this.#stopped) this.#sweepLater()
    })
  }

  /** Deletes ended operations that are too old or too many. */
  async #sweep(): Promise<void> {
    const { clock, limits } = this.#options
    const endedAt = ({ progress }: Operation): number => progress?.endedAt ?? 0
    const ended = this.#records
      .all()
      .filter(hasEnded)
      .sort((a, b) => endedAt(b) - endedAt(a))
    const oldest = clock.nowMs() - limits.operationsKeptMs
    const surplus = ended.filter((operation, index) => index >= limits.operationsKeptMax || endedAt(operation) < oldest)
    const records = surplus.flatMap(({ id }) => tombstones(this.#recordTools, id))
    if (records.length > 0) await this.#writer.write(records)
  }
}
