/** The phase active: the loop that fires, and when it logs its positions while it is idle. */

import { leadMsLimit } from '../../../streams/runs/index.ts'
import type { Timer } from '../../../streams/state/index.ts'
import { atSteady, trustedMs } from '../../ground/clock/index.ts'
import { batchRecordsMax, type CycleResult, TimerSource } from '../commit/index.ts'
import { idleCheckMs } from '../state/index.ts'
import { LostTimerSweeper } from '../timers/index.ts'
import { Closed, RoleChanged } from './assignment.ts'
import { OutsideChanges } from './outside-changes.ts'
import type { PartitionContext } from './partition-context.ts'
import { ZoneChecks } from './zone-checks.ts'

/**
 * An owner that lost the partition in the group commits so often. Its next commit fails once the successor has fenced it, and
 * it ends.
 */
const leavingMs = 200
/**
 * A store that lacks more records is not warm (assignment.ts). This also applies without standbys: a new member follows
 * before it owns.
 */
const unloggedMax = 1_000
/** Maximum time that definitions, and ends of transactions after commands, stay unlogged while nothing else is committed. */
const idleMs = 1_000

/**
 * Decides when an idle owner logs its positions although it has nothing else to log. Standbys apply definitions only up to the
 * logged position. A successor would take records for lost that expired after it: heartbeats, marks, and records that no reader
 * is shown.
 */
export class IdlePosition {
  readonly #context: PartitionContext
  /** By the steady clock. */
  #dueAt = Number.POSITIVE_INFINITY

  constructor(context: PartitionContext) {
    this.#context = context
  }

  /** When `logIfDue` must be called again. */
  get nextCheckAt(): number {
    return atSteady(this.#context.shared.clock, this.#dueAt)
  }

  /** Call it while no timer is due and no input is waiting. */
  async logIfDue(): Promise<void> {
    const context = this.#context
    const steadyMs = context.shared.clock.steadyMs()
    const waitMs = this.#waitMs
    if (waitMs < Number.POSITIVE_INFINITY && this.#dueAt <= steadyMs) {
      await context.logPosition(true)
      this.#dueAt = Number.POSITIVE_INFINITY
    } else this.#dueAt = waitMs < Number.POSITIVE_INFINITY ? Math.min(this.#dueAt, steadyMs + waitMs) : waitMs
  }

  get #waitMs(): number {
    const context = this.#context
    const { positions } = context.input
    if (context.assignment.isLeaving) return leavingMs
    const isFollowed = (context.shared.standbys ?? 0) > 0 || positions.applied.jobs - positions.logged.jobsOffset > unloggedMax
    if (isFollowed && positions.isUnlogged('jobs')) return idleMs
    if (positions.isUnlogged('commands')) return idleMs
    // Reports and definitions arrive all the time. They are not worth a commit each.
    return positions.isUnlogged('events') || positions.isUnlogged('jobs') ? idleCheckMs : Number.POSITIVE_INFINITY
  }
}

/** Ahead topics hold nothing that is due later than this from now. It is twice the maximum of DUELOG_LEAD_MS_MAX. */
const aheadTopicMsMax = 2 * leadMsLimit

/** What lets jobs follow changes outside of their logs, with timers that are never stored. */
interface Changes {
  zones: ZoneChecks
  outside: OutsideChanges
}

/** A timer that waits for reports is overdue, but not lost. */
const sweepAt = ({ input: { reports }, shared }: PartitionContext, sweeper: LostTimerSweeper): number =>
  reports.depth === 0 && (shared.idleTasks ?? true) ? sweeper.nextSweepAt : Number.POSITIVE_INFINITY

/**
 * Never resolves: it ends with an error or with Closed. Between two commits it waits for `lingerMs`, so that a commit carries
 * more. It does not wait if something is due, a caller waits for an answer, or a batch is full. Definitions are applied in the
 * meantime.
 */
export async function runLoop(context: PartitionContext): Promise<never> {
  const { shared, admissionQueue, input } = context
  const { store, index, heavyJobs } = context.local
  const { clock, lingerMs } = shared
  const timerSource = new TimerSource(index, store, shared, heavyJobs)
  const onTimerScheduled = (timer: Timer): void => timerSource.scheduled(timer)
  admissionQueue.open(trustedMs(clock) ?? 0)
  const sweeper = new LostTimerSweeper(store, shared)
  const zones = new ZoneChecks(context, onTimerScheduled)
  const outside = new OutsideChanges(context)
  let lingerUntil = 0
  let isStopped = false
  const position = new IdlePosition(context)
  for (;;) {
    const now = trustedMs(clock)
    endIfLeft(context, now)
    if (now === undefined) {
      isStopped = true
      await context.life.nap(Number.POSITIVE_INFINITY)
      continue
    }
    // Reports that arrived in the meantime have wrong times, or were not read yet.
    if (isStopped) context.activity.leases.grant(now)
    isStopped = false
    timerSource.defer(context.input.reports.released().map((timer) => ({ timer, untilMs: now })))
    const { dueAt } = timerSource
    const overdue = dueAt <= now
    // Before the first scan the due time of the next timer is unknown.
    context.dueAt = dueAt === 0 ? now : dueAt
    measure(context, overdue)
    // The end of a linger may come from a clock that was ahead.
    const lingers = now < lingerUntil && now >= lingerUntil - lingerMs
    if (lingers && !overdue && !isPressing(context, now)) {
      if (!input.buffer.hasDefinitions) {
        await context.life.nap(lingerUntil)
        continue
      }
      // Most definitions need no commit (invariant I2), so a caller that waits for one need not wait for the next commit.
      input.buffer.definitionsNext()
      const { committed } = await context.runCommitCycle([], { onTimerScheduled, firesDefined: true })
      if (committed) lingerUntil = clock.nowMs() + lingerMs
      continue
    }
    // Asked once, because taking timers and leaving room for them must agree.
    const isForWaiters = context.failureIsolation.isForWaiters(admissionQueue, now)
    const takenAtMs = clock.steadyMs()
    const timers = isForWaiters ? [] : await takeTimers(context, timerSource, { zones, outside }, now)
    const options = { onTimerScheduled, isForWaiters, firesDefined: !isForWaiters, takesHookedJobs: !isForWaiters }
    const result = await context.runCommitCycle(timers, options).finally(() => context.resources.heavy.done(context))
    const tookMs = clock.steadyMs() - takenAtMs
    cycleEnded(context, timerSource, result, { tookMs, timers: timers.length })
    outside.cycleEnded(timers, tookMs)
    if (result.committed) lingerUntil = clock.nowMs() + lingerMs
    await zones.cycleEnded(result.deferred)
    if (result.appliedCount > 0 || outside.areLeft || context.areHooksPressing) continue
    if (context.admissionQueue.isPressing(clock.nowMs())) continue
    await index.compactPassed()
    // No timer was due and no record was read.
    const idleAt = trustedMs(clock)
    if (idleAt === undefined) continue
    if (context.input.reports.depth === 0 && sweeper.isDue && zones.areDone && timerSource.dueAt > idleAt) {
      const misdated = await sweeper.sweep(idleAt, onTimerScheduled)
      timerSource.defer(misdated.map((timer) => ({ timer, untilMs: idleAt })))
    }
    await position.logIfDue()
    await context.keepFresh()
    const checks = [position.nextCheckAt, zones.nextCheckAt, outside.nextCheckAt, sweepAt(context, sweeper)]
    await context.life.nap(Math.min(timerSource.wakeAt(clock.nowMs()), context.wakeAt, ...checks))
  }
}

/** Whether something should not wait for the end of a linger. */
const isPressing = (
  { admissionQueue, areHooksPressing, input: { buffer: inputBuffer } }: PartitionContext,
  now: number,
): boolean => admissionQueue.isPressing(now) || areHooksPressing || inputBuffer.urgent || inputBuffer.depth >= batchRecordsMax

function measure(
  { shared: { metrics }, partition, input: { buffer: inputBuffer }, activity: { activeRuns } }: PartitionContext,
  overdue: boolean,
): void {
  metrics.timersOverdue.set({ partition }, overdue ? 1 : 0)
  metrics.mailboxDepth.set({ partition }, inputBuffer.depth)
  metrics.runsWithoutHandler.set({ partition }, activeRuns.counts.withoutHandler)
  metrics.runsInPausedPools.set({ partition }, activeRuns.counts.inPausedPools)
}

/** Keeps what waits. The lead follows how long commits take. */
function cycleEnded(
  context: PartitionContext,
  timerSource: TimerSource,
  result: CycleResult,
  { tookMs, timers }: { tookMs: number; timers: number },
): void {
  timerSource.defer(result.deferred)
  context.input.reports.hold(result.awaiting)
  if (result.committed) timerSource.committedAfter(tookMs, timers - result.deferred.length)
}

/**
 * Throws the error that ends firing after the group gave the partition to another member. While the clock is not trusted, the
 * time for that is unknown.
 */
function endIfLeft(context: PartitionContext, now: number | undefined): void {
  const { isLeaving, leavingAt } = context.assignment
  if (now === undefined ? !isLeaving : context.shared.clock.steadyMs() < leavingAt) return
  if (context.life.role === 'standby') throw new RoleChanged()
  context.life.beginClose()
  throw new Closed()
}

/** The timers of the next commit cycle. */
async function takeTimers(
  context: PartitionContext,
  timerSource: TimerSource,
  { zones, outside }: Changes,
  now: number,
): Promise<Timer[]> {
  // A clock that was ahead may have filled the ahead topics for hours. Workers give those runs back.
  const { aheadUntil } = context.input.positions.logged
  const aheadFrom = aheadUntil > now + aheadTopicMsMax ? 0 : aheadUntil
  const mayTakeHeavy = (): boolean => context.resources.heavy.begin(context, () => context.signal.wake())
  const timers = await timerSource.take(now, context.input.buffer.depth > 0, aheadFrom, context.failureIsolation, mayTakeHeavy)
  const found = [...timers, ...(await zones.timers(timers.length))]
  return [...found, ...(await outside.timers(now, found.length))]
}
