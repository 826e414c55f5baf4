/**
 * What owners tell this worker beside the executions topics: cancellations, and runs that are pinned to it. The topic is read whole, in a
 * group of this worker's own; nothing is committed. A worker that starts takes the cancellations that the topic still has, because what
 * they cancel may wait for it in a backlog, but only those pinned runs that are dispatched from now on.
 */
import type { Logger } from 'pino'
import type { Execution, WorkerControl } from '../../../schemas/index.ts'
import { validateJobId } from '../../../streams/definitions/index.ts'
import { sizeProblem } from '../../../streams/runs/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../clock/index.ts'
import { DuelogError, messageOf } from '../../errors/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import {
  type Batch,
  type Codec,
  decodeExecution,
  type GroupReader,
  type Log,
  type LogAdmin,
  type RecordIn,
} from '../../ports/index.ts'
import { type Cancellation, cancellationOf } from './cancellations.ts'

/** Until the registry is asked again for a schema, and until a lost session is begun anew. */
const againMs = 1_000

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
  /** A run of our pool that is pinned to this worker. The next records come when it has settled. */
  onRun(record: RecordIn, execution: Execution): void | Promise<void>
}

export class ControlConsumer {
  readonly #options: ControlConsumerOptions
  readonly #next = new Map<number, number>()
  /** Append time of the last record read of each partition, and from when on the runs of one that was made anew are for us. */
  readonly #readMs = new Map<number, number>()
  readonly #sinceMs = new Map<number, number>()
  readonly #earliest = new Map<number, number>()
  /** End of each partition at the start. */
  readonly #begin = new Map<number, number>()
  #admin: LogAdmin | undefined
  #reader: GroupReader | undefined
  #again: (() => void) | undefined
  #stopped = false
  readonly #caughtUp = Promise.withResolvers<void>()

  constructor(options: ControlConsumerOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { log, names } = this.#options
    this.#admin = await log.admin()
    for (const { partition, earliest, next } of await this.#admin.offsets(names.control)) {
      this.#next.set(partition, earliest)
      this.#earliest.set(partition, earliest)
      this.#begin.set(partition, next)
    }
    this.#lookBehind()
    await this.#join()
  }

  /**
   * Resolves when what stood in the topic at the start is read: only then is it known which runs of a backlog are cancelled. Where the end
   * is a transaction that was aborted nothing tells that it is reached; so nobody should wait for it without a limit.
   */
  caughtUp(): Promise<void> {
    return this.#caughtUp.promise
  }

  #lookBehind(): void {
    // Behind the last record stands the mark of its transaction, which no reader is given.
    const isRead = ([partition, end]: [number, number]): boolean => (this.#next.get(partition) ?? 0) >= end - 1
    const isEmpty = ([partition, end]: [number, number]): boolean => this.#earliest.get(partition) === end
    if ([...this.#begin].every((each) => isEmpty(each) || isRead(each))) this.#caughtUp.resolve()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#again?.()
    await this.#reader?.stop()
    await this.#admin?.close()
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
    const { clock, logger } = this.#options
    if (this.#stopped) return
    logger.error({ error: messageOf(error) }, 'the worker lost its session on worker-control, joining again')
    this.#again = clock.at(clock.nowMs() + againMs, () => {
      this.#join().catch((joinError: unknown) => this.#crashed(joinError))
    })
  }

  async #batch(batch: Batch): Promise<void> {
    const { partition, records } = batch
    if (batch.highWatermark < (this.#next.get(partition) ?? 0)) this.#beginAnew(batch)
    const cancels: Cancellation[] = []
    const runs: { record: RecordIn; execution: Execution }[] = []
    for (const record of records) {
      if (record.offset < (this.#next.get(partition) ?? 0)) continue
      const read = await this.#read(record)
      if (read?.control.type === 'CANCEL') cancels.push(cancellationOf(read.control, record.timestampMs))
      else if (read?.execution !== undefined) runs.push({ record, execution: read.execution })
    }
    if (this.#stopped) return
    // Cancellations first: they may be of runs in this very batch.
    if (cancels.length > 0) this.#options.onCancel(cancels)
    const mine = new Map<string, boolean>()
    for (const { record, execution } of runs) {
      const pinTo = execution.pinTo ?? ''
      if (!mine.has(pinTo)) mine.set(pinTo, await this.#isFirstOfItsName(pinTo))
      if (mine.get(pinTo)) await this.#options.onRun(record, execution)
    }
    const last = records.at(-1)
    this.#next.set(partition, (last?.offset ?? -1) + 1)
    if (last !== undefined) this.#readMs.set(partition, last.timestampMs)
    this.#lookBehind()
  }

  /** Without this its records would pass for read: cancellations and pinned runs would be lost until it is as long as it was. */
  #beginAnew({ topic, partition, highWatermark }: Batch): void {
    const next = this.#next.get(partition) ?? 0
    this.#options.metrics.positionsReset.inc({ topic, reason: 'beyond-end' })
    this.#options.logger.error(
      { topic, partition, offset: next, end: highWatermark },
      `${topic}/${partition} ends before what was read of it: it was truncated, or deleted and made anew. It is read from its beginning.`,
    )
    this.#next.set(partition, 0)
    this.#begin.set(partition, 0)
    // What was dispatched before this worker came may still stand there, where only a tail was lost.
    this.#sinceMs.set(partition, this.#readMs.get(partition) ?? 0)
  }

  /** Undefined for what concerns others, and for what cannot be decoded. */
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
        if (control.execution === null || !isNamed(control.instance, instance)) return undefined
        const execution = await decodeExecution(codecs.execution, control.execution)
        return execution.pool === pool ? { control, execution } : undefined
      } catch (error) {
        const place = { topic: record.topic, partition: record.partition, offset: record.offset, error: messageOf(error) }
        if (!(error instanceof DuelogError && error.code === 'registry-unavailable')) {
          logger.error(place, 'passed over a record of worker-control that cannot be decoded')
          metrics.invalid.inc({ reason: 'undecodable-control' })
          return undefined
        }
        logger.warn(place, 'could not ask the registry for the schema of a record of worker-control, trying again')
        await new Promise<void>((resolve) => clock.at(clock.nowMs() + againMs, resolve))
      }
    }
    return undefined
  }

  /** Of several workers of a pool with the name, or on the host, the first in the order of their instances takes the run. */
  async #isFirstOfItsName(pinTo: string): Promise<boolean> {
    const { names, pool, instance, logger } = this.#options
    try {
      const members = (await this.#admin?.groupMembers(names.group(`exec.${pool}`))) ?? []
      const peers = members.map((member) => member.instance).filter((peer) => isNamed(pinTo, peer))
      return !peers.includes(instance) || peers.sort()[0] === instance
    } catch (error) {
      // Two that run it are better than none: handlers run at least once.
      logger.warn({ error: messageOf(error) }, 'could not ask for other workers of the same name; a pinned run is taken here')
      return true
    }
  }
}

/** Whether a worker, name@host:pid:boot, is the one that is named: by its name or by its host. */
export function isNamed(pinTo: string | null, instance: string): boolean {
  const [name, place = ''] = instance.split('@')
  return pinTo !== null && pinTo !== '' && (pinTo === name || pinTo === place.split(':')[0])
}
