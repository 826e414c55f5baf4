/**
 * The worker of one pool. It reads executions, holds each until it is due, runs its handler in one of `concurrency` slots, and
 * reports to the owner of the job's partition. It accesses only the log, the clock and the handlers.
 *
 *   control ──┐   cancellations, pinned runs
 *   intake ───┴──► hold (Timetable) ──► ready (by priority) ──► runner ──► outbox ──► committer
 *
 * An offset is committed once the broker has an event about its attempt. A crash before that means redelivery. A crash after it
 * is detected by the owner through the lease. An untracked run has no events; its offset waits for its end.
 */
import type { Logger } from 'pino'
import type { Execution, ExecutionEvent, ExecutionEventInput, WorkerControl } from '../../schemas/index.ts'
import type { TopicNames } from '../../streams/topics/index.ts'
import { type Clock, ClockAbsence } from '../clock/index.ts'
import { withTimeout } from '../concurrency/index.ts'
import { DuelogError, messageOf } from '../errors/index.ts'
import type { Metrics } from '../metrics/index.ts'
import type { Codec, Log } from '../ports/index.ts'
import { version } from '../process/index.ts'
import { ControlConsumer, type Entry, ExecutionConsumer, OffsetCommitter, PinnedRuns } from './consume/index.ts'
import { type Handlers, handlerProblem } from './handlers/index.ts'
import { type Attempt, ReportSender } from './report/index.ts'
import { handBack, lastReportsMsMax, Runner, TimerQueue, UntrackedRuns } from './run/index.ts'

/** How long before an execution is due its owner usually dispatches it; see DUELOG_LEAD_MS. */
const leadMsDefault = 100
/** At the start, how long executions wait until the earlier cancellations are read. */
const cancelsReadMsMax = 3_000

export interface ExecutorOptions {
  log: Log
  codecs: {
    execution: Codec<Execution, never>
    event: Codec<ExecutionEvent, ExecutionEventInput>
    control: Codec<WorkerControl, never>
  }
  names: TopicNames
  pool: string
  /** Handlers that run at once, at least 1. */
  concurrency: number
  handlers: Handlers
  /** name@host:pid:boot, sent with each event. */
  instance: string
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** How long stop() lets handlers finish before it gives their attempts back. */
  drainMs: number
  /** The owners' usual lead in ms. Default 100. Records of the ahead lanes stay in the log until then. */
  leadMs?: number
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

export interface Executor {
  /** Joins the group. Rejects when the broker cannot be reached. */
  start(): Promise<void>
  /**
   * Takes nothing more, hands its partitions to others, lets handlers finish for `drainMs`, then aborts their signals and gives
   * their attempts back. Safe to call twice, and before start.
   */
  stop(): Promise<void>
  /** Aborts the signals of all handlers now, and gives their attempts back. */
  giveBack(): void
  current(): ExecutorView
}

export function createExecutor(options: ExecutorOptions): Executor {
  const { log, codecs, names, pool, concurrency, instance, clock, metrics } = options
  if (!(Number.isInteger(concurrency) && concurrency >= 1)) {
    throw new DuelogError(
      'bad-config',
      `concurrency of pool "${pool}" is ${concurrency}; it must be a whole number of at least 1`,
    )
  }
  for (const [name, handler] of Object.entries(options.handlers)) {
    const problem = handlerProblem(name, handler)
    if (problem !== undefined) throw new DuelogError('bad-config', problem)
  }
  const logger = options.logger.child({ pool })
  const committer = new OffsetCommitter(clock, logger, async (positions) => {
    await intake.commit(positions)
    intake.committed()
  })
  const done = (entry: Entry): void => {
    if (entry.state === 'done') return
    entry.state = 'done'
    entry.execution = undefined
    if (!entry.tracked) untracked.closed(entry)
    committer.touch(entry.lane)
  }
  const untracked = new UntrackedRuns({ pool, clock, metrics, logger, onDone: done })
  const reportSender = new ReportSender({
    log,
    codec: codecs.event,
    topic: names.events,
    ...{ instance, clock, logger },
    onUntracked: (attempt) => untracked.ended(attempt),
    onAcked: (attempts: readonly Attempt[]) => {
      for (const attempt of attempts) done(attempt.entry)
      runner.pump()
    },
  })
  const runner: Runner = new Runner({
    pool,
    concurrency,
    handlers: options.handlers,
    reportSender,
    ...{ clock, metrics, logger },
    onStarted: (entry) => {
      if (!entry.tracked) untracked.opened(entry)
      if (pinned.has(entry)) pinned.release(entry)
      else intake.release(entry)
    },
    onDone: done,
    onEarly: (entry) => hold.add(entry.dueAt, entry),
  })
  const hold: TimerQueue<Entry> = new TimerQueue<Entry>(
    clock,
    (entry) => runner.ready(entry),
    () => runner.pump(),
  )
  const taken = (entry: Entry): void => {
    if (entry.dueAt <= clock.nowMs()) runner.ready(entry)
    else hold.add(entry.dueAt, entry)
  }
  const pinned = new PinnedRuns()
  const control = new ControlConsumer({
    log,
    codecs,
    names,
    pool,
    instance,
    clock,
    metrics,
    logger,
    onCancel: (cancellations) => runner.cancel(cancellations),
    onRun: (record, execution) => {
      // The run was meant for a worker that has stopped. Its owner sends it again.
      if (stopping !== undefined || absence.isAway) return
      const entry = pinned.take(record, execution)
      if (entry !== undefined) taken(entry)
      runner.pump()
      return pinned.room()
    },
  })
  const intake: ExecutionConsumer = new ExecutionConsumer({
    log,
    codec: codecs.execution,
    names,
    pool,
    instance,
    userData: () => ({ instance, pool, concurrency, version }),
    leadMs: options.leadMs ?? leadMsDefault,
    clock,
    metrics,
    logger,
    onRebalance: () => void committer.commitNow(),
    onTaken: (entry, record) => runner.givesBack(entry, record) || taken(entry),
    onBatchTaken: () => runner.pump(),
    onDone: (lane) => committer.touch(lane),
  })

  const parts = { intake, pinned, runner, untracked, reportSender, committer, clock, logger }
  const absence: ClockAbsence = new ClockAbsence({
    clock,
    leave: () => handBack({ ...parts, drainMs: options.drainMs }),
    join: () => intake.comeBack(),
  })

  const stop = async (): Promise<void> => {
    absence.stop()
    intake.stopTaking()
    // No commit could pass an entry before a started one, and the started one would run again elsewhere.
    const inTheWay = [...intake.lanes].flatMap((lane) => lane.heldBeforeStarted())
    const toRun = inTheWay.filter(({ tracked }) => !tracked)
    runner.stopStarting(new Set(toRun))
    hold.clear()
    for (const entry of [...pinned.heldEntries(), ...inTheWay]) {
      if (entry.tracked && entry.execution !== undefined) runner.release(entry, entry.execution)
    }
    // Nothing takes back an untracked run, and the next owner of its partition would run it again. So it ends here first.
    for (const entry of toRun) {
      untracked.opened(entry)
      taken(entry)
    }
    runner.pump()
    const beganMs = clock.steadyMs()
    await withTimeout(clock, options.drainMs, untracked.settled())
    const drainMs = Math.max(options.drainMs - (clock.steadyMs() - beganMs), 0)
    // Other workers get the partitions before the drain, because due runs must not wait for our handlers.
    await withTimeout(clock, lastReportsMsMax, reportSender.flush())
    await withTimeout(clock, lastReportsMsMax, committer.commitNow())
    committer.stop()
    await intake.leave().catch((error: unknown) => logger.warn({ error: messageOf(error) }, 'could not leave the group'))
    await withTimeout(clock, drainMs, runner.calls.drained())
    runner.calls.releaseAll()
    await control.stop().catch((error: unknown) => logger.warn({ error: messageOf(error) }, 'could not leave worker-control'))
    await withTimeout(clock, lastReportsMsMax, reportSender.flush())
    await reportSender.close()
  }
  let stopping: Promise<void> | undefined
  let started = false

  return {
    async start() {
      started = true
      await reportSender.open()
      await control.start()
      // A run that was cancelled in the backlog would start before its cancellation is read.
      await withTimeout(clock, cancelsReadMsMax, control.caughtUp())
      if (stopping !== undefined) return
      await intake.start()
      absence.start()
    },
    stop() {
      stopping ??= started ? stop() : Promise.resolve()
      return stopping
    },
    giveBack: () => runner.calls.releaseAll(),
    current: () => ({
      pool,
      concurrency,
      running: Array.from(runner.calls.running, ({ jobId, runNo, attempt, startedAt, progress, message }) => {
        return { jobId, runNo, attempt, startedAt: startedAt ?? 0, progress, message }
      }),
      held: Array.from(intake.lanes).reduce((sum, lane) => sum + lane.held, pinned.held),
      reportsPending: reportSender.pending,
    }),
  }
}
