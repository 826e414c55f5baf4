/**
 * The worker of one pool. It reads executions, holds each until it is due, runs its handler in one of `concurrency` slots, and
 * reports to the owner of the job's partition. It accesses only the log, the clock and the handlers.
 *
 *   control ──┐   cancellations, pinned runs
 *   consumer ─┴──► held (TimerQueue) ──► ready (by priority) ──► runner ──► report sender ──► committer
 *
 * An offset is committed once the broker has an event about its attempt. A crash before that means redelivery. A crash after it
 * is detected by the owner through the lease. An untracked run has no events; its offset waits for its end.
 */
import type { Execution, ExecutionEvent, ExecutionEventInput, WorkerControl } from '../../schemas/index.ts'
import type { TopicNames } from '../../streams/topics/index.ts'
import { type AbsenceReason, type Clock, ClockAbsence } from '../clock/index.ts'
import { withTimeout } from '../concurrency/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { Logger } from '../logging/index.ts'
import type { Metrics } from '../metrics/index.ts'
import { type Codec, GroupNotKept, type Log, type Pauses, type RecordIn } from '../ports/index.ts'
import { version } from '../process/index.ts'
import {
  ControlConsumer,
  type Entry,
  ExecutionConsumer,
  type Lane,
  lookForOrphans,
  OffsetCommitter,
  PinnedRuns,
} from './consume/index.ts'
import { Announcement, type GivenHandlers, type Hook, handlerProblem, preparedHandlers } from './handlers/index.ts'
import { type Attempt, ReportSender, RunLogSender, type RunLogSenderOptions } from './report/index.ts'
import {
  clearTheWay,
  handBack,
  handOver,
  lastReportsMsMax,
  PoolPauseWatch,
  Runner,
  TimerQueue,
  UntrackedRuns,
} from './run/index.ts'

/** How long before an execution is due its owner usually dispatches it; see DUELOG_LEAD_MS. */
const leadMsDefault = 100
/** How long redelivered runs wait until the group takes the offsets that pass them. */
const startCommitMsMax = 3_000
/** At the start, how long executions wait until the earlier cancellations are read. */
const cancelsReadMsMax = 3_000

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
  /** The owners' usual lead in ms. Default 100. Records of the ahead lanes stay in the log until then. */
  leadMs?: number
  /** Whether this worker or its pool is paused. Owned by the caller. Default: they are not. */
  pauses?: Pauses | undefined
  /** What it announces to its group besides its pool, slots, version and handlers. */
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
  readonly #untracked: UntrackedRuns
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
  #isStarted = false
  /** It stops or is away, and others do not count it as a worker of its name any more. */
  #hasLeft = false
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
    this.#untracked = new UntrackedRuns({ pool, clock, metrics, logger, onDone: (entry) => this.#done(entry) })
    const shared = { log, instance, clock, logger }
    this.#runLogs = new RunLogSender({ ...shared, codec: codecs.runLog, topic: names.runLogs, pool, metrics })
    this.#reportSender = new ReportSender({
      ...{ ...shared, codec: codecs.event, topic: names.events, lingerMs: options.reportLingerMs },
      beforeReport: (attempt) => this.#runLogs.beforeReport(attempt),
      onUntracked: (attempt) => this.#untracked.ended(attempt),
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
    this.#absence = new ClockAbsence({ clock, leave: (why) => this.#handBack(why), join: () => this.#comeBack() })
  }

  /** Joins the group. Rejects when the broker cannot be reached. */
  async start(): Promise<void> {
    this.#isStarted = true
    await this.#reportSender.open()
    await this.#control.start()
    // A run that was cancelled in the backlog would start before its cancellation is read.
    await withTimeout(this.#options.clock, cancelsReadMsMax, this.#control.caughtUp())
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
    const { pool, concurrency, handlers, hooks = [], clock, metrics } = this.#options
    return new Runner({
      pool,
      concurrency,
      handlers: preparedHandlers(handlers, hooks, this.#logger),
      reportSender: this.#reportSender,
      runLogs: this.#runLogs,
      ...{ clock, metrics, logger: this.#logger },
      onStarted: (entry) => this.#started(entry),
      onDone: (entry) => this.#done(entry),
      onEarly: (entry) => this.#held.add(entry.dueAt, entry),
      lookForOrphans: (lanes) => this.#lookForOrphans(lanes),
      commit: () => this.#committer.commitWithin(startCommitMsMax),
      isPaused: () => this.#pause.isPaused && this.#stopping === undefined,
    })
  }

  /** What was closed is committed as open, before anything of it starts. */
  async #lookForOrphans(lanes: readonly Lane[]): Promise<void> {
    const { log, names, pool, clock } = this.#options
    await lookForOrphans(lanes, { log, names, pool, clock, logger: this.#logger })
    const closed = lanes.filter(({ isOrphaned }) => isOrphaned === false)
    for (const lane of closed) this.#committer.touch(lane)
    if (closed.length > 0) await this.#committer.commitWithin(startCommitMsMax)
  }

  #newPauseWatch(): PoolPauseWatch {
    const { pauses, pool, instance, clock } = this.#options
    return new PoolPauseWatch({
      ...{ pauses, pool, clock },
      onChanged: () => {
        this.#absence.tell(pauses?.isWorkerPaused(instance) === true)
        this.#runner.pump()
      },
      giveBack: () => this.#giveBackHeld(),
    })
  }

  /** Untracked runs cannot be given back; they stay here until the pool is resumed. */
  #giveBackHeld(): void {
    if (this.#stopping !== undefined || this.#absence.isAway) return
    const held = [...this.#consumer.lanes].flatMap((lane) => lane.heldEntries())
    for (const entry of [...this.#pinned.heldEntries(), ...held]) {
      if (entry.tracked && entry.execution !== undefined) this.#runner.release(entry, entry.execution)
    }
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
      onRevoked: (lanes) => handOver(lanes, { runner: this.#runner, committer: this.#committer, clock }),
      onNotKept: () => void this.#announcement.end(),
      onTaken: (entry, record) => this.#runner.givesBack(entry, record) || this.#taken(entry),
      onBatchTaken: () => this.#runner.pump(),
      onDone: (lane) => this.#committer.touch(lane),
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
      const held = execution.tracked && (isRouted || !this.#hasLeft) ? this.#pinned.take(record, execution) : undefined
      if (held !== undefined && isRouted) this.#runner.release(held, execution)
      return this.#pinned.room()
    }
    const entry = this.#pinned.take(record, execution)
    if (entry !== undefined) this.#taken(entry)
    this.#runner.pump()
    return this.#pinned.room()
  }

  #started(entry: Entry): void {
    if (!entry.tracked) {
      this.#untracked.opened(entry)
      this.#committer.touch(entry.lane)
    }
    if (this.#pinned.has(entry)) this.#pinned.release(entry)
    else this.#consumer.release(entry)
  }

  #acked(attempts: readonly Attempt[]): void {
    for (const attempt of attempts) {
      this.#done(attempt.entry)
      attempt.acknowledged()
    }
    this.#runner.pump()
  }

  #done(entry: Entry): void {
    if (entry.state === 'done') return
    entry.lane.done(entry)
    if (!entry.tracked) this.#untracked.closed(entry)
    this.#committer.touch(entry.lane)
  }

  async #stop(): Promise<void> {
    const { clock, drainMs } = this.#options
    this.#absence.stop()
    this.#pause.stop()
    this.#consumer.stopTaking()
    this.#stopStarting()
    const beganMs = clock.steadyMs()
    await withTimeout(clock, drainMs, this.#untracked.settled())
    const leftMs = Math.max(drainMs - (clock.steadyMs() - beganMs), 0)
    // Other workers get the partitions before the drain, because due runs must not wait for our handlers.
    await withTimeout(clock, lastReportsMsMax, this.#reportSender.flush())
    await this.#committer.commitWithin(lastReportsMsMax)
    this.#committer.stop()
    await this.#consumer
      .leave()
      .catch((error: unknown) =>
        this.#logger.warn(
          { event: 'group-not-left', err: error },
          'The group could not be left; it waits until the session ends.',
        ),
      )
    this.#left()
    await withTimeout(clock, leftMs, this.#runner.calls.drained())
    this.#runner.calls.releaseAll()
    await this.#control
      .stop()
      .catch((error: unknown) =>
        this.#logger.warn(
          { event: 'group-not-left', err: error },
          'The group of worker-control could not be left; it waits until the session ends.',
        ),
      )
    await withTimeout(clock, lastReportsMsMax, Promise.all([this.#reportSender.flush(), this.#runLogs.flush()]))
    await Promise.all([this.#reportSender.close(), this.#runLogs.close()])
  }

  async #handBack(why: AbsenceReason): Promise<void> {
    const { clock, drainMs } = this.#options
    await handBack({
      consumer: this.#consumer,
      pinned: this.#pinned,
      runner: this.#runner,
      untracked: this.#untracked,
      reportSender: this.#reportSender,
      committer: this.#committer,
      ...{ clock, drainMs, why, logger: this.#logger },
    })
    this.#left()
  }

  /** Other workers of its name take from now on what is pinned to it. So what it holds of that is given back now and not before. */
  #left(): void {
    this.#hasLeft = true
    for (const entry of this.#pinned.heldEntries())
      if (entry.execution !== undefined) this.#runner.release(entry, entry.execution)
  }

  async #comeBack(): Promise<void> {
    this.#hasLeft = false
    await this.#consumer.comeBack()
  }

  /** Gives back the runs that are held and must not start. Starts the untracked runs, which cannot be given back. */
  #stopStarting(): void {
    const toRun = clearTheWay(this.#consumer.lanes, this.#runner, this.#pinned)
    this.#runner.stopStarting(toRun)
    this.#held.clear()
    // Untracked runs end here first.
    for (const entry of toRun) {
      this.#untracked.opened(entry)
      this.#taken(entry)
    }
    this.#runner.pump()
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
