/** The start of a run, and of the occurrence that waits under overlap QUEUE_ONE; and the end of a job that has nothing left to start. */
import type { ActiveRun, JobDefinition, RunLimits, Trigger } from '../../schemas/index.ts'
import { type Context, type Decision, patchState, pristineState, skip } from '../state/index.ts'
import { priorityOf, rankOf } from '../topics/index.ts'
import { firstLink } from './chain.ts'
import { beginAttempt } from './gate.ts'

type RunOptions = Partial<Pick<ActiveRun, 'commandId' | 'snapshot' | 'chainDepth' | 'chainLeft'>>

/** Starts a run and begins its first attempt. */
export function startRun(
  draft: Decision,
  spec: JobDefinition,
  trigger: Trigger,
  scheduledFor: number,
  dueAt: number,
  context: Context,
  more: RunOptions = {},
): ActiveRun {
  const run = makeRun(draft, spec, trigger, scheduledFor, dueAt, context, more)
  beginAttempt(draft, run, context)
  return run
}

/** Adds a run to the state. Its first attempt does not begin yet. */
export function makeRun(
  draft: Decision,
  spec: JobDefinition,
  trigger: Trigger,
  scheduledFor: number,
  dueAt: number,
  context: Context,
  more: RunOptions,
): ActiveRun {
  const before = draft.job.state ?? pristineState(draft.job)
  const runNo = before.runNo + 1
  const limits = limitsOf(spec)
  const run: ActiveRun = {
    runNo,
    specOffset: draft.job.definition?.offset ?? -1,
    scheduledFor,
    trigger,
    commandId: null,
    ...firstLink,
    // A run with limits holds no slot before it has passed the gate.
    status: limits === null ? 'DISPATCHED' : 'WAITING',
    attempt: 1,
    ...{ releasedAttempts: 0, unstartedAttempts: 0 },
    dueAt,
    parked: false,
    tellAt: null,
    routedTo: null,
    handlerMissingAt: null,
    poolPausedAt: null,
    snapshot: false,
    snapshotRunNo: null,
    startDeadlineAt: Math.min(Math.max(dueAt, context.now) + spec.startDeadlineMs, spec.expireAt ?? Number.POSITIVE_INFINITY),
    leaseMs: spec.leaseMs,
    attemptTimeoutMs: spec.attemptTimeoutMs,
    dispatchedAt: context.now,
    startedAt: null,
    worker: null,
    waitsFor: null,
    limits,
    errors: [],
    ...more,
  }
  const scheduled = trigger === 'SCHEDULE'
  const scheduledRuns = before.scheduledRuns + (scheduled ? 1 : 0)
  const spent = spec.maxRuns !== null && scheduledRuns >= spec.maxRuns
  patchState(draft, {
    runNo,
    scheduledRuns,
    latestFiredFor: scheduled ? latestFired(spec, scheduledFor, before.latestFiredFor) : before.latestFiredFor,
    nextFireAt: spent ? null : before.nextFireAt,
    active: [...before.active, run],
    finishedAt: null,
    deleteAt: null,
  })
  return run
}

/** Starts the occurrence that QUEUE_ONE has queued, once no run is active. */
export function startQueued(draft: Decision, context: Context): void {
  const { state, definition } = draft.job
  const spec = definition?.spec
  if (state === undefined || spec === undefined || state.queuedFor === null) return
  if (state.status !== 'ACTIVE' || state.active.length > 0) return
  const { queuedFor } = state
  patchState(draft, { queuedFor: null })
  if (isOver(spec, context.now)) {
    return skip(draft, 'expired', 1, { at: context.now, scheduledFor: queuedFor })
  }
  startRun(draft, spec, 'SCHEDULE', queuedFor, Math.max(queuedFor, context.now), context)
}

/** For a schedule with one instant it is that instant, so it never fires again, also if an earlier schedule fired for a later time. */
function latestFired({ schedule }: JobDefinition, scheduledFor: number, before: number | null): number {
  return schedule.at === null ? Math.max(scheduledFor, before ?? scheduledFor) : scheduledFor
}

function limitsOf(spec: JobDefinition): RunLimits | null {
  const { concurrencyKey, concurrencyLimit, rateLimit, startDeadlineMs } = spec
  if (concurrencyKey === null && rateLimit === null) return null
  return {
    concurrencyKey,
    concurrencyLimit,
    rateKey: rateLimit?.key ?? null,
    rateLimit: rateLimit?.limit ?? 1,
    ratePerMs: rateLimit?.perMs ?? 1,
    rank: rankOf(priorityOf(spec), 1),
    startDeadlineMs,
  }
}

/** The end of a job: its validity and its completion. */

/** Whether expireAt has come. It is exclusive, so a run has to start before it. */
export const isOver = ({ expireAt }: JobDefinition, now: number): boolean => expireAt !== null && now >= expireAt

/** Makes a job without future occurrence and active run COMPLETED, and sets its deletion. */
export function completeIfDone(draft: Decision, now: number): void {
  const { state, definition } = draft.job
  if (state === undefined || state.nextFireAt !== null || state.active.length > 0) return
  if (state.queuedFor !== null || state.backfill !== null || state.followUps !== null) return
  if (state.status === 'INVALID' || definition?.spec === undefined) return
  const { retainCompletedMs, retainFailedMs } = definition.spec
  const failed = state.lastRun !== null && !['SUCCEEDED', 'CANCELLED'].includes(state.lastRun.status)
  patchState(draft, { status: 'COMPLETED', finishedAt: now, deleteAt: now + (failed ? retainFailedMs : retainCompletedMs) })
}
