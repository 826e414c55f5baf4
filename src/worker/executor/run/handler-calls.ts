/**
 * Calls of handlers. Each that has not returned has a slot; a batch has one for all of its runs. An attempt that has ended keeps it
 * until then. With a tracer, each call has a span that lasts until the end of its last attempt.
 *
 * A handler that returns at once needs no promise, timer or closure.
 */
import type { Execution } from '../../../../schemas/index.ts'
import { executionIdOf } from '../../../../streams/state/index.ts'
import { traceContextOf } from '../../../../streams/text/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Metrics } from '../../../ground/metrics/index.ts'
import { type HandlerSpan, handlerSpan, type StartedAttempt } from '../../../ground/tracing/index.ts'
import { attemptKey, type Cancellation, type Entry, isMeant } from '../consume/index.ts'
import { type BatchHandler, type Handler, namedError } from '../handlers/index.ts'
import {
  Attempt,
  type AttemptHost,
  batchOutcomes,
  cancelled,
  failed,
  HandledRun,
  type Outcome,
  type ReportSender,
  type RunLogSender,
  released,
  succeeded,
} from '../report/index.ts'
import { Supervisor } from './supervisor.ts'

/** Limit of the bytes of running executions. At this size no further handler starts. */
export const runningBytesMax = 64 * 1024 * 1024

export interface HandlerCallsOptions {
  pool: string
  reportSender: ReportSender
  runLogs: RunLogSender
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** A slot is free, or an attempt has ended. */
  onFree(): void
}

/** The outcome of each attempt of a call, by its index, from the handler's return value. */
type OutcomesOf = (returned: unknown) => (index: number) => Outcome

export class HandlerCalls implements AttemptHost {
  readonly logger: Logger
  readonly #options: HandlerCallsOptions
  readonly #supervisor: Supervisor
  readonly #ended: Record<Outcome['type'], { inc(): void }>
  readonly #gauge: { inc(): void; dec(): void }
  readonly #running = new Set<Attempt>()
  #slots = 0
  #bytes = 0
  #emptied: (() => void)[] = []

  constructor(options: HandlerCallsOptions) {
    this.#options = options
    this.logger = options.logger
    const { pool, clock, reportSender, metrics, onFree } = options
    this.#supervisor = new Supervisor(clock, reportSender, (attempt, outcome) => {
      this.end(attempt, outcome)
      onFree()
    })
    this.#gauge = metrics.running.labels(pool)
    this.#ended = {
      SUCCEEDED: metrics.attempts.labels(pool, 'succeeded'),
      FAILED: metrics.attempts.labels(pool, 'failed'),
      RELEASED: metrics.attempts.labels(pool, 'released'),
      CANCELLED: metrics.attempts.labels(pool, 'cancelled'),
    }
  }

  /** Whether one more call may begin at this concurrency. */
  hasSlot(concurrency: number): boolean {
    return this.#slots < concurrency && this.#bytes < runningBytesMax
  }

  get running(): ReadonlySet<Attempt> {
    return this.#running
  }

  /** `startedAt`: null if no handler is called for it. */
  begin(entry: Entry, execution: Execution, startedAt: number | null): Attempt {
    entry.start()
    return new Attempt(this, entry, execution, startedAt)
  }

  progressed(attempt: Attempt): void {
    this.#supervisor.progressed(attempt)
  }

  logged(attempt: Attempt, level: unknown, text: unknown, fields: unknown): void {
    this.#options.runLogs.add(attempt, level, text, fields)
  }

  call(handler: Handler, attempt: Attempt): void {
    let returned: unknown
    try {
      returned = calledSingle(handler, attempt)
      if (isThenable(returned)) return this.#follow([attempt], returned, (value) => () => succeeded(value))
    } catch (error) {
      return this.end(attempt, failed(error))
    }
    this.end(attempt, succeeded(returned))
  }

  callBatch(handler: BatchHandler, attempts: readonly Attempt[]): void {
    const outcomesOf = (value: unknown) => batchOutcomes(value, attempts.length)
    let outcomeOf: (index: number) => Outcome
    try {
      const returned = calledBatch(handler, attempts)
      if (isThenable(returned)) return this.#follow(attempts, returned, outcomesOf)
      outcomeOf = outcomesOf(returned)
    } catch (error) {
      outcomeOf = () => failed(error)
    }
    attempts.forEach((attempt, index) => {
      this.end(attempt, outcomeOf(index))
    })
  }

  /** Calls it when `known` resolves, if `mayStart` still says so. Settles when it has returned. */
  callLater(
    handler: Handler | BatchHandler,
    attempts: readonly Attempt[],
    known: Promise<unknown>,
    mayStart: () => boolean,
  ): Promise<unknown> {
    const [first] = attempts as [Attempt]
    const isSingle = typeof handler === 'function'
    const call = (): unknown => (isSingle ? calledSingle(handler, first) : calledBatch(handler, attempts))
    const returned = known.then(() => (mayStart() ? call() : undefined))
    this.#follow(attempts, returned, (value) => (isSingle ? () => succeeded(value) : batchOutcomes(value, attempts.length)))
    return returned
  }

  /** Fixes the outcome of an attempt, and reports it. */
  end(attempt: Attempt, outcome: Outcome): void {
    this.#fix(attempt, outcome)
    this.#options.reportSender.push(attempt)
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
      this.#fix(attempt, cancelled)
      attempt.abort(namedError('Cancelled', cancellation.reason || 'the run was cancelled'))
    }
    return [...wanted.values()]
  }

  /** Gives back all running attempts. The report is fixed first, so that the handler's reaction to the abort cannot change it. */
  releaseAll(): void {
    for (const attempt of this.#running) {
      if (attempt.outcome !== undefined) continue
      this.end(attempt, released)
      attempt.abort(namedError('WorkerStopping', 'the worker is stopping; this attempt was given back'))
    }
    this.#supervisor.clear()
  }

  /** Resolves when every handler has returned. */
  drained(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#emptied.push(resolve))
  }

  #fix(attempt: Attempt, outcome: Outcome): void {
    attempt.outcome = outcome
    attempt.endedAt = this.#options.clock.nowMs()
    this.#ended[outcome.type].inc()
    this.#options.runLogs.ended(attempt)
    const error = outcome.type === 'FAILED' ? outcome.error : undefined
    attempt.span?.ended({ outcome: outcome.type, endedAt: attempt.endedAt, error })
  }

  #follow(attempts: readonly Attempt[], returned: PromiseLike<unknown>, outcomesOf: OutcomesOf): void {
    this.#slots++
    this.#share(attempts, 1)
    for (const attempt of attempts) {
      this.#running.add(attempt)
      this.#bytes += attempt.entry.bytes
      this.#gauge.inc()
      this.#supervisor.begin(attempt)
      this.#options.reportSender.push(attempt)
    }
    // Promise.resolve, because a foreign thenable may call back twice.
    Promise.resolve(returned).then(
      (value) => this.#returned(attempts, outcomesOf(value)),
      (error) => this.#returned(attempts, () => failed(error)),
    )
  }

  /** All runs of a batch but one have no slot of their own. */
  #share(attempts: readonly Attempt[], change: 1 | -1): void {
    for (let at = 1; at < attempts.length; at++) (attempts[at] as Attempt).entry.lane.sharing += change
  }

  #returned(attempts: readonly Attempt[], outcomeOf: (index: number) => Outcome): void {
    this.#slots--
    this.#share(attempts, -1)
    attempts.forEach((attempt, index) => {
      this.#running.delete(attempt)
      this.#bytes -= attempt.entry.bytes
      this.#gauge.dec()
      this.#supervisor.forget(attempt)
      if (attempt.outcome === undefined) this.end(attempt, outcomeOf(index))
    })
    this.#options.onFree()
    if (this.#running.size === 0) for (const resolve of this.#emptied.splice(0)) resolve()
  }
}

function calledSingle(handler: Handler, attempt: Attempt): unknown {
  const span = spanOf([attempt])
  const run = new HandledRun(attempt)
  return span === undefined ? handler(run) : span.around(() => handler(run))
}

function calledBatch(handler: BatchHandler, attempts: readonly Attempt[]): unknown {
  const span = spanOf(attempts)
  const runs = attempts.map((attempt) => new HandledRun(attempt))
  return span === undefined ? handler.run(runs) : span.around(() => handler.run(runs))
}

/** Undefined without a tracer. Each attempt keeps it, so that its end can be told. */
function spanOf(attempts: readonly Attempt[]): HandlerSpan | undefined {
  const span = handlerSpan(attempts.length, (at) => startedAttempt(attempts[at] as Attempt))
  if (span !== undefined) for (const attempt of attempts) attempt.span = span
  return span
}

function startedAttempt({ entry, execution, startedAt }: Attempt): StartedAttempt {
  const { jobId, runNo, attempt, trigger, handler, pool, dispatchedAt, dueAt, headers } = execution
  return {
    ...{ jobId, runNo, attempt, trigger, handler, pool, dispatchedAt, dueAt },
    executionId: executionIdOf(execution),
    ...{ topic: entry.lane.topic, partition: entry.lane.partition, offset: entry.offset },
    startedAt: startedAt ?? dueAt,
    parent: entry.trace,
    origin: traceContextOf(headers),
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
