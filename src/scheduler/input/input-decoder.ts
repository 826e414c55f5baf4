/**
 * Decoder from records to input records of a batch. A bad record becomes an input record that carries only its offset. It is counted
 * and logged with topic, partition and offset, and never stops a partition.
 */
import type { ExecutionEvent, JobCommand } from '../../../schemas/index.ts'
import { validateCommand, validateJobId } from '../../../streams/definitions/index.ts'
import { replyProblem, replyToOf } from '../../../streams/jobs/index.ts'
import { fittedReport } from '../../../streams/runs/index.ts'
import {
  type KnownDefinition,
  type OnlyOver,
  observedDeleteAtHeader,
  observedOffsetHeader,
  onlyOverOf,
} from '../../../streams/state/index.ts'
import { type Problem, quoted, traceContextOf } from '../../../streams/text/index.ts'
import { appendedAtHeader, appendedAtOf, markHeader, movedHeader, partitionOf } from '../../../streams/topics/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { Codec, RecordIn, TargetTopics } from '../../ground/ports/index.ts'
import { keptBytes, knownDefinition } from '../../ground/records/index.ts'
import type { Leases, WorkerWatch } from '../activity/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import type { InputRecord, Source } from './input-buffer.ts'
import { type Taken, wasTaken } from './log-positions.ts'

/** A larger record is not moved. With the overhead of a batch it might not fit, and the transaction would fail again and again. */
export const movedBytesMax = 900_000

/** A larger command or report is skipped. No client of ours writes one, and a compressed batch may hold anything. */
const inputBytesMax = 2 * 1024 * 1024

export interface InputDecoderOptions {
  partition: number
  partitions: number
  codecs: SchedulerCodecs
  leases: Leases
  workers: WorkerWatch
  /** Target topics of users. Undefined: none. */
  targets: TargetTopics | undefined
  /** Which commands were taken before (log-positions.ts). */
  taken: () => Taken
  clock: Clock
  metrics: Metrics
  logger: Logger
}

/** How long a definition waits until the topic that it names was looked up. All reading waits with it. */
const seekWaitMs = 250

export class InputDecoder {
  readonly #options: InputDecoderOptions

  constructor(options: InputDecoderOptions) {
    this.#options = options
  }

  /** Synchronous unless a schema has to be fetched. Throws or rejects only with `registry-unavailable`; then the caller may retry the record. */
  inputRecord(source: Source, record: RecordIn, nowMs: number): InputRecord | Promise<InputRecord> {
    const key = record.key
    const problem = key === null ? undefined : validateJobId(key)
    const inputRecord: InputRecord = {
      source,
      offset: record.offset,
      jobId: key === null || problem !== undefined ? '' : key.toString('utf8'),
      input: undefined,
      value: record.value,
      // Long values and headers are not copied: the whole batch stays in memory as long as one of its records waits.
      bytes: sizeOf(record) + 256,
      moved: undefined,
    }
    if (source !== 'events') inputRecord.replyTo = this.#replyTo(record)
    if (record.value === null && record.headers[markHeader] !== undefined) return inputRecord
    if (key === null) return this.#bad(inputRecord, record, 'no-key', 'The record has no key; the key must be the job id.')
    if (problem !== undefined) return this.#bad(inputRecord, record, 'bad-job-id', problem.message)
    const to = partitionOf(key, this.#options.partitions)
    if (to !== this.#options.partition) return this.#misrouted(inputRecord, record, key, to)
    if (source === 'jobs') return this.#definition(inputRecord, record)
    const size = sizeOf(record)
    if (size <= inputBytesMax) return this.#commandOrEvent(inputRecord, record, nowMs)
    inputRecord.value = null
    return this.#bad(inputRecord, record, 'too-large', `The record has ${size} bytes with its headers; at most ${inputBytesMax}.`)
  }

  /** A request for more than a receipt can hold gets no receipt. */
  #replyTo({ topic, partition, offset, headers }: RecordIn): InputRecord['replyTo'] {
    const problem = replyProblem(headers)
    if (problem === undefined) return replyToOf(headers)
    this.#options.metrics.receiptsDropped.inc()
    this.#options.logger.warn(
      { event: 'receipt-not-sent', topic, partition, offset },
      `A requested receipt cannot be sent: ${problem}`,
    )
    return undefined
  }

  #commandOrEvent(inputRecord: InputRecord, record: RecordIn, nowMs: number): InputRecord | Promise<InputRecord> {
    const refused = (error: unknown): InputRecord => {
      if (error instanceof DuelogError && error.code === 'registry-unavailable') throw error
      return this.#bad(inputRecord, record, 'undecodable', messageOf(error))
    }
    try {
      const taken =
        inputRecord.source === 'commands' ? this.#command(inputRecord, record) : this.#event(inputRecord, record, nowMs)
      return taken instanceof Promise ? taken.catch(refused) : taken
    } catch (error) {
      return refused(error)
    }
  }

  #definition(inputRecord: InputRecord, record: RecordIn): InputRecord | Promise<InputRecord> {
    const onlyOver = onlyOverOf(record.headers)
    if (record.value === null) {
      const observed = record.headers[observedOffsetHeader]
      inputRecord.input = { kind: 'deletion', offset: record.offset }
      if (observed !== undefined) inputRecord.input.observedOffset = Number(observed.toString())
      const observedDeleteAt = record.headers[observedDeleteAtHeader]
      if (observedDeleteAt !== undefined) inputRecord.input.observedDeleteAt = Number(observedDeleteAt.toString())
      if (onlyOver !== undefined) inputRecord.input.onlyOver = onlyOver
      return inputRecord
    }
    const place = { offset: record.offset, appendedAt: appendedAtOf(record), bytes: keptBytes(record.value) }
    inputRecord.value = place.bytes
    const definition = knownDefinition(this.#options.codecs, place)
    if (definition instanceof Promise) return definition.then((known) => this.#withDefinition(inputRecord, known, onlyOver))
    return this.#withDefinition(inputRecord, definition, onlyOver)
  }

  /** A topic or pool may have been created a moment ago for this job, so a missing one is looked up. If it is still missing, the job becomes INVALID. */
  #withDefinition(
    inputRecord: InputRecord,
    definition: KnownDefinition,
    onlyOver: OnlyOver | undefined,
  ): InputRecord | Promise<InputRecord> {
    inputRecord.input = onlyOver === undefined ? { kind: 'definition', definition } : { kind: 'definition', definition, onlyOver }
    const { targets } = this.#options
    const target = definition.spec?.target
    if (target === undefined || targets === undefined) return inputRecord
    const sought = target.topic === null ? targets.seekPool(target.pool) : targets.seek(target.topic.name)
    if (sought === undefined) return inputRecord
    const { clock } = this.#options
    return new Promise((resolve) => {
      const done = (): void => resolve(inputRecord)
      const cancelTimer = clock.at(clock.nowMs() + seekWaitMs, done)
      void sought.then(cancelTimer).then(done)
    })
  }

  #misrouted(inputRecord: InputRecord, record: RecordIn, key: Buffer, to: number): InputRecord {
    // The tombstone of a move: the record itself is in the right partition already.
    if (record.value === null && record.headers[movedHeader] !== undefined) return inputRecord
    if (inputRecord.source === 'commands' && wasTaken(record, 'TRIGGER', this.#options.taken()))
      return this.#takenBefore(inputRecord)
    if (sizeOf(record) > movedBytesMax) {
      const text = `It has more than ${movedBytesMax} bytes and belongs to partition ${to}; write it there.`
      return this.#bad(inputRecord, record, 'too-large-to-move', text)
    }
    const time = inputRecord.source === 'jobs' && { [appendedAtHeader]: Buffer.from(String(appendedAtOf(record))) }
    inputRecord.moved = { key, value: record.value, headers: { ...record.headers, ...time }, to }
    this.#options.metrics.misrouted.inc()
    return inputRecord
  }

  #command(inputRecord: InputRecord, record: RecordIn): InputRecord | Promise<InputRecord> {
    if (record.byBroker) inputRecord.appendedAt = record.timestampMs
    return afterDecoding<JobCommand, InputRecord>(this.#options.codecs.command, record, (command) => {
      if (wasTaken(record, command.type, this.#options.taken())) return this.#takenBefore(inputRecord)
      const problems = validateCommand(command)
      if (problems.length > 0) return this.#bad(inputRecord, record, 'bad-command', sentences(problems))
      inputRecord.input = { kind: 'command', command }
      return inputRecord
    })
  }

  /** No receipt: the command was answered when it was taken the first time. */
  #takenBefore(inputRecord: InputRecord): InputRecord {
    this.#options.metrics.invalid.inc({ reason: 'taken-before' })
    delete inputRecord.replyTo
    return inputRecord
  }

  /**
   * A heartbeat of a known attempt ends here: it only renews a lease, counted from the time when it was read. All other reports
   * are applied.
   */
  #event(inputRecord: InputRecord, record: RecordIn, nowMs: number): InputRecord | Promise<InputRecord> {
    const { codecs, leases, workers } = this.#options
    return afterDecoding<ExecutionEvent, InputRecord>(codecs.event, record, (report) => {
      if (report.jobId !== inputRecord.jobId)
        throw new Error(`The key says job ${inputRecord.jobId}, the value ${quoted(report.jobId)}.`)
      const { event, problems, note } = fittedReport(report)
      if (event === undefined) return this.#bad(inputRecord, record, 'bad-report', sentences(problems))
      if (problems.length > 0) this.#shortened(record, problems)
      const { jobId, type, progress, message } = event
      if (type === 'HEARTBEAT') {
        const heartbeat = { checkedAt: nowMs, progress, message }
        if (leases.renew(jobId, event, heartbeat)) workers.reported(event, nowMs)
        else inputRecord.heartbeat = { event, heartbeat }
        return inputRecord
      }
      inputRecord.input = note === undefined ? { kind: 'event', event } : { kind: 'event', event, note }
      const traced = traceContextOf(record.headers)
      if (traced !== undefined) inputRecord.traceparent = traced.traceparent
      return inputRecord
    })
  }

  /** The rest of the report counts, because it says that its run has begun or ended. */
  #shortened({ topic, partition, offset }: RecordIn, problems: Problem[]): void {
    this.#options.metrics.shortened.inc({ what: 'report' })
    const text = `A part of a report is over its limit and left out: ${sentences(problems)}`
    this.#options.logger.warn({ event: 'report-shortened', topic, partition, offset }, text)
  }

  #bad(inputRecord: InputRecord, record: RecordIn, reason: string, message: string): InputRecord {
    inputRecord.refusal = message
    this.#options.metrics.invalid.inc({ reason })
    const { topic, partition, offset } = record
    this.#options.logger.warn(
      { event: 'record-skipped', topic, partition, offset, reason },
      `A record cannot be applied and is skipped: ${message}`,
    )
    return inputRecord
  }
}

const sentences = (problems: Problem[]): string => problems.map(({ message }) => message).join(' ')

/** Most bytes that the record takes in the log, without the overhead that every record has. */
function sizeOf({ key, value, headers }: RecordIn): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0)
  for (const [name, text] of Object.entries(headers)) bytes += 10 + 3 * name.length + text.length
  return bytes
}

/** Synchronous unless the writer's schema has to be fetched. */
function afterDecoding<Value, Result>(
  codec: Codec<Value, never>,
  record: RecordIn,
  take: (value: Value) => Result,
): Result | Promise<Result> {
  if (record.value === null) throw new Error('The record has no value.')
  const decoded = codec.decode(record.value)
  return decoded instanceof Promise ? decoded.then(take) : take(decoded)
}
