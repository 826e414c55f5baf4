/** Decides which of the due runs starts next, while there are slots. */
import type { Execution } from '../../../../schemas/index.ts'
import { rankMax } from '../../../../streams/topics/index.ts'
import { type Clock, trustedMs } from '../../../ground/clock/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Metrics } from '../../../ground/metrics/index.ts'
import { type Cancellation, Cancellations, type Entry, type Lane } from '../consume/index.ts'
import { type BatchHandler, type Handler, type Handlers, isBatchHandler, runError } from '../handlers/index.ts'
import { type Attempt, type ReportSender, type RunLogSender, released } from '../report/index.ts'
import { BatchCollector, BatchTurn, rankOfEntry } from './batch-collector.ts'
import { HandlerCalls } from './handler-calls.ts'
import { ReadyQueue } from './ready-queue.ts'
import { RedeliveredRuns, type StartedRun, WaveTurn } from './redelivered-runs.ts'

/** Handlers started before other work of the event loop may run. */
export const startsPerPumpMax = 256
/** Names of missing handlers that are logged, each once: every run of the job comes by here. */
export const missingLoggedMax = 100

export interface RunnerOptions {
  pool: string
  concurrency: number
  handlers: Handlers
  reportSender: ReportSender
  runLogs: RunLogSender
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** An entry came before its time: the clock was ahead when it was found to be due. It is handed in again when it is due. */
  onEarly(entry: Entry): void
  /** Finds out which of these lanes are orphaned. It must not reject. */
  lookForOrphans(lanes: readonly Lane[]): Promise<void>
  /** Commits what is done. Resolves when the group has taken it, or after a time limit. It must not reject. */
  commit(): Promise<void>
  /** Whether the pool is paused: then nothing starts, and running handlers go on. Default: it is not. */
  isPaused?(): boolean
}

export class Runner {
  readonly calls: HandlerCalls
  readonly #options: RunnerOptions
  readonly #handlers: ReadonlyMap<string, Handler | BatchCollector>
  readonly #ready = new ReadyQueue<Entry | BatchTurn | WaveTurn>(rankMax + 1)
  readonly #redelivered: RedeliveredRuns
  readonly #cancels = new Cancellations()
  readonly #lateness: { observe(seconds: number): void }
  readonly #expired: { inc(): void }
  readonly #cancelled: { inc(): void }
  readonly #missingLogged = new Set<string>()
  #pumping = false
  #nextPump: NodeJS.Immediate | undefined
  #stopped = false

  constructor(options: RunnerOptions) {
    this.#options = options
    const { pool, metrics, clock } = options
    this.calls = new HandlerCalls({ ...options, onFree: () => this.pump() })
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
    this.#cancelled = metrics.attempts.labels(pool, 'cancelled')
  }

  /** The entry is due. It starts with the next pump that has a slot for it, or fails at once if its handler is missing. */
  ready(entry: Entry): void {
    if (entry.state !== 'held' || this.#stopped) return
    // While reports are congested, it waits in the queue like others.
    if (entry.execution !== undefined && this.lacksHandler(entry) && !this.#options.reportSender.congested)
      return this.#failMissing(this.calls.begin(entry, entry.execution, null))
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

  /** Aborts the running ones of these attempts and remembers the others: they are dropped when their turn comes. */
  cancel(cancellations: readonly Cancellation[]): void {
    for (const cancellation of this.calls.cancel(cancellations)) this.#cancels.add(cancellation)
  }

  /** Nothing starts any more. */
  stopStarting(): void {
    this.#stopped = true
    this.#ready.clear()
    this.#redelivered.clear()
    for (const handler of this.#handlers.values()) if (handler instanceof BatchCollector) handler.clear()
  }

  /** Such a run is reported as soon as it is read, so that its owner can send it to another worker before it is due. */
  lacksHandler({ execution }: Entry): boolean {
    return execution !== undefined && !this.#handlers.has(execution.handler)
  }

  /** Gives back entries that are held. */
  release(entries: Iterable<Entry>): void {
    for (const entry of entries)
      if (entry.execution !== undefined) this.calls.end(this.calls.begin(entry, entry.execution, null), released)
  }

  #start(entry: Entry, nowMs: number): void {
    if (entry.dueAt > nowMs) return this.#options.onEarly(entry)
    const attempt = this.#admitted(entry, nowMs)
    if (attempt === undefined) return
    const handler = this.#handlers.get(attempt.execution.handler)
    if (typeof handler !== 'function') return this.#failMissing(attempt)
    this.#lateness.observe(Math.max(nowMs - attempt.dueAt, 0) / 1_000)
    if (entry.startsReported) void this.#callLater(handler, [attempt], attempt.reported())
    else this.calls.call(handler, attempt)
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
    const { handler } = turn.batchCollector
    if (reported.length > 0) void this.#callLater(handler, attempts, Promise.all(reported))
    else this.calls.callBatch(handler, attempts)
    return attempts.length
  }

  /** Starts a run of a wave. One of a batch handler is a batch of its own, so that it ends no other run with its worker. */
  #startRedelivered(entry: Entry, known: Promise<void>): StartedRun | undefined {
    const nowMs = this.#options.clock.nowMs()
    if (entry.dueAt > nowMs) this.#options.onEarly(entry)
    const attempt = entry.dueAt > nowMs ? undefined : this.#admitted(entry, nowMs)
    if (attempt === undefined) return undefined
    const handler = this.#handlers.get(attempt.execution.handler)
    this.#lateness.observe(Math.max(nowMs - attempt.dueAt, 0) / 1_000)
    // Before its report is queued, which then goes at once.
    void attempt.reported()
    if (handler !== undefined)
      return { attempt, ended: this.#callLater(typeof handler === 'function' ? handler : handler.handler, [attempt], known) }
    this.#failMissing(attempt)
    return { attempt, ended: Promise.resolve() }
  }

  /** When `known` resolves, the owners can miss attempts that end their worker. */
  #callLater(handler: Handler | BatchHandler, attempts: readonly Attempt[], known: Promise<unknown>): Promise<unknown> {
    return this.calls.callLater(handler, attempts, known, () => this.#mayStillStart(attempts))
  }

  /**
   * The acknowledgement may come after the start deadline, when their owners may have expired them, or after a pause of the pool. Then they are
   * given back.
   */
  #mayStillStart(attempts: readonly Attempt[]): boolean {
    const nowMs = this.#options.clock.nowMs()
    const isPaused = this.#options.isPaused?.() === true
    const open = attempts.filter(({ outcome }) => outcome === undefined)
    if (!isPaused && attempts.every(({ execution }) => nowMs < execution.startDeadlineAt)) return open.length > 0
    for (const attempt of open) this.calls.end(attempt, released)
    return false
  }

  /** The attempt to run, unless it must not start any more, which its owner already knows. */
  #admitted(entry: Entry, nowMs: number): Attempt | undefined {
    const execution = entry.execution as Execution
    const late = nowMs >= execution.startDeadlineAt
    // An attempt without a handler never starts.
    const startedAt = this.#handlers.has(execution.handler) ? nowMs : null
    if (!late && !this.#cancels.take(execution)) return this.calls.begin(entry, execution, startedAt)
    entry.start()
    const counter = late ? this.#expired : this.#cancelled
    counter.inc()
    entry.done()
    return undefined
  }

  #failMissing(attempt: Attempt): void {
    const { jobId, execution } = attempt
    const { handler } = execution
    const has = [...this.#handlers.keys()].slice(0, 20).join(', ') || 'none'
    const message = `no handler named "${handler}" in this worker of pool "${this.#options.pool}"; it has: ${has}`
    if (!this.#missingLogged.has(handler) && this.#missingLogged.size < missingLoggedMax) {
      this.#missingLogged.add(handler)
      this.#options.logger.warn(
        { event: 'handler-missing', jobId, handler },
        `A run is left to other workers: ${message}. Give this worker the handler, or a pool of its own, if it should run such jobs.`,
      )
    }
    this.calls.end(attempt, { type: 'FAILED', error: runError('handler-missing', message, true) })
  }
}
