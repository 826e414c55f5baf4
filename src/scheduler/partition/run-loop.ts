/** The phase active: the loop that fires. */
import { type Timer, timerKind } from '../../../streams/state/index.ts'
import { trustedMs } from '../../clock/index.ts'
import { batchRecordsMax, type CycleResult, TimerSource } from '../commit/index.ts'
import { LostTimerSweeper } from '../timers/index.ts'
import { Closed, RoleChanged } from './assignment.ts'
import { FollowPace } from './follow-pace.ts'
import { IdlePosition } from './idle-position.ts'
import type { PartitionContext } from './partition-context.ts'
import { PauseChanges } from './pause-changes.ts'
import { TargetAppearances } from './target-appearances.ts'
import { WorkerChanges } from './worker-changes.ts'
import { ZoneChecks } from './zone-checks.ts'

/** Ahead topics hold nothing that is due later than this from now. It is twice the maximum of DUELOG_LEAD_MS_MAX. */
const aheadTopicMsMax = 120_000

/** What lets jobs follow changes outside of their logs, with timers that are never stored. */
interface Changes {
  zones: ZoneChecks
  workers: WorkerChanges
  targets: TargetAppearances
  pauses: PauseChanges
  pace: FollowPace
}

function changesOf(context: PartitionContext): Omit<Changes, 'zones'> {
  const pace = new FollowPace()
  return {
    workers: new WorkerChanges(context, pace),
    targets: new TargetAppearances(context),
    pauses: new PauseChanges(context, pace),
    pace,
  }
}

/** A timer that waits for reports is overdue, but not lost. */
const sweepAt = ({ reports, shared }: PartitionContext, sweeper: LostTimerSweeper): number =>
  reports.depth === 0 && (shared.idleTasks ?? true) ? sweeper.nextSweepAt : Number.POSITIVE_INFINITY

/**
 * Never resolves: it ends with an error or with Closed. Between two commits it waits for `lingerMs`, so that a commit carries
 * more. It does not wait if something is due, a caller waits for an answer, or a batch is full. Definitions are applied in the
 * meantime.
 */
export async function runLoop(context: PartitionContext): Promise<never> {
  const { shared, inputBuffer, store, index } = context
  const { clock, lingerMs } = shared
  const timerSource = new TimerSource(index, store, shared, context.heavyJobs)
  const onTimerScheduled = (timer: Timer): void => timerSource.scheduled(timer)
  const { admissionQueue, bulk } = context
  const { heavy } = context.resources
  admissionQueue.open(trustedMs(clock) ?? 0)
  const sweeper = new LostTimerSweeper(store, shared)
  const zones = new ZoneChecks(context, onTimerScheduled)
  const changes: Changes = { ...changesOf(context), zones }
  let lingerUntil = 0
  let isStopped = false
  const position = new IdlePosition(context)
  for (;;) {
    const now = trustedMs(clock)
    endIfLeft(context, now)
    if (now === undefined) {
      isStopped = true
      await context.nap(Number.POSITIVE_INFINITY)
      continue
    }
    // Reports that arrived in the meantime have wrong times, or were not read yet.
    if (isStopped) context.leases.grant(now)
    isStopped = false
    timerSource.defer(context.reports.released().map((timer) => ({ timer, untilMs: now })))
    const { dueAt } = timerSource
    const overdue = dueAt <= now
    // Before the first scan the due time of the next timer is unknown.
    context.dueAt = dueAt === 0 ? now : dueAt
    measure(context, overdue)
    // The end of a linger may come from a clock that was ahead.
    const lingers = now < lingerUntil && now >= lingerUntil - lingerMs
    if (lingers && !overdue && !isPressing(context, now)) {
      if (!inputBuffer.hasDefinitions) {
        await context.nap(lingerUntil)
        continue
      }
      // Most definitions need no commit (invariant I2), so a caller that waits for one need not wait for the next commit.
      inputBuffer.definitionsNext()
      const { committed } = await context.runCommitCycle([], { onTimerScheduled, firesDefined: true })
      if (committed) lingerUntil = clock.nowMs() + lingerMs
      continue
    }
    // Asked once, because taking timers and leaving room for them must agree.
    const isForWaiters = context.failureIsolation.isForWaiters(admissionQueue, now)
    const takenAtMs = clock.steadyMs()
    const timers = isForWaiters ? [] : await takeTimers(context, timerSource, changes, now)
    const options = { onTimerScheduled, isForWaiters, firesDefined: !isForWaiters, takesBulk: !isForWaiters }
    const result = await context.runCommitCycle(timers, options).finally(() => heavy.done(context))
    cycleEnded(context, timerSource, result, { timers, tookMs: clock.steadyMs() - takenAtMs, pace: changes.pace })
    if (result.committed) lingerUntil = clock.nowMs() + lingerMs
    await zones.cycleEnded(result.deferred)
    const areLeft = changes.workers.areLeft || changes.targets.areLeft || changes.pauses.areLeft || bulk.areOpen
    if (result.appliedCount > 0 || areLeft || context.admissionQueue.isPressing(clock.nowMs())) continue
    await index.compactPassed()
    // No timer was due and no record was read.
    const idleAt = trustedMs(clock)
    if (idleAt === undefined) continue
    if (context.reports.depth === 0 && sweeper.isDue && zones.areDone && timerSource.dueAt > idleAt) {
      const misdated = await sweeper.sweep(idleAt, onTimerScheduled)
      timerSource.defer(misdated.map((timer) => ({ timer, untilMs: idleAt })))
    }
    await position.logIfDue()
    await context.keepFresh()
    const checks = [position.nextCheckAt, zones.nextCheckAt, changes.workers.nextCheckAt, sweepAt(context, sweeper)]
    await context.nap(Math.min(timerSource.wakeAt(clock.nowMs()), context.wakeAt, ...checks))
  }
}

/** Whether something should not wait for the end of a linger. */
const isPressing = ({ admissionQueue, bulk, inputBuffer }: PartitionContext, now: number): boolean =>
  admissionQueue.isPressing(now) || bulk.areOpen || inputBuffer.urgent || inputBuffer.depth >= batchRecordsMax

function measure({ shared: { metrics }, partition, inputBuffer, activeRuns }: PartitionContext, overdue: boolean): void {
  metrics.timersOverdue.set({ partition }, overdue ? 1 : 0)
  metrics.mailboxDepth.set({ partition }, inputBuffer.depth)
  metrics.runsWithoutHandler.set({ partition }, activeRuns.counts.withoutHandler)
  metrics.runsInPausedPools.set({ partition }, activeRuns.counts.inPausedPools)
}

/** Keeps what waits. The lead follows how long commits take, and so does the number of runs that follow a change. */
function cycleEnded(
  context: PartitionContext,
  timerSource: TimerSource,
  result: CycleResult,
  { timers, tookMs, pace }: { timers: readonly Timer[]; tookMs: number; pace: FollowPace },
): void {
  timerSource.defer(result.deferred)
  context.reports.hold(result.awaiting)
  if (result.committed) timerSource.committedAfter(tookMs)
  pace.cycleEnded(timers.filter(({ kind }) => kind === timerKind.workers).length, tookMs)
}

/**
 * Throws the error that ends firing after the group gave the partition to another member. While the clock is not trusted, the
 * time for that is unknown.
 */
function endIfLeft(context: PartitionContext, now: number | undefined): void {
  const { isLeaving, leavingAt } = context.assignment
  if (now === undefined ? !isLeaving : context.shared.clock.steadyMs() < leavingAt) return
  if (context.role === 'standby') throw new RoleChanged()
  context.beginClose()
  throw new Closed()
}

/** The timers of the next commit cycle. */
async function takeTimers(
  context: PartitionContext,
  timerSource: TimerSource,
  { zones, workers, targets, pauses }: Changes,
  now: number,
): Promise<Timer[]> {
  // A clock that was ahead may have filled the ahead topics for hours. Workers give those runs back.
  const { aheadUntil } = context.positions.logged
  const aheadFrom = aheadUntil > now + aheadTopicMsMax ? 0 : aheadUntil
  const mayTakeHeavy = (): boolean => context.resources.heavy.begin(context, () => context.signal.wake())
  const timers = await timerSource.take(now, context.inputBuffer.depth > 0, aheadFrom, context.failureIsolation, mayTakeHeavy)
  const found = [...timers, ...(await zones.timers(timers.length))]
  found.push(...(await targets.timers(now, found.length)))
  found.push(...workers.timers(now, found.length))
  return [...found, ...(await pauses.timers(now, found.length))]
}
