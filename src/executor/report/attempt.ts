/**
 * One attempt while this worker runs it. The handler sees it as its Run, and the report sender reports from it.
 *
 *   running ──► ended (succeeded | failed | released | cancelled)     ended: the outcome is fixed, its report may still be on the way
 *
 * A handler that has not returned when its attempt ended (timeout, drain, cancellation) keeps its slot until it does. A cancelled
 * attempt has no report: its owner has already decided.
 */
import type { Logger } from 'pino'
import type { Execution, HttpTarget, RunError } from '../../../schemas/index.ts'
import { executionIdOf } from '../../../streams/state/index.ts'
import type { Entry } from '../consume/index.ts'
import { type Progress, payloadOf, type Run } from '../handlers/index.ts'
import type { AttemptLog } from './attempt-log.ts'

const progressMessageMax = 1_000

export type Outcome =
  | { type: 'SUCCEEDED'; result: Buffer | null }
  | { type: 'FAILED'; error: RunError }
  | { type: 'RELEASED' }
  | { type: 'CANCELLED' }

/** Shared by all successes without a result, which are most. */
export const succeededWithoutResult: Outcome = { type: 'SUCCEEDED', result: null }
export const released: Outcome = { type: 'RELEASED' }
export const cancelled: Outcome = { type: 'CANCELLED' }

/** Callbacks of an attempt to its runner. */
export interface AttemptHost {
  readonly logger: Logger
  progressed(attempt: Attempt): void
  /** The handler writes a line. The values may be anything. */
  logged(attempt: Attempt, level: unknown, text: unknown, fields: unknown): void
}

export class Attempt implements Run {
  readonly entry: Entry
  readonly execution: Execution
  /** When the handler was started; null when the attempt ended without one. Epoch ms. */
  readonly startedAt: number | null
  outcome: Outcome | undefined
  /** When the outcome was fixed, epoch ms. */
  endedAt = 0
  /** It is queued for the next send; never twice. */
  queued = false
  startedSent = false
  /**
   * By the steady clock: when the handler began, when the supervisor checks it next, and when its last report except the final
   * one was made.
   */
  beganAt = 0
  wakeAt = 0
  beatAt = 0
  progress: number | null = null
  message: string | null = null
  /** Lines of run.log; undefined before the first one. */
  lines: AttemptLog | undefined
  readonly #host: AttemptHost
  #abort: AbortController | undefined
  #payload: { value: unknown } | undefined
  #logger: Logger | undefined

  constructor(host: AttemptHost, entry: Entry, execution: Execution, startedAt: number | null) {
    this.#host = host
    this.entry = entry
    this.execution = execution
    this.startedAt = startedAt
  }

  get executionId(): string {
    return executionIdOf(this.execution)
  }
  get jobId(): string {
    return this.execution.jobId
  }
  get runNo(): number {
    return this.execution.runNo
  }
  get attempt(): number {
    return this.execution.attempt
  }
  get scheduledFor(): number {
    return this.execution.scheduledFor
  }
  get dueAt(): number {
    return this.execution.dueAt
  }
  get contentType(): string | null {
    return this.execution.contentType
  }
  get headers(): Record<string, Buffer> {
    return this.execution.headers
  }
  get http(): HttpTarget | null {
    return this.execution.httpTarget
  }
  get payloadBytes(): Buffer | null {
    return this.execution.payload
  }
  get payload(): unknown {
    this.#payload ??= { value: payloadOf(this.execution.payload, this.execution.contentType) }
    return this.#payload.value
  }
  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    return this.#abort.signal
  }
  get logger(): Logger {
    this.#logger ??= this.#host.logger.child({ executionId: this.executionId, attempt: this.attempt })
    return this.#logger
  }

  /** An arrow, so that a handler may destructure it: `({ heartbeat }) => …`. */
  get heartbeat(): (progress?: Progress) => void {
    return (progress = {}) => {
      if (this.outcome !== undefined) return
      if (Number.isFinite(progress.progress)) this.progress = Math.min(Math.max(progress.progress as number, 0), 1)
      if (progress.message !== undefined) {
        this.message = String(progress.message).slice(0, progressMessageMax).toWellFormed()
      }
      this.#host.progressed(this)
    }
  }

  /** An arrow, like heartbeat. */
  get log(): Run['log'] {
    return (level, text, fields) => this.#host.logged(this, level, text, fields)
  }

  /** Aborts the handler's signal, even if the handler reads it later. */
  abort(reason: Error): void {
    this.#abort ??= new AbortController()
    this.#abort.abort(reason)
  }
}
