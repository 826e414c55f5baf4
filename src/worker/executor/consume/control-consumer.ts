/**
 * Messages of owners to this worker besides the executions topics: cancellations, and runs pinned to this worker. The topic is
 * read completely, in a group of this worker's own, without commits. A worker that starts takes all cancellations still in the
 * topic, because the cancelled runs may be in its backlog. It takes only those pinned runs that are dispatched from then on.
 */
import type { Execution, WorkerControl } from '../../../../schemas/index.ts'
import { validateJobId } from '../../../../streams/definitions/index.ts'
import { sizeProblem } from '../../../../streams/runs/index.ts'
import type { TopicNames } from '../../../../streams/topics/index.ts'
import { type Clock, waitFor } from '../../../ground/clock/index.ts'
import { RejoinTimer, withTimeout } from '../../../ground/concurrency/index.ts'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Metrics } from '../../../ground/metrics/index.ts'
import type { Batch, Codec, GroupMember, GroupReader, Log, LogAdmin, RecordIn } from '../../../ground/ports/index.ts'
import { firstStarted, isNamed } from '../../../ground/process/index.ts'
import { decodeExecution } from '../../../ground/records/index.ts'
import { type Cancellation, cancellationOf } from './cancellations.ts'

/** Delay before the registry is asked again for a schema, and before a lost session is replaced. */
const againMs = 1_000
/** While the group of the pool shares its partitions, it may not show the names of its members. It is asked again, for at most this time. */
const joiningMsMax = 3_000
/** How long executions wait at the start until the earlier cancellations are read. */
const catchUpMsMax = 3_000
const joiningAgainMs = 100

export interface ControlConsumerOptions {
  log: Log
  codecs: { control: Codec<WorkerControl, never>; execution: Codec<Execution, never> }
  names: TopicNames
  pool: string
  instance: string
  clock: Clock
  metrics: Metrics
  logger: Logger
  onCancel(cancellations: Cancellation[]): void
  /** A run of our pool that is for this worker alone. The next records come when the returned promise has settled. */
  onRun(record: RecordIn, execution: Execution): void | Promise<void>
}

export class ControlConsumer {
  readonly #options: ControlConsumerOptions
  readonly #next = new Map<number, number>()
  /**
   * Append time of the last record read from each partition, and for a recreated topic the time from which on its runs are for
   * us.
   */
  readonly #readMs = new Map<number, number>()
  readonly #sinceMs = new Map<number, number>()
  readonly #earliest = new Map<number, number>()
  /** End of each partition at the start. */
  readonly #begin = new Map<number, number>()
  #admin: LogAdmin | undefined
  #reader: GroupReader | undefined
  readonly #rejoinTimer: RejoinTimer
  #stopped = false
  readonly #caughtUp = Promise.withResolvers<void>()

  constructor(options: ControlConsumerOptions) {
    this.#options = options
    this.#rejoinTimer = new RejoinTimer(options.clock, againMs)
  }

  async start(): Promise<void> {
    const { log, names } = this.#options
    this.#admin = await log.admin()
    for (const { partition, earliest, next } of await this.#admin.offsets(names.control)) {
      this.#next.set(partition, earliest)
      this.#earliest.set(partition, earliest)
      this.#begin.set(partition, next)
    }
    this.#settleCatchUp()
    await this.#join()
  }

  /**
   * Resolves when everything that was in the topic at the start is read: only then are the cancelled runs of a backlog known. If
   * the topic ends with an aborted transaction, nothing signals that the end is reached. So there is a time limit.
   */
  async caughtUp(): Promise<void> {
    await withTimeout(this.#options.clock, catchUpMsMax, this.#caughtUp.promise)
  }

  #settleCatchUp(): void {
    // After the last record comes the marker of its transaction, which is not delivered to readers.
    const isRead = ([partition, end]: [number, number]): boolean => (this.#next.get(partition) ?? 0) >= end - 1
    const isEmpty = ([partition, end]: [number, number]): boolean => this.#earliest.get(partition) === end
    if ([...this.#begin].every((each) => isEmpty(each) || isRead(each))) this.#caughtUp.resolve()
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#rejoinTimer.cancel()
    try {
      await this.#reader?.stop()
      await this.#admin?.close()
    } catch (error) {
      this.#options.logger.warn(
        { event: 'group-not-left', err: error },
        'The group of worker-control could not be left; it waits until the session ends.',
      )
    }
  }

  async #join(): Promise<void> {
    const { log, names, pool, instance } = this.#options
    if (this.#stopped) return
    this.#reader = log.reader({
      groupId: names.group(`control.${pool}.${instance}`),
      topics: [names.control],
      instance,
      onAssigned: () => ({
        positions: Array.from(this.#next, ([partition, offset]) => ({ topic: names.control, partition, offset })),
      }),
      onBatch: (batch) => this.#batch(batch),
      onCrash: (error) => this.#crashed(error),
    })
    await this.#reader.start()
  }

  #crashed(error: unknown): void {
    if (this.#stopped) return
    this.#options.logger.error(
      { event: 'control-session-lost', err: error },
      'The worker lost its session on worker-control and joins again.',
    )
    this.#rejoinTimer.start(
      () => this.#join(),
      (joinError) => this.#crashed(joinError),
    )
  }

  async #batch(batch: Batch): Promise<void> {
    const { partition, records } = batch
    if (batch.highWatermark < (this.#next.get(partition) ?? 0)) this.#startOver(batch)
    const cancels: Cancellation[] = []
    const runs: { record: RecordIn; execution: Execution }[] = []
    for (const record of records) {
      if (record.offset < (this.#next.get(partition) ?? 0)) continue
      const read = await this.#read(record)
      if (read?.control.type === 'CANCEL') cancels.push(cancellationOf(read.control, record.timestampMs))
      else if (read?.execution !== undefined) runs.push({ record, execution: read.execution })
    }
    if (this.#stopped) return
    // Cancellations first: they may concern runs in the same batch.
    if (cancels.length > 0) this.#options.onCancel(cancels)
    const mine = new Map<string, boolean>()
    for (const { record, execution } of runs) {
      const { pinTo } = execution
      // Without pinTo its owner has chosen this worker.
      if (pinTo !== null && !mine.has(pinTo)) mine.set(pinTo, await this.#isFirstOfItsName(pinTo))
      if (pinTo === null || mine.get(pinTo)) await this.#options.onRun(record, execution)
    }
    const last = records.at(-1)
    this.#next.set(partition, (last?.offset ?? -1) + 1)
    if (last !== undefined) this.#readMs.set(partition, last.timestampMs)
    this.#settleCatchUp()
  }

  /**
   * Without this, its records would count as read. Cancellations and pinned runs would be lost until it is as long as it was
   * before.
   */
  #startOver({ topic, partition, highWatermark }: Batch): void {
    const next = this.#next.get(partition) ?? 0
    this.#options.metrics.positionsReset.inc({ topic, reason: 'beyond-end' })
    this.#options.logger.error(
      { event: 'position-reset', topic, partition, offset: next, end: highWatermark },
      `${topic}/${partition} ends before what was read of it: it was truncated, or deleted and created again. It is read from its beginning.`,
    )
    this.#next.set(partition, 0)
    this.#begin.set(partition, 0)
    // If only the tail of the log was lost, it may still hold runs dispatched before this worker started.
    this.#sinceMs.set(partition, this.#readMs.get(partition) ?? 0)
  }

  /** Undefined for messages to others, and for those that cannot be decoded. */
  async #read(record: RecordIn): Promise<{ control: WorkerControl; execution: Execution | undefined } | undefined> {
    const { codecs, clock, logger, metrics, instance, pool } = this.#options
    while (!this.#stopped) {
      try {
        if (record.value === null) throw new DuelogError('undecodable', 'a record of worker-control without a value')
        const problem = sizeProblem(record.value)
        if (problem !== undefined) throw new DuelogError('undecodable', problem)
        const control = await codecs.control.decode(record.value)
        const badId = validateJobId(control.jobId)
        if (badId !== undefined) throw new DuelogError('undecodable', badId.message)
        if (control.type === 'CANCEL') return { control, execution: undefined }
        const { partition, offset, timestampMs } = record
        if (offset < (this.#begin.get(partition) ?? 0) || timestampMs < (this.#sinceMs.get(partition) ?? 0)) return undefined
        if (control.execution === null || !(control.instance === instance || isNamed(control.instance, instance)))
          return undefined
        const execution = await decodeExecution(codecs.execution, control.execution)
        // Without pinTo its owner has chosen one worker, whose name others may have.
        const isForUs = execution.pool === pool && (execution.pinTo !== null || control.instance === instance)
        return isForUs ? { control, execution } : undefined
      } catch (error) {
        const place = { topic: record.topic, partition: record.partition, offset: record.offset }
        if (!(error instanceof DuelogError && error.code === 'registry-unavailable')) {
          logger.error(
            { event: 'record-undecodable', ...place, problem: messageOf(error) },
            'A record of worker-control cannot be decoded and is skipped.',
          )
          metrics.invalid.inc({ reason: 'undecodable-control' })
          return undefined
        }
        logger.warn(
          { event: 'schema-not-given', ...place, err: error },
          'The registry did not give the schema of a record of worker-control; it is asked again.',
        )
        await waitFor(againMs, clock)
      }
    }
    return undefined
  }

  async #membersOfPool(): Promise<readonly GroupMember[]> {
    const { names, pool, clock } = this.#options
    const beganMs = clock.steadyMs()
    for (;;) {
      const members = (await this.#admin?.groupMembers(names.group(`exec.${pool}`))) ?? []
      const isKnown = !members.some(({ isJoining }) => isJoining)
      if (isKnown || this.#stopped || clock.steadyMs() - beganMs >= joiningMsMax) return members
      await waitFor(joiningAgainMs, clock)
    }
  }

  /**
   * If several workers of a pool have the name or the host, the one that has started first takes the run. So one that joins takes nothing
   * that another may have taken before it came.
   */
  async #isFirstOfItsName(pinTo: string): Promise<boolean> {
    const { instance, logger } = this.#options
    try {
      const members = await this.#membersOfPool()
      const peers = members.map((member) => member.instance).filter((peer) => isNamed(pinTo, peer))
      return peers.length === 0 || firstStarted(peers) === instance
    } catch (error) {
      // Two workers that run it are better than none: handlers run at least once.
      logger.warn(
        { event: 'workers-of-name-unknown', err: error },
        'Other workers of the same name could not be found; this worker takes the pinned run.',
      )
      return true
    }
  }
}
