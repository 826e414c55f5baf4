/**
 * Sends reports to the owners. Attempts queue here for at most 10 ms, then one send carries the current state of each: an attempt
 * that has already ended sends only its final event. Somebody may wait for an end, so an end goes at once while no send is in
 * flight, and so does a start that its handler waits for. A failed send is repeated until it succeeds; a duplicate event does no harm at the owner. If the brokers refuse an event
 * because of its contents, each event is sent alone. The refused one is then replaced by a report that only says that its run has
 * failed.
 */
import type { ExecutionEvent, ExecutionEventInput, RunError } from '../../../../schemas/index.ts'
import { type Clock, waitFor } from '../../../ground/clock/index.ts'
import { LazyWriter } from '../../../ground/concurrency/index.ts'
import { isOfRecord, messageOf } from '../../../ground/errors/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Codec, Log, RecordOut } from '../../../ground/ports/index.ts'
import { runError } from '../handlers/index.ts'
import type { Attempt, Outcome } from './attempt.ts'

/** How long a report waits for others to share its send, unless it is an end and no send is in flight. */
export const eventLingerMs = 10
/** Events in one send. */
export const eventsPerSendMax = 1_000
/** Sends in flight at once. */
export const sendsInFlightMax = 2
/** Reports queued or in flight. At this number no further handler starts. */
export const eventsPendingMax = 10_000
/** Bytes of their executions, which are kept until then. */
export const pendingBytesMax = 32 * 1024 * 1024
const resendFirstMs = 100
const resendMaxMs = 1_000

export interface ReportSenderOptions {
  log: Log
  codec: Codec<ExecutionEvent, ExecutionEventInput>
  /** Topic of the events. */
  topic: string
  instance: string
  clock: Clock
  logger: Logger
  /** Resolves when the final report of the attempt may go; undefined if it may go now. Default: always now. */
  beforeReport?(attempt: Attempt): Promise<void> | undefined
  /** Replaces eventLingerMs. */
  lingerMs?: number | undefined
  /** The broker has acknowledged a report about each of them. */
  onAcked(attempts: readonly Attempt[]): void
}

/** A record and its attempt. */
type Report = { record: RecordOut; attempt: Attempt }

export class ReportSender {
  readonly #options: ReportSenderOptions
  #queue: Attempt[] = []
  #inFlight = 0
  #inFlightEvents = 0
  /** Final reports that wait until they may go. */
  #heldBack = 0
  #bytes = 0
  #cancelLinger: (() => void) | undefined
  #lingerUntil = 0
  readonly #writer: LazyWriter
  #closed = false
  #flushing = false
  #idle: (() => void)[] = []

  constructor(options: ReportSenderOptions) {
    this.#options = options
    this.#writer = new LazyWriter(options.log)
  }

  get pending(): number {
    return this.#queue.length + this.#inFlightEvents + this.#heldBack
  }

  get congested(): boolean {
    return this.pending >= eventsPendingMax || this.#bytes >= pendingBytesMax
  }

  /** Opens the writer, so that an unreachable broker shows at the start. */
  async open(): Promise<void> {
    await this.#writer.open()
  }

  push(attempt: Attempt): void {
    if (attempt.queued) return
    attempt.queued = true
    this.#queue.push(attempt)
    this.#bytes += attempt.entry.bytes
    if (this.#queue.length >= eventsPerSendMax || this.#flushing) this.#sendFull()
    else if ((attempt.outcome !== undefined || attempt.isAwaited) && this.#inFlight === 0) this.#linger(0)
    else this.#linger(this.#options.lingerMs ?? eventLingerMs)
  }

  /** Sends all queued reports and resolves when nothing is in flight. It waits as long as the brokers are unreachable. */
  flush(): Promise<void> {
    if (this.pending === 0) return Promise.resolve()
    this.#flushing = true
    const idle = new Promise<void>((resolve) => this.#idle.push(resolve))
    this.#send()
    return idle
  }

  /** Gives up unsent reports: the owners detect that by their leases. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelLinger?.()
    this.#cancelLinger = undefined
    await this.#writer.close()
  }

  #linger(waitMs: number): void {
    const { clock } = this.#options
    const untilMs = clock.nowMs() + waitMs
    if (this.#cancelLinger !== undefined) {
      if (untilMs >= this.#lingerUntil) return
      this.#cancelLinger()
    }
    this.#lingerUntil = untilMs
    this.#cancelLinger = clock.at(untilMs, () => {
      this.#cancelLinger = undefined
      this.#send()
    })
  }

  #sendFull(): void {
    if (this.#inFlight < sendsInFlightMax) this.#send()
  }

  #send(): void {
    while (this.#queue.length > 0 && this.#inFlight < sendsInFlightMax && !this.#closed) {
      const attempts = this.#withoutHeldBack(this.#withoutCancelled(this.#queue.splice(0, eventsPerSendMax)))
      if (attempts.length === 0) continue
      const records = attempts.map((attempt) => this.#record(attempt))
      this.#inFlight++
      this.#inFlightEvents += attempts.length
      void this.#deliver(records, attempts)
    }
    this.#settleIfIdle()
  }

  /** The owner needs no report about an attempt that it has cancelled. For the offset this counts as a report. */
  #withoutCancelled(attempts: Attempt[]): Attempt[] {
    const silent = attempts.filter(({ outcome }) => outcome?.type === 'CANCELLED')
    if (silent.length === 0) return attempts
    for (const attempt of silent) {
      attempt.queued = false
      this.#bytes -= attempt.entry.bytes
    }
    this.#options.onAcked(silent)
    return attempts.filter(({ outcome }) => outcome?.type !== 'CANCELLED')
  }

  /** Lines of the attempt are on their way, and should be there when its run ends. */
  #withoutHeldBack(attempts: Attempt[]): Attempt[] {
    const { beforeReport } = this.#options
    if (beforeReport === undefined) return attempts
    return attempts.filter((attempt) => {
      const wait = attempt.outcome === undefined ? undefined : beforeReport(attempt)
      if (wait === undefined) return true
      this.#heldBack++
      void wait.then(() => {
        this.#heldBack--
        this.#queue.push(attempt)
        // Many may go with the same answer of a broker.
        this.#linger(0)
      })
      return false
    })
  }

  #settleIfIdle(): void {
    if (this.pending > 0) return
    this.#flushing = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  async #deliver(records: RecordOut[], attempts: Attempt[]): Promise<void> {
    let left: Report[] = records.map((record, place) => ({ record, attempt: attempts[place] as Attempt }))
    for (let waitMs = resendFirstMs; !this.#closed; waitMs = Math.min(waitMs * 2, resendMaxMs)) {
      left = await this.#unsent(left)
      if (left.length === 0) break
      await waitFor(waitMs, this.#options.clock)
    }
    if (this.#closed) return
    this.#inFlight--
    this.#inFlightEvents -= attempts.length
    for (const { entry } of attempts) this.#bytes -= entry.bytes
    this.#options.onAcked(attempts)
    // The linger time of newly queued reports may have passed while all sends were in use.
    if (this.#cancelLinger === undefined || this.#flushing || this.#queue.length >= eventsPerSendMax) this.#send()
    this.#settleIfIdle()
  }

  /** Sends the reports and returns those that must be sent again. */
  async #unsent(reports: Report[]): Promise<Report[]> {
    const failure = await this.#sent(reports)
    if (failure === undefined) return []
    if (!isOfRecord(failure)) return reports
    const left: Report[] = []
    for (const [place, report] of reports.entries()) {
      const refusal = reports.length === 1 ? failure : await this.#sent([report])
      if (refusal !== undefined && !isOfRecord(refusal)) return [...left, ...reports.slice(place)]
      if (refusal !== undefined) left.push(this.#withoutContents(report, refusal))
    }
    return left
  }

  /** The reason of a failure; undefined on success. */
  async #sent(reports: Report[]): Promise<unknown> {
    try {
      await this.#writer.write(reports.map(({ record }) => record))
      return undefined
    } catch (error) {
      const facts = { err: error, events: reports.length }
      if (!this.#closed)
        this.#options.logger.warn(
          { event: 'reports-not-sent', ...facts },
          'Reports of runs could not be sent; they are sent again.',
        )
      return error ?? new Error('refused without a reason')
    }
  }

  #record(attempt: Attempt): RecordOut {
    attempt.queued = false
    try {
      return this.#recordOf(attempt, attempt.outcome)
    } catch (error) {
      return this.#failed(attempt, runError('encode-failed', messageOf(error), false))
    }
  }

  /**
   * A final report then says only that the run failed. A report of an unfinished attempt has nothing to leave out: it is sent
   * again unchanged.
   */
  #withoutContents({ record, attempt }: Report, refusal: unknown): Report {
    const isEnd = attempt.outcome !== undefined && !attempt.queued
    return { attempt, record: isEnd ? this.#failed(attempt, runError('report-refused', messageOf(refusal), false)) : record }
  }

  /** The handler's result cannot be written. The run must end all the same, so the report says only that. */
  #failed(attempt: Attempt, error: RunError): RecordOut {
    attempt.progress = null
    attempt.message = null
    return this.#recordOf(attempt, attempt.outcome === undefined ? undefined : { type: 'FAILED', error })
  }

  #recordOf(attempt: Attempt, outcome: Outcome | undefined): RecordOut {
    const { entry, execution } = attempt
    const value = this.#options.codec.encode(this.#event(attempt, outcome))
    const record = { topic: this.#options.topic, partition: entry.lane.partition, key: execution.jobId, value }
    const context = attempt.span?.headers
    return context === undefined ? record : { ...record, headers: { ...context } }
  }

  #event(attempt: Attempt, outcome: Outcome | undefined): ExecutionEventInput {
    const { execution } = attempt
    const ended = outcome === undefined || outcome.type === 'CANCELLED' ? undefined : outcome.type
    const type = ended ?? (attempt.startedSent ? 'HEARTBEAT' : 'STARTED')
    attempt.startedSent = true
    const isUnderWay = type === 'HEARTBEAT' || type === 'STARTED'
    return {
      type,
      jobId: execution.jobId,
      runNo: execution.runNo,
      attempt: execution.attempt,
      specOffset: execution.specOffset,
      at: outcome === undefined ? this.#options.clock.nowMs() : attempt.endedAt,
      worker: this.#options.instance,
      startedAt: type === 'HEARTBEAT' || type === 'RELEASED' ? null : attempt.startedAt,
      result: outcome?.type === 'SUCCEEDED' ? outcome.result : null,
      error: outcome?.type === 'FAILED' ? outcome.error : null,
      progress: isUnderWay ? attempt.progress : null,
      message: outcome?.type === 'SUCCEEDED' ? (outcome.note ?? null) : isUnderWay ? attempt.message : null,
    }
  }
}
