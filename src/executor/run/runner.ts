/**
 * Starts due runs while there are slots, and fixes the outcomes. A handler that returns at once never leaves the loop of #pump:
 * no promise, timer or closure is created for it.
 */
import type { Execution } from '../../../schemas/index.ts'
import { rankMax } from '../../../streams/topics/index.ts'
import { type Clock, trustedMs } from '../../clock/index.ts'
import type { Logger } from '../../logging/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { RecordIn } from '../../ports/index.ts'
import { type Cancellation, Cancellations, type Entry, isMisdated, type Lane } from '../consume/index.ts'
import { type BatchHandler, type Handler, type Handlers, isBatchHandler, runError } from '../handlers/index.ts'
import {
  Attempt,
  type AttemptHost,
  batchOutcomes,
  cancelled,
  failed,
  type Outcome,
  type ReportSender,
  type RunLogSender,
  released,
  succeeded,
  succeededWithoutResult,
} from '../report/index.ts'
import { BatchCollector, BatchTurn, rankOfEntry } from './batch-collector.ts'
import { MissingHandlers } from './missing-handlers.ts'
import { ReadyQueue } from './ready-queue.ts'
import { RedeliveredRuns, restartsMax, type StartedRun, WaveTurn } from './redelivered-runs.ts'
import { RunningCalls } from './running-calls.ts'
import { callBatch, callHandler, toldSpan } from './spanned-calls.ts'
import { Supervisor } from './supervisor.ts'

const vanished = runError('WorkerLost', `${restartsMax + 1} workers died while they ran it`, false)
/** Handlers started before other work of the event loop may run. */
export const startsPerPumpMax = 256

export interface RunnerOptions {
  pool: string
  concurrency: number
  handlers: Handlers
  reportSender: ReportSender
  runLogs: RunLogSender
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** An entry is no longer held. Called before its handler runs. */
  onStarted(entry: Entry): void
  /** An entry needs no event. */
  onDone(entry: Entry): void
  /** An entry came before its time: the clock was ahead when it was found to be due. It is handed in again when it is due. */
  onEarly(entry: Entry): void
  /** Finds out which of these lanes are orphaned. It must not reject. */
  lookForOrphans(lanes: readonly Lane[]): Promise<void>
  /** Commits what is done. Resolves when the group has taken it, or after a time limit. It must not reject. */
  commit(): Promise<void>
  /** Whether the pool is paused: then nothing starts, and running handlers go on. Default: it is not. */
  isPaused?(): boolean
}

export class Runner implements AttemptHost {
  readonly logger: Logger
  readonly calls: RunningCalls
  readonly #options: RunnerOptions
  readonly #handlers: ReadonlyMap<string, Handler | BatchCollector>
  readonly #ready = new ReadyQueue<Entry | BatchTurn | WaveTurn>(rankMax + 1)
  readonly #redelivered: RedeliveredRuns
  readonly #supervisor: Supervisor
  readonly #cancels = new Cancellations()
  readonly #lateness: { observe(seconds: number): void }
  readonly #ended: Record<Outcome['type'], { inc(): void }>
  readonly #expired: { inc(): void }
  readonly #missing: MissingHandlers
  #pumping = false
  #nextPump: NodeJS.Immediate | undefined
  #stopped = false
  /** Entries that may start although the runner has stopped. */
  #last: ReadonlySet<Entry> = new Set()

  constructor(options: RunnerOptions) {
    this.#options = options
    this.logger = options.logger
    this.#missing = new MissingHandlers(options.logger)
    const { pool, metrics, clock, reportSender } = options
    this.#supervisor = new Supervisor(clock, reportSender, (attempt, outcome) => {
      this.#end(attempt, outcome)
      this.pump()
    })
    this.calls = new RunningCalls({
      supervisor: this.#supervisor,
      reportSender,
      gauge: metrics.running.labels(pool),
      fix: (attempt, outcome) => this.#fix(attempt, outcome),
      onFree: () => this.pump(),
    })
    this.#handlers = new Map(
      Object.entries(options.handlers).map(([name, handler]): [string, Handler | BatchCollector] => {
        if (!isBatchHandler(handler)) return [name, handler]
        const onRipe = (turn: BatchTurn): void => this.#ready.push(turn.level, turn)
        return [name, new BatchCollector(handler, clock, onRipe, () => this.pump())]
      }),
    )
    this.#redelivered = new RedeliveredRuns({
      clock,
      hasRoom: () => this.#hasRoom,
      start: (entry, known) => this.#startRedelivered(entry, known),
      lookForOrphans: options.lookForOrphans,
      commit: options.commit,
      onOrdinary: (entry) => this.ready(entry),
      onTurn: (turn) => this.#ready.push(turn.level, turn),
      onClosed: () => this.pump(),
    })
    // Nothing counts as due before that.
    clock.guard?.onTrusted(() => this.pump())
    this.#lateness = metrics.startLateness.labels(pool)
    this.#expired = metrics.attempts.labels(pool, 'expired')
    this.#ended = {
      SUCCEEDED: metrics.attempts.labels(pool, 'succeeded'),
      FAILED: metrics.attempts.labels(pool, 'failed'),
      RELEASED: metrics.attempts.labels(pool, 'released'),
      CANCELLED: metrics.attempts.labels(pool, 'cancelled'),
    }
  }

  /** The entry is due. It starts with the next pump that has a slot for it, or fails at once if its handler is missing. */
  ready(entry: Entry): void {
    if (entry.state !== 'held' || (this.#stopped && !this.#last.has(entry))) return
    // While reports are congested, it waits in the queue like others.
    if (entry.execution !== undefined && this.lacksHandler(entry) && !this.#options.reportSender.congested)
      return this.#failMissing(this.#begin(entry, entry.execution, null))
    const handler = this.#handlers.get(entry.execution?.handler ?? '')
    if (this.#redelivered.takes(entry)) return
    if (handler instanceof BatchCollector) handler.add(entry)
    else this.#ready.push(rankOfEntry(entry), entry)
  }

  /**
   * Starts all runs that may start. Call it when a run became due, a slot or room for reports became free, the pool is resumed, or
   * the clock is trusted again. Without a trusted clock nothing is due.
   */
  pump(): void {
    if (this.#pumping) return
    try {
      this.#pumping = true
      this.#startDue()
    } finally {
      this.#pumping = false
    }
  }

  #startDue(): void {
    let left = startsPerPumpMax
    if (this.#options.isPaused?.() === true) return
    this.#redelivered.offer()
    while (this.#hasRoom) {
      if (left <= 0) {
        this.#nextPump ??= setImmediate(() => {
          this.#nextPump = undefined
          this.pump()
        })
        break
      }
      // Read for each of them: a handler may have taken long.
      const nowMs = trustedMs(this.#options.clock)
      const item = nowMs === undefined ? undefined : this.#ready.next()
      if (item === undefined || nowMs === undefined) break
      if (item instanceof BatchTurn) left -= this.#startBatch(item, nowMs)
      else if (item instanceof WaveTurn) this.#redelivered.open(item)
      else if (item.state === 'held') this.#start(item, nowMs)
      left--
    }
  }

  get #hasRoom(): boolean {
    return this.calls.hasSlot(this.#options.concurrency) && !this.#options.reportSender.congested
  }

  progressed(attempt: Attempt): void {
    this.#supervisor.progressed(attempt)
  }

  logged(attempt: Attempt, level: unknown, text: unknown, fields: unknown): void {
    this.#options.runLogs.add(attempt, level, text, fields)
  }

  /** Aborts the running ones of these attempts and remembers the others: they are dropped when their turn comes. */
  cancel(cancellations: readonly Cancellation[]): void {
    for (const cancellation of this.calls.cancel(cancellations)) this.#cancels.add(cancellation)
  }

  /** Nothing starts any more except these, once they are handed in again. */
  stopStarting(but: ReadonlySet<Entry>): void {
    this.#stopped = true
    this.#last = but
    this.#ready.clear()
    this.#redelivered.clear()
    for (const handler of this.#handlers.values()) if (handler instanceof BatchCollector) handler.clear()
  }

  /** Whether the owner should not have dispatched the entry yet: then it is given back at once. */
  givesBack(entry: Entry, record: RecordIn): boolean {
    const { execution } = entry
    if (execution === undefined || !isMisdated(execution, record)) return false
    this.release(entry, execution)
    return true
  }

  /** Such a run is reported as soon as it is read, so that its owner can send it to another worker before it is due. */
  lacksHandler({ execution, tracked }: Entry): boolean {
    return execution !== undefined && tracked && !this.#handlers.has(execution.handler)
  }

  /** Gives back an entry that never started. */
  release(entry: Entry, execution: NonNullable<Entry['execution']>): void {
    this.#end(this.#begin(entry, execution, null), released)
  }

  #start(entry: Entry, nowMs: number): void {
    if (entry.dueAt > nowMs) return this.#options.onEarly(entry)
    const attempt = this.#admitted(entry, nowMs)
    if (attempt === undefined) return
    const handler = this.#handlers.get(attempt.execution.handler)
    if (typeof handler !== 'function') return this.#failMissing(attempt)
    this.#lateness.observe(Math.max(nowMs - attempt.dueAt, 0) / 1_000)
    if (entry.startsReported) return void this.#startReported([attempt], attempt.reported(), handler)
    let returned: unknown
    try {
      returned = callHandler(handler, attempt)
      if (isThenable(returned)) {
        this.calls.follow([attempt], returned, (value) => () => outcomeOf(attempt, value))
        return
      }
    } catch (error) {
      this.#end(attempt, failed(error))
      return
    }
    this.#end(attempt, outcomeOf(attempt, returned))
  }

  /** Returns the number of runs that it started. */
  #startBatch(turn: BatchTurn, nowMs: number): number {
    const attempts: Attempt[] = []
    for (const entry of turn.batchCollector.take(turn)) {
      const isEarly = entry.state === 'held' && entry.dueAt > nowMs
      if (isEarly) this.#options.onEarly(entry)
      const attempt = entry.state === 'held' && !isEarly ? this.#admitted(entry, nowMs) : undefined
      if (attempt !== undefined) attempts.push(attempt)
    }
    if (attempts.length === 0) return 0
    for (const { dueAt } of attempts) this.#lateness.observe(Math.max(nowMs - dueAt, 0) / 1_000)
    const reported = attempts.filter(({ entry }) => entry.startsReported).map((attempt) => attempt.reported())
    if (reported.length > 0) {
      void this.#startReported(attempts, Promise.all(reported), turn.batchCollector.handler)
      return attempts.length
    }
    const outcomes = (returned: unknown) => batchOutcomes(returned, attempts.length)
    let outcomeOf: (index: number) => Outcome
    try {
      const returned = callBatch(turn.batchCollector.handler, attempts)
      if (isThenable(returned)) {
        this.calls.follow(attempts, returned, outcomes)
        return attempts.length
      }
      outcomeOf = outcomes(returned)
    } catch (error) {
      outcomeOf = () => failed(error)
    }
    attempts.forEach((attempt, index) => {
      this.#end(attempt, outcomeOf(index))
    })
    return attempts.length
  }

  /** Starts a run of a wave. One of a batch handler is a batch of its own, so that it ends no other run with its worker. */
  #startRedelivered(entry: Entry, known: Promise<void>): StartedRun | undefined {
    const nowMs = this.#options.clock.nowMs()
    if (entry.dueAt > nowMs) this.#options.onEarly(entry)
    const attempt = entry.dueAt > nowMs ? undefined : this.#admitted(entry, nowMs)
    if (attempt === undefined) return undefined
    if (!entry.tracked && entry.restarts++ >= restartsMax) {
      this.#end(attempt, { type: 'FAILED', error: vanished })
      return { attempt, ended: Promise.resolve() }
    }
    const handler = this.#handlers.get(attempt.execution.handler)
    this.#lateness.observe(Math.max(nowMs - attempt.dueAt, 0) / 1_000)
    // Before its report is queued, which then goes at once.
    void attempt.reported()
    if (handler !== undefined)
      return { attempt, ended: this.#startReported([attempt], known, typeof handler === 'function' ? handler : handler.handler) }
    this.#failMissing(attempt)
    return { attempt, ended: Promise.resolve() }
  }

  /** The handler is called when `known` resolves: then the owners can miss attempts that end their worker. */
  #startReported(attempts: readonly Attempt[], known: Promise<unknown>, handler: Handler | BatchHandler): Promise<unknown> {
    const [first] = attempts as [Attempt]
    const isSingle = typeof handler === 'function'
    const call = (): unknown => (isSingle ? callHandler(handler, first) : callBatch(handler, attempts))
    const returned = known.then(() => (this.#mayStillStart(attempts) ? call() : undefined))
    const outcomesOf = (value: unknown) => (isSingle ? () => outcomeOf(first, value) : batchOutcomes(value, attempts.length))
    this.calls.follow(attempts, returned, outcomesOf)
    return returned
  }

  /**
   * The acknowledgement may come after the start deadline, when their owners may have expired them, or after a pause of the pool. Then they are
   * given back. Nobody would send an untracked run again, so one begins in spite of a pause that comes meanwhile.
   */
  #mayStillStart(attempts: readonly Attempt[]): boolean {
    const nowMs = this.#options.clock.nowMs()
    const isPaused = this.#options.isPaused?.() === true && attempts.every(({ entry }) => entry.tracked)
    const open = attempts.filter(({ outcome }) => outcome === undefined)
    if (!isPaused && attempts.every(({ execution }) => nowMs < execution.startDeadlineAt)) return open.length > 0
    for (const attempt of open) this.#end(attempt, attempt.entry.tracked ? released : cancelled)
    return false
  }

  /** The attempt to run, unless it must not start any more, which its owner already knows. */
  #admitted(entry: Entry, nowMs: number): Attempt | undefined {
    const execution = entry.execution as Execution
    const late = nowMs >= execution.startDeadlineAt
    // An attempt without a handler never starts.
    const startedAt = this.#handlers.has(execution.handler) ? nowMs : null
    if (!late && !this.#cancels.take(execution)) return this.#begin(entry, execution, startedAt)
    entry.state = 'started'
    this.#options.onStarted(entry)
    const counter = late ? this.#expired : this.#ended.CANCELLED
    counter.inc()
    this.#options.onDone(entry)
    return undefined
  }

  #begin(entry: Entry, execution: Execution, startedAt: number | null): Attempt {
    entry.state = 'started'
    entry.execution = undefined
    this.#options.onStarted(entry)
    return new Attempt(this, entry, execution, startedAt)
  }

  #end(attempt: Attempt, outcome: Outcome): void {
    this.#fix(attempt, outcome)
    this.#options.reportSender.push(attempt)
  }

  #fix(attempt: Attempt, outcome: Outcome): void {
    attempt.outcome = outcome
    attempt.endedAt = this.#options.clock.nowMs()
    this.#ended[outcome.type].inc()
    this.#options.runLogs.ended(attempt)
    toldSpan(attempt, outcome)
  }

  #failMissing(attempt: Attempt): void {
    const message = `no handler named "${attempt.execution.handler}" in this worker of pool "${this.#options.pool}"; it has: ${this.#names()}`
    this.#missing.log(attempt, message)
    this.#end(attempt, { type: 'FAILED', error: runError('handler-missing', message, true) })
  }

  #names = (): string => [...this.#handlers.keys()].slice(0, 20).join(', ') || 'none'
}

/** Nothing uses the result of an untracked run. */
function outcomeOf({ entry }: Attempt, returned: unknown): Outcome {
  return entry.tracked ? succeeded(returned) : succeededWithoutResult
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
