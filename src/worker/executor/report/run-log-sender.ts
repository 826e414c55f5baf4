/**
 * Sends the lines of run.log. They wait for at most a second, and are sent at once when their attempt ends, before its last report.
 * Handlers never wait for them, and nothing fails because of them: what is over a limit, or not taken by the brokers, is left out
 * and counted. Lines have a producer of their own, so that they never delay a report.
 */
import type { RunLog, RunLogInput, RunLogLine } from '../../../../schemas/index.ts'
import { type Clock, steadyClock } from '../../../ground/clock/index.ts'
import { LazyWriter, withTimeout } from '../../../ground/concurrency/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Metrics } from '../../../ground/metrics/index.ts'
import type { Codec, Log, RecordOut } from '../../../ground/ports/index.ts'
import type { Attempt } from './attempt.ts'
import { AttemptLog } from './attempt-log.ts'
import { runLogLine } from './run-log-line.ts'

/** How long a line waits for others. A worker that crashes loses at most the lines of this time. */
export const logLingerMs = 1_000
/** Bytes of an attempt that are sent without waiting. */
export const logRecordBytesMax = 65_536
/** Bytes of all attempts that are not written yet. Further lines are left out. */
export const logPendingBytesMax = 8 * 1_048_576
/** How long the last report of an attempt waits for its lines. Shorter than the shortest lease. */
export const logEndWaitMs = 500
/** After a failed write nothing is sent for this time, and no report waits. After a wait that was too long no report waits either. */
export const logPauseMs = 5_000
/** Attempts whose lines are sent together by the timer. */
const logsPerSendMax = 500
/** Interval of the warnings about lost lines. */
const warnEveryMs = 60_000

export interface RunLogSenderOptions {
  log: Pick<Log, 'writer'>
  /** Undefined: lines are not kept. */
  codec: Codec<RunLog, RunLogInput> | undefined
  topic: string
  pool: string
  instance: string
  clock: Clock
  metrics: Pick<Metrics, 'runLogLines'>
  logger: Pick<Logger, 'warn'>
}

export class RunLogSender {
  readonly #options: RunLogSenderOptions
  readonly #clock: Clock
  readonly #writer: LazyWriter
  readonly #counters: Record<'written' | 'left_out' | 'lost', { inc(count?: number): void }>
  /** Logs with lines that are not sent. */
  readonly #waiting = new Set<AttemptLog>()
  /** Bytes of lines that are not written. */
  #bytes = 0
  readonly #inFlight = new Set<Promise<void>>()
  #cancelLinger: (() => void) | undefined
  #closed = false
  #pausedUntil = Number.NEGATIVE_INFINITY
  #noWaitUntil = Number.NEGATIVE_INFINITY
  #warnedAt = Number.NEGATIVE_INFINITY
  #lost = 0

  constructor(options: RunLogSenderOptions) {
    this.#options = options
    this.#clock = steadyClock(options.clock)
    this.#writer = new LazyWriter(options.log)
    const counter = (outcome: string) => options.metrics.runLogLines.labels(options.pool, outcome)
    this.#counters = { written: counter('written'), left_out: counter('left_out'), lost: counter('lost') }
  }

  /** Takes a line of a handler, whatever the values are. Never throws. */
  add(attempt: Attempt, level: unknown, text: unknown, fields: unknown): void {
    // A handler may go on after its worker has stopped.
    if (this.#options.codec === undefined || this.#closed) return
    attempt.lines ??= new AttemptLog(attempt.execution, attempt.entry.lane.partition)
    const { lines } = attempt
    const nowMs = this.#options.clock.nowMs()
    // The lines of one attempt reach that size only while the brokers take none.
    const hasRoom = this.#bytes < logPendingBytesMax && lines.bytes < logRecordBytesMax
    if (!hasRoom || !lines.admits(nowMs)) {
      lines.leaveOut(1)
      this.#counters.left_out.inc()
      if (!lines.saysFull) return
    } else {
      this.#bytes += lines.add(runLogLine(level, text, fields, nowMs))
    }
    this.#waiting.add(lines)
    if (lines.bytes >= logRecordBytesMax && !this.#isPaused) this.#send([lines])
    else this.#linger(logLingerMs)
  }

  /** The outcome of the attempt is known: its lines go now. What its result has lost is one of them. */
  ended(attempt: Attempt): void {
    const { outcome } = attempt
    if (outcome?.type === 'SUCCEEDED' && outcome.loss !== undefined) this.add(attempt, 'warn', outcome.loss, undefined)
    const { lines } = attempt
    if (lines === undefined || lines.hasEnded) return
    lines.hasEnded = true
    if (!this.#isPaused) this.#send([lines])
  }

  /** Undefined if the last report of the attempt may go. Else resolves when it may: its lines are written, or took too long. */
  beforeReport({ lines }: Attempt): Promise<void> | undefined {
    if (lines === undefined || lines.inFlight === 0 || lines.reportMayGo) return undefined
    if (this.#isPaused || this.#clock.nowMs() < this.#noWaitUntil) return undefined
    return withTimeout(this.#clock, logEndWaitMs, lines.sent).then(() => {
      lines.reportMayGo = true
      // Brokers that are silent for so long delay no further run.
      if (lines.inFlight > 0) this.#noWaitUntil = this.#clock.nowMs() + logPauseMs
    })
  }

  /** Sends everything and resolves when it was answered. */
  async flush(): Promise<void> {
    this.#sendAll()
    await Promise.all(this.#inFlight)
  }

  /** Gives up what is not sent. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelLinger?.()
    this.#cancelLinger = undefined
    this.#waiting.clear()
    await this.#writer.close()
  }

  get #isPaused(): boolean {
    return this.#clock.nowMs() < this.#pausedUntil
  }

  #linger(waitMs: number): void {
    if (this.#cancelLinger !== undefined) return
    this.#cancelLinger = this.#clock.at(Math.max(this.#clock.nowMs() + waitMs, this.#pausedUntil), () => {
      this.#cancelLinger = undefined
      if (this.#isPaused) this.#linger(0)
      else this.#sendAll()
    })
  }

  #sendAll(): void {
    const logs = [...this.#waiting]
    for (let at = 0; at < logs.length; at += logsPerSendMax) this.#send(logs.slice(at, at + logsPerSendMax))
  }

  #send(logs: readonly AttemptLog[]): void {
    const records: RecordOut[] = []
    const sent: { lines: AttemptLog; count: number; bytes: number }[] = []
    for (const lines of logs) {
      this.#waiting.delete(lines)
      const taken = lines.take(this.#options.clock.nowMs())
      if (taken.lines.length === 0) continue
      records.push(this.#recordOf(lines, taken))
      sent.push({ lines, count: taken.lines.length, bytes: taken.bytes })
    }
    if (records.length === 0 || this.#closed) return
    const done: Promise<void> = this.#writer
      .write(records)
      .then(
        () => this.#counters.written.inc(sent.reduce((sum, { count }) => sum + count, 0)),
        (error: unknown) => this.#failed(sent, error),
      )
      .finally(() => {
        for (const { lines, bytes } of sent) {
          lines.inFlight--
          this.#bytes -= bytes
        }
        this.#inFlight.delete(done)
      })
    this.#inFlight.add(done)
    for (const { lines } of sent) {
      lines.inFlight++
      lines.sent = done
    }
  }

  #recordOf({ execution, partition }: AttemptLog, { firstNo, lines }: { firstNo: number; lines: RunLogLine[] }): RecordOut {
    const { codec, topic, instance } = this.#options
    const value = codec?.encode({ ...execution, worker: instance, firstNo, lines }) ?? null
    return { topic, partition, key: execution.jobId, value }
  }

  /** The lines are not sent again: nobody knows whether they were written, and newer ones wait. */
  #failed(sent: readonly { lines: AttemptLog; count: number }[], error: unknown): void {
    const nowMs = this.#clock.nowMs()
    this.#pausedUntil = nowMs + logPauseMs
    for (const { lines, count } of sent) {
      lines.leaveOut(count)
      this.#counters.lost.inc(count)
      this.#lost += count
    }
    if (nowMs - this.#warnedAt < warnEveryMs) return
    this.#options.logger.warn(
      { event: 'run-lines-lost', err: error, lines: this.#lost },
      'Lines of run.log are lost: the brokers did not take them. Runs are not affected. Check that the topic exists and that this worker may write to it.',
    )
    this.#warnedAt = nowMs
    this.#lost = 0
  }
}
