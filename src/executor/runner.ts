/**
 * Starts what is due while there are slots, watches it while it runs, and fixes its outcome.
 * A handler that returns at once never leaves the loop of #pump: no promise, timer or closure is made for it.
 */
import type { Logger } from 'pino'
import { priorities } from '../../streams/topics.ts'
import type { Clock } from '../clock.ts'
import type { Metrics } from '../metrics.ts'
import { Attempt, type AttemptHost, type Outcome, released } from './attempt.ts'
import type { Handler } from './handler.ts'
import { runError } from './handler-errors.ts'
import type { Entry } from './lane.ts'
import type { Outbox } from './outbox.ts'
import { failed, succeeded } from './outcome.ts'
import { ReadyQueue } from './ready-queue.ts'
import { Timetable } from './timetable.ts'

/** Handlers started before the event loop may do something else. */
export const STARTS_PER_TURN_MAX = 256
/** The wheel looks at running attempts at multiples of this; timeouts and heartbeats are late by at most so much. */
const WHEEL_TICK_MS = 20
/** A handler's progress is passed on at most so often. */
const PROGRESS_INTERVAL_MS = 1_000
/** Reports for each lease while an attempt runs: two may get lost before the lease does. */
const BEATS_PER_LEASE = 3

export interface RunnerOptions {
  pool: string
  concurrency: number
  handlers: ReadonlyMap<string, Handler>
  outbox: Outbox
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** An entry left the hold. Called before its handler runs. */
  onStarted(entry: Entry): void
  /** An entry needs no event. */
  onDone(entry: Entry): void
}

export class Runner implements AttemptHost {
  readonly logger: Logger
  readonly #options: RunnerOptions
  readonly #ready = new ReadyQueue<Entry>(priorities.length)
  readonly #wheel: Timetable<Attempt>
  /** Attempts whose handler has not returned: each has a slot. */
  readonly #running = new Set<Attempt>()
  readonly #lateness: { observe(seconds: number): void }
  readonly #runningGauge: { inc(): void; dec(): void }
  readonly #ended: Record<Outcome['type'], { inc(): void }>
  readonly #expired: { inc(): void }
  #pumping = false
  #turn: NodeJS.Immediate | undefined
  #stopped = false
  #emptied: (() => void)[] = []

  constructor(options: RunnerOptions) {
    this.#options = options
    this.logger = options.logger
    const { pool, metrics, clock } = options
    this.#wheel = new Timetable(clock, (attempt) => this.#look(attempt))
    this.#lateness = metrics.startLateness.labels(pool)
    this.#runningGauge = metrics.running.labels(pool)
    this.#expired = metrics.attempts.labels(pool, 'expired')
    this.#ended = {
      SUCCEEDED: metrics.attempts.labels(pool, 'succeeded'),
      FAILED: metrics.attempts.labels(pool, 'failed'),
      RELEASED: metrics.attempts.labels(pool, 'released'),
    }
  }

  get running(): ReadonlySet<Attempt> {
    return this.#running
  }

  /** The entry is due. It starts with the next pump that has a slot for it. */
  ready(entry: Entry): void {
    if (entry.state === 'held' && !this.#stopped) this.#ready.push(entry.lane.level, entry)
  }

  /** Starts what it may. Call it when something became due, a slot or the outbox free. */
  pump(): void {
    if (this.#pumping) return
    this.#pumping = true
    let left = STARTS_PER_TURN_MAX
    while (this.#running.size < this.#options.concurrency && !this.#options.outbox.congested) {
      if (left-- === 0) {
        this.#turn ??= setImmediate(() => {
          this.#turn = undefined
          this.pump()
        })
        break
      }
      const entry = this.#ready.next()
      if (entry === undefined) break
      if (entry.state === 'held') this.#start(entry)
    }
    this.#pumping = false
  }

  progressed(attempt: Attempt): void {
    const atMs = Math.max(this.#options.clock.nowMs(), attempt.beatAt + PROGRESS_INTERVAL_MS)
    if (atMs < attempt.wakeAt) this.#watch(attempt, atMs)
  }

  /** Nothing more starts. */
  stopStarting(): void {
    this.#stopped = true
    this.#ready.clear()
  }

  /** Resolves when every handler has returned. */
  drained(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#emptied.push(resolve))
  }

  /** Gives back what still runs. The report is fixed first, so that what the handler does at the abort cannot change it. */
  releaseAll(): void {
    for (const attempt of this.#running) {
      if (attempt.outcome !== undefined) continue
      this.#end(attempt, released)
      attempt.abort(namedError('WorkerStopping', 'the worker is stopping; this attempt was given back'))
    }
    this.#wheel.clear()
  }

  /** Gives back an entry that never started. */
  release(entry: Entry, execution: NonNullable<Entry['execution']>): void {
    this.#end(this.#begin(entry, execution, null), released)
  }

  #start(entry: Entry): void {
    const execution = entry.execution as NonNullable<Entry['execution']>
    const nowMs = this.#options.clock.nowMs()
    if (nowMs > execution.startDeadlineAt) {
      // The owner has the same deadline and records EXPIRED by itself.
      entry.state = 'started'
      this.#options.onStarted(entry)
      this.#expired.inc()
      this.#options.onDone(entry)
      return
    }
    const attempt = this.#begin(entry, execution, nowMs)
    const handler = this.#options.handlers.get(execution.handler)
    if (handler === undefined) {
      const message = `no handler named "${execution.handler}" in this worker of pool "${this.#options.pool}"; it has: ${this.#names()}`
      this.#end(attempt, { type: 'FAILED', error: runError('handler-missing', message, true) })
      return
    }
    this.#lateness.observe(Math.max(nowMs - execution.dueAt, 0) / 1_000)
    let returned: unknown
    try {
      returned = handler(attempt)
      if (isThenable(returned)) {
        this.#follow(attempt, returned)
        return
      }
    } catch (error) {
      this.#end(attempt, failed(error))
      return
    }
    this.#end(attempt, succeeded(returned))
  }

  #begin(entry: Entry, execution: NonNullable<Entry['execution']>, startedAt: number | null): Attempt {
    entry.state = 'started'
    entry.execution = undefined
    this.#options.onStarted(entry)
    return new Attempt(this, entry, execution, startedAt)
  }

  #follow(attempt: Attempt, returned: PromiseLike<unknown>): void {
    this.#running.add(attempt)
    this.#runningGauge.inc()
    attempt.beatAt = attempt.startedAt ?? 0
    this.#watch(attempt, this.#nextLook(attempt))
    this.#options.outbox.push(attempt)
    // Promise.resolve, because a foreign thenable may call back twice.
    Promise.resolve(returned).then(
      (value) => this.#returned(attempt, attempt.outcome ?? succeeded(value)),
      (error) => this.#returned(attempt, attempt.outcome ?? failed(error)),
    )
  }

  #returned(attempt: Attempt, outcome: Outcome): void {
    this.#running.delete(attempt)
    this.#runningGauge.dec()
    this.#wheel.delete(attempt.wakeAt, attempt)
    if (attempt.outcome === undefined) this.#end(attempt, outcome)
    this.pump()
    if (this.#running.size === 0) for (const resolve of this.#emptied.splice(0)) resolve()
  }

  #end(attempt: Attempt, outcome: Outcome): void {
    attempt.outcome = outcome
    attempt.endedAt = this.#options.clock.nowMs()
    this.#ended[outcome.type].inc()
    this.#options.outbox.push(attempt)
  }

  #nextLook(attempt: Attempt): number {
    const timeoutAt = (attempt.startedAt ?? 0) + attempt.execution.attemptTimeoutMs
    return Math.min(timeoutAt, attempt.beatAt + attempt.execution.leaseMs / BEATS_PER_LEASE)
  }

  #watch(attempt: Attempt, atMs: number): void {
    this.#wheel.delete(attempt.wakeAt, attempt)
    attempt.wakeAt = Math.ceil(atMs / WHEEL_TICK_MS) * WHEEL_TICK_MS
    this.#wheel.add(attempt.wakeAt, attempt)
  }

  #look(attempt: Attempt): void {
    if (attempt.outcome !== undefined) return
    const nowMs = this.#options.clock.nowMs()
    const { attemptTimeoutMs } = attempt.execution
    if (nowMs >= (attempt.startedAt ?? 0) + attemptTimeoutMs) {
      const message = `the handler had not returned ${attemptTimeoutMs} ms after its start`
      this.#end(attempt, { type: 'FAILED', error: runError('AttemptTimeout', message, true) })
      attempt.abort(namedError('AttemptTimeout', message))
      return
    }
    attempt.beatAt = nowMs
    this.#options.outbox.push(attempt)
    this.#watch(attempt, this.#nextLook(attempt))
  }

  #names(): string {
    return [...this.#options.handlers.keys()].slice(0, 20).join(', ') || 'none'
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function namedError(name: string, message: string): Error {
  const error = new Error(message)
  error.name = name
  return error
}
