/**
 * The worker of one pool. It reads executions, holds each until it is due, runs its handler in one of `concurrency` slots, and
 * reports to the owner of the job's partition. It accesses only the log, the clock and the handlers.
 *
 *   control ──┐   cancellations, pinned runs
 *   consumer ─┴──► held (TimerQueue) ──► ready (by priority) ──► runner ──► report sender ──► committer
 *
 * An offset is committed once the broker has an event about its attempt. A crash before that means redelivery. A crash after it
 * is detected by the owner through the lease.
 */
import type { Execution, ExecutionEvent, ExecutionEventInput, WorkerControl } from '../../../schemas/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import { type AbsenceReason, type Clock, ClockAbsence } from '../../ground/clock/index.ts'
import { withTimeout } from '../../ground/concurrency/index.ts'
import { DuelogError, GroupNotKept } from '../../ground/errors/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { Codec, Log, Pauses, RecordIn } from '../../ground/ports/index.ts'
import { version } from '../../ground/process/index.ts'
import {
  ControlConsumer,
  type Entry,
  ExecutionConsumer,
  isMisdated,
  lookForOrphans,
  OffsetCommitter,
  PinnedRuns,
} from './consume/index.ts'
import { Announcement, type GivenHandlers, type Hook, handlerProblem, preparedHandlers } from './handlers/index.ts'
import { type Attempt, ReportSender, RunLogSender, type RunLogSenderOptions } from './report/index.ts'
import { HandBack, lastReportsMsMax, PoolPauseWatch, Runner, TimerQueue } from './run/index.ts'

/** How long before an execution is due its owner usually dispatches it; see DUELOG_LEAD_MS. */
const leadMsDefault = 100

export interface ExecutorOptions {
  log: Log
  codecs: {
    execution: Codec<Execution, never>
    event: Codec<ExecutionEvent, ExecutionEventInput>
    control: Codec<WorkerControl, never>
    /** Absent: the lines of run.log are not kept. */
    runLog?: RunLogSenderOptions['codec']
  }
  names: TopicNames
  pool: string
  /** Handlers that run at once, at least 1. */
  concurrency: number
  handlers: GivenHandlers
  /** Around each run, the first one outermost. Default: none. */
  hooks?: readonly Hook[] | undefined
  /** name@host:pid:boot, sent with each event. */
  instance: string
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** How long stop() lets handlers finish before it gives their attempts back. */
  drainMs: number
  /** The owners' usual lead in ms. Default 100. Records of the ahead topics stay in the log until then. */
  leadMs?: number
  /** Whether this worker or its pool is paused. Owned by the caller. Default: they are not. */
  pauses?: Pauses | undefined
  /** Its announcement to its group, besides its pool, slots, version and handlers. */
  announced?: (() => object) | undefined
  /** How long a report waits for others to share its send, in ms. Default 10. */
  reportLingerMs?: number
}

export interface ExecutorView {
  pool: string
  concurrency: number
  /** Handlers that have not returned. */
  running: { jobId: string; runNo: number; attempt: number; startedAt: number; progress: number | null; message: string | null }[]
  /** Taken from the log and not started: not yet due, or waiting for a slot. */
  held: number
  /** Reports queued or in flight. */
  reportsPending: number
}

export class Executor {
  readonly #options: ExecutorOptions
  readonly #logger: Logger
  readonly #committer: OffsetCommitter
  readonly #reportSender: ReportSender
  readonly #runLogs: RunLogSender
  readonly #runner: Runner
  /** Runs that are not due yet. */
  readonly #held: TimerQueue<Entry>
  readonly #pinned = new PinnedRuns()
  readonly #announcement: Announcement
  readonly #control: ControlConsumer
  readonly #consumer: ExecutionConsumer
  readonly #absence: ClockAbsence
  readonly #pause: PoolPauseWatch
  readonly #handBack: HandBack
  #isStarted = false
  #stopping: Promise<void> | undefined

  /** Throws DuelogError `bad-config`. */
  constructor(options: ExecutorOptions) {
    checkOptions(options)
    this.#options = options
    const { pool, clock, metrics, names, instance, log, codecs } = options
    const logger = options.logger.child({ pool })
    this.#logger = logger
    this.#announcement = new Announcement(options.handlers, { pool, logger })
    this.#committer = new OffsetCommitter(clock, logger, async (positions) => {
      await this.#consumer.commit(positions)
      this.#consumer.committed()
    })
    const shared = { log, instance, clock, logger }
    this.#runLogs = new RunLogSender({ ...shared, codec: codecs.runLog, topic: names.runLogs, pool, metrics })
    this.#reportSender = new ReportSender({
      ...{ ...shared, codec: codecs.event, topic: names.events, lingerMs: options.reportLingerMs },
      beforeReport: (attempt) => this.#runLogs.beforeReport(attempt),
      onAcked: (attempts) => this.#acked(attempts),
    })
    this.#pause = this.#newPauseWatch()
    this.#runner = this.#newRunner()
    this.#held = new TimerQueue<Entry>(
      clock,
      (entry) => this.#ready(entry),
      () => this.#runner.pump(),
    )
    this.#control = this.#newControlConsumer()
    this.#consumer = this.#newExecutionConsumer()
    this.#handBack = new HandBack({
      ...{ consumer: this.#consumer, pinned: this.#pinned, runner: this.#runner, reportSender: this.#reportSender },
      ...{ committer: this.#committer, clock, logger },
    })
    const [leave, join] = [(why: AbsenceReason) => this.#handBack.goAway(why), () => this.#handBack.comeBack()]
    this.#absence = new ClockAbsence({ clock, leave, join })
  }

  /** Joins the group. Rejects when the broker cannot be reached. */
  async start(): Promise<void> {
    this.#isStarted = true
    await this.#reportSender.open()
    await this.#control.start()
    // A run that was cancelled in the backlog would start before its cancellation is read.
    await this.#control.caughtUp()
    if (this.#stopping !== undefined) return
    await this.#consumer.start().catch((error: unknown) => this.#startUnannounced(error))
    this.#absence.start()
    this.#pause.start()
  }

  /**
   * Takes nothing more, hands its partitions to others, lets handlers finish for `drainMs`, then aborts their signals and gives
   * their attempts back. Safe to call twice, and before start.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#isStarted ? this.#stop() : Promise.resolve()
    return this.#stopping
  }

  /** Without this worker's announcement the group may be small enough. */
  #startUnannounced(error: unknown): Promise<void> {
    if (!(error instanceof GroupNotKept && this.#announcement.end())) throw error
    return this.#consumer.start()
  }

  /** Aborts the signals of all handlers now, and gives their attempts back. */
  giveBack(): void {
    this.#runner.calls.releaseAll()
  }

  current(): ExecutorView {
    return {
      pool: this.#options.pool,
      concurrency: this.#options.concurrency,
      running: Array.from(this.#runner.calls.running, ({ jobId, runNo, attempt, startedAt, progress, message }) => {
        return { jobId, runNo, attempt, startedAt: startedAt ?? 0, progress, message }
      }),
      held: Array.from(this.#consumer.lanes).reduce((sum, lane) => sum + lane.held, this.#pinned.held),
      reportsPending: this.#reportSender.pending,
    }
  }

  #newRunner(): Runner {
    const { log, names, pool, concurrency, handlers, hooks = [], clock, metrics } = this.#options
    return new Runner({
      pool,
      concurrency,
      handlers: preparedHandlers(handlers, hooks, this.#logger),
      reportSender: this.#reportSender,
      runLogs: this.#runLogs,
      ...{ clock, metrics, logger: this.#logger },
      onEarly: (entry) => this.#held.add(entry.dueAt, entry),
      lookForOrphans: (lanes) =>
        lookForOrphans(lanes, { log, names, pool, clock, logger: this.#logger, committer: this.#committer }),
      commit: () => this.#committer.commitStarts(),
      isPaused: () => this.#pause.isPaused,
    })
  }

  #newPauseWatch(): PoolPauseWatch {
    const { pauses, pool, instance, clock } = this.#options
    return new PoolPauseWatch({
      ...{ pauses, pool, clock },
      onChanged: () => {
        this.#absence.tell(pauses?.isWorkerPaused(instance) === true)
        this.#runner.pump()
      },
      giveBack: () => {
        if (this.#stopping === undefined && !this.#absence.isAway) this.#handBack.all()
      },
    })
  }

  #newControlConsumer(): ControlConsumer {
    const { log, codecs, names, pool, instance, clock, metrics } = this.#options
    return new ControlConsumer({
      ...{ log, codecs, names, pool, instance, clock, metrics, logger: this.#logger },
      onCancel: (cancellations) => this.#runner.cancel(cancellations),
      onRun: (record, execution) => this.#takePinned(record, execution),
    })
  }

  #newExecutionConsumer(): ExecutionConsumer {
    const { log, codecs, names, pool, concurrency, instance, clock, metrics, announced, leadMs = leadMsDefault } = this.#options
    return new ExecutionConsumer({
      ...{ log, codec: codecs.execution, names, pool, instance, leadMs, clock, metrics, logger: this.#logger },
      userData: () => ({ ...announced?.(), instance, pool, concurrency, version, handlers: this.#announcement.handlers }),
      onRebalance: () => void this.#committer.commitNow(),
      onRevoked: (lanes) => this.#handBack.handOver(lanes),
      onNotKept: () => void this.#announcement.end(),
      onTaken: (entry) => (isMisdated(entry) ? this.#runner.release([entry]) : this.#taken(entry)),
      onBatchTaken: () => this.#runner.pump(),
      onAdvanced: (lane) => this.#committer.touch(lane),
    })
  }

  #taken(entry: Entry): void {
    this.#pause.taken()
    if (entry.dueAt <= this.#options.clock.nowMs() || this.#runner.lacksHandler(entry)) this.#ready(entry)
    else this.#held.add(entry.dueAt, entry)
  }

  /** It may wait in a batch, which the next commit tells. */
  #ready(entry: Entry): void {
    this.#runner.ready(entry)
    if (entry.batch !== undefined) this.#committer.touch(entry.lane)
  }

  #takePinned(record: RecordIn, execution: Execution): void | Promise<void> {
    if (this.#stopping !== undefined || this.#absence.isAway) {
      // Its owner does not know yet that this worker stops. Until it has left, others of its name leave to it what is pinned to the name.
      const isRouted = execution.pinTo === null
      const held = isRouted || !this.#handBack.hasLeft ? this.#pinned.take(record, execution) : undefined
      if (held !== undefined && isRouted) this.#runner.release([held])
      return this.#pinned.room()
    }
    const entry = this.#pinned.take(record, execution)
    if (entry !== undefined) this.#taken(entry)
    this.#runner.pump()
    return this.#pinned.room()
  }

  #acked(attempts: readonly Attempt[]): void {
    for (const attempt of attempts) {
      attempt.entry.done()
      attempt.acknowledged()
    }
    this.#runner.pump()
  }

  async #stop(): Promise<void> {
    const { clock, drainMs } = this.#options
    this.#absence.stop()
    this.#pause.stop()
    this.#consumer.stopTaking()
    this.#handBack.clearTheWay()
    this.#runner.stopStarting()
    this.#held.clear()
    // Other workers get the partitions before the drain, because due runs must not wait for our handlers.
    await this.#handBack.leave()
    this.#committer.stop()
    await withTimeout(clock, drainMs, this.#runner.calls.drained())
    this.#runner.calls.releaseAll()
    await this.#control.stop()
    await withTimeout(clock, lastReportsMsMax, Promise.all([this.#reportSender.flush(), this.#runLogs.flush()]))
    await Promise.all([this.#reportSender.close(), this.#runLogs.close()])
  }
}

function checkOptions({ pool, concurrency, handlers }: ExecutorOptions): void {
  if (!(Number.isInteger(concurrency) && concurrency >= 1)) {
    throw new DuelogError(
      'bad-config',
      `concurrency of pool "${pool}" is ${concurrency}; it must be a whole number of at least 1`,
    )
  }
  for (const [name, handler] of Object.entries(handlers)) {
    const problem = handlerProblem(name, handler)
    if (problem !== undefined) throw new DuelogError('bad-config', problem)
  }
}
