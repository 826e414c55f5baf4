/**
 * One attempt while this worker runs it. The handler sees a HandledRun of it, and the report sender reports from it.
 *
 *   running ──► ended (succeeded | failed | released | cancelled)     ended: the outcome is fixed, its report may still be on the way
 *
 * A handler that has not returned when its attempt ended (timeout, drain, cancellation) keeps its slot until it does. A cancelled
 * attempt has no report: its owner has already decided.
 */

import type { Execution, RunError } from '../../../../schemas/index.ts'
import { cutText } from '../../../../streams/text/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { HandlerSpan } from '../../../ground/tracing/index.ts'
import type { Entry } from '../consume/index.ts'
import type { AttemptLog } from './attempt-log.ts'

const progressMessageMax = 1_000

export type Outcome =
  /** `loss`: a sentence about values that the result has lost. `note`: why the whole result is left out. */
  | { type: 'SUCCEEDED'; result: Buffer | null; loss?: string | undefined; note?: string | undefined }
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

export class Attempt {
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
   * By the steady clock: when the handler began, when the supervisor checks it next, when its last report except the final one was made,
   * and the last one with progress.
   */
  beganAt = 0
  wakeAt = 0
  beatAt = 0
  toldAt = Number.NEGATIVE_INFINITY
  progress: number | null = null
  message: string | null = null
  /** Of its handler; undefined without a tracer. */
  span: HandlerSpan | undefined
  /** Lines of run.log; undefined before the first one. */
  lines: AttemptLog | undefined
  readonly #host: AttemptHost
  #abort: AbortController | undefined
  #reported: PromiseWithResolvers<void> | undefined

  constructor(host: AttemptHost, entry: Entry, execution: Execution, startedAt: number | null) {
    this.#host = host
    this.entry = entry
    this.execution = execution
    this.startedAt = startedAt
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
  get dueAt(): number {
    return this.execution.dueAt
  }
  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    return this.#abort.signal
  }
  get host(): AttemptHost {
    return this.#host
  }

  /** The handler reports progress. The value may be anything, also from a program without a compiler; what cannot be read is left out. */
  beat(given: unknown): void {
    if (this.outcome !== undefined) return
    try {
      const { progress, message } = (typeof given === 'object' && given !== null ? given : {}) as Partial<Record<string, unknown>>
      if (typeof progress === 'number' && Number.isFinite(progress)) this.progress = Math.min(Math.max(progress, 0), 1)
      if (message !== undefined && message !== null) this.message = cutText(String(message), progressMessageMax)
    } catch {
      // A getter or toString of the handler threw. It is alive all the same.
    }
    this.#host.progressed(this)
  }

  /** Resolves when the broker has acknowledged the next report about it; at once if there are none. */
  reported(): Promise<void> {
    this.#reported ??= Promise.withResolvers<void>()
    return this.#reported.promise
  }

  /** Whether something waits for its next report. */
  get isAwaited(): boolean {
    return this.#reported !== undefined
  }

  /** The broker has acknowledged a report about it. */
  acknowledged(): void {
    this.#reported?.resolve()
    this.#reported = undefined
  }

  /** Aborts the handler's signal, even if the handler reads it later. */
  abort(reason: Error): void {
    this.#abort ??= new AbortController()
    this.#abort.abort(reason)
  }
}
