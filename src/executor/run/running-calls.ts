/**
 * Handler calls that have not returned. Each has a slot; a batch has one for all of its runs. An attempt that has ended keeps it
 * until then.
 */
import { attemptKey, type Cancellation, isMeant } from '../consume/index.ts'
import { namedError } from '../handlers/index.ts'
import { type Attempt, cancelled, failed, type Outcome, type ReportSender, released } from '../report/index.ts'
import type { Supervisor } from './supervisor.ts'

/** Limit of the bytes of running executions. At this size no further handler starts. */
export const runningBytesMax = 64 * 1024 * 1024

/** The outcome of each attempt of a call, by its index, from the handler's return value. */
export type OutcomesOf = (returned: unknown) => (index: number) => Outcome

export interface RunningCallsOptions {
  supervisor: Supervisor
  reportSender: ReportSender
  gauge: { inc(): void; dec(): void }
  /** Fixes the outcome of an attempt. */
  fix(attempt: Attempt, outcome: Outcome): void
  /** A slot is free. */
  onFree(): void
}

export class RunningCalls {
  readonly #options: RunningCallsOptions
  readonly #running = new Set<Attempt>()
  #slots = 0
  #bytes = 0
  #emptied: (() => void)[] = []

  constructor(options: RunningCallsOptions) {
    this.#options = options
  }

  /** Whether one more call may begin at this concurrency. */
  hasSlot(concurrency: number): boolean {
    return this.#slots < concurrency && this.#bytes < runningBytesMax
  }

  get running(): ReadonlySet<Attempt> {
    return this.#running
  }

  follow(attempts: readonly Attempt[], returned: PromiseLike<unknown>, outcomesOf: OutcomesOf): void {
    const { gauge, supervisor, reportSender } = this.#options
    this.#slots++
    this.#share(attempts, 1)
    for (const attempt of attempts) {
      this.#running.add(attempt)
      this.#bytes += attempt.entry.bytes
      gauge.inc()
      supervisor.begin(attempt)
      reportSender.push(attempt)
    }
    // Promise.resolve, because a foreign thenable may call back twice.
    Promise.resolve(returned).then(
      (value) => this.#returned(attempts, outcomesOf(value)),
      (error) => this.#returned(attempts, () => failed(error)),
    )
  }

  /** Aborts the running ones of these attempts; returns the others. */
  cancel(cancellations: readonly Cancellation[]): Cancellation[] {
    const wanted = new Map(cancellations.map((cancellation) => [attemptKey(cancellation), cancellation]))
    for (const attempt of this.#running) {
      const key = attemptKey(attempt)
      const cancellation = wanted.get(key)
      if (cancellation === undefined || !isMeant(attempt.execution, cancellation)) continue
      wanted.delete(key)
      if (attempt.outcome !== undefined) continue
      this.#options.fix(attempt, cancelled)
      attempt.abort(namedError('Cancelled', cancellation.reason || 'the run was cancelled'))
    }
    return [...wanted.values()]
  }

  /** Gives back all running attempts. The report is fixed first, so that the handler's reaction to the abort cannot change it. */
  releaseAll(): void {
    const { fix, reportSender, supervisor } = this.#options
    for (const attempt of this.#running) {
      if (attempt.outcome !== undefined) continue
      fix(attempt, released)
      reportSender.push(attempt)
      attempt.abort(namedError('WorkerStopping', 'the worker is stopping; this attempt was given back'))
    }
    supervisor.clear()
  }

  /** Resolves when every handler has returned. */
  drained(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#emptied.push(resolve))
  }

  /** All runs of a batch but one have no slot of their own. */
  #share(attempts: readonly Attempt[], change: 1 | -1): void {
    for (let at = 1; at < attempts.length; at++) (attempts[at] as Attempt).entry.lane.sharing += change
  }

  #returned(attempts: readonly Attempt[], outcomeOf: (index: number) => Outcome): void {
    const { gauge, supervisor, fix, reportSender, onFree } = this.#options
    this.#slots--
    this.#share(attempts, -1)
    attempts.forEach((attempt, index) => {
      this.#running.delete(attempt)
      this.#bytes -= attempt.entry.bytes
      gauge.dec()
      supervisor.forget(attempt)
      if (attempt.outcome !== undefined) return
      fix(attempt, outcomeOf(index))
      reportSender.push(attempt)
    })
    onFree()
    if (this.#running.size === 0) for (const resolve of this.#emptied.splice(0)) resolve()
  }
}
