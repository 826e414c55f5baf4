/**
 * Runs of a paused or drained pool.
 *
 *   to be dispatched ──► RETRY_WAIT with poolPausedAt ──the pool is resumed──► dispatched, or to the gate of its limits
 *        ▲                        └──expireAt of its job──► EXPIRED
 *        └──given back by a worker, or not started by its deadline── DISPATCHED
 *
 * The pause does not count: no attempt is lost, and the start deadline is later by as long as the run has waited.
 */
import type { ActiveRun } from '../../schemas/index.ts'
import { type Context, type Decision, patchRun, type Timer } from '../state/index.ts'
import { executionOf, leadMsLimit } from './dispatch.ts'
import { announceCancellation, finishRun } from './finish.ts'
import { beginAttempt } from './gate.ts'
import { expireAtOf, waitForPool } from './routing.ts'
import { checkLater } from './wait-checks.ts'

/** The time of a check has come. */
export function checkPool(draft: Decision, run: ActiveRun, { dueAt }: Timer, context: Context): void {
  const { now } = context
  if (dueAt > now) draft.deferUntil = dueAt
  else if (pauseOf(draft, run, context) === undefined) leavePool(draft, run, context)
  else if (now >= expireAtOf(draft)) expire(draft, run, context)
  else checkLater(draft, run, now)
}

/** The pools that are paused have changed. Nothing is decided if the pool of this run still is. */
export function followPool(draft: Decision, run: ActiveRun, context: Context): void {
  if (pauseOf(draft, run, context) === undefined) leavePool(draft, run, context)
}

/**
 * A dispatched run was not started by its deadline, and every report is applied that could say otherwise. If its pool was paused before
 * that, it waits as if it had not been dispatched. No worker starts its record, because the deadline is part of it. False: the pool is not
 * the cause.
 */
export function missedByPause(draft: Decision, run: ActiveRun, context: Context): boolean {
  const { now } = context
  const pause = pauseOf(draft, run, context)
  if (pause === undefined || pause.isDrained || now >= expireAtOf(draft)) return false
  const since = Math.max(pause.at, run.dueAt, run.dispatchedAt)
  if (since >= run.startDeadlineAt) return false
  announceCancellation(draft, run, 'pool-paused')
  const next = patchRun(draft, run, {
    ...{ attempt: run.attempt + 1, releasedAttempts: run.releasedAttempts + 1, poolPausedAt: since },
    unstartedAttempts: run.unstartedAttempts + 1,
  })
  waitForPool(draft, next, context, since)
  return true
}

/**
 * Its wait is not lateness of the owner or a worker, so the run is due now. It began to wait when it was due, or in its lead. If it is due
 * much later, a clock was ahead. If it is due a little later, it is dispatched in its usual lead.
 */
function leavePool(draft: Decision, waiting: ActiveRun, context: Context): void {
  const { now, leadMs } = context
  if (now >= expireAtOf(draft)) return expire(draft, waiting, context)
  const run = waiting.dueAt - now > leadMsLimit ? dueNow(waiting, now) : waiting
  if (run.dueAt - now > leadMs) return void patchRun(draft, run, { tellAt: null, poolPausedAt: null })
  const dueAt = Math.max(run.dueAt, now)
  const pausedMs = Math.max(now - Math.max(run.poolPausedAt ?? now, run.dueAt), 0)
  const startDeadlineAt = Math.min(run.startDeadlineAt + pausedMs, expireAtOf(draft))
  beginAttempt(draft, patchRun(draft, run, { dueAt, startDeadlineAt }), context)
}

const dueNow = (run: ActiveRun, now: number): ActiveRun => ({
  ...run,
  ...{ dueAt: now, startDeadlineAt: run.startDeadlineAt - (run.dueAt - now), dispatchedAt: Math.min(run.dispatchedAt, now) },
})

const pauseOf = (draft: Decision, run: ActiveRun, context: Context) =>
  context.pauseOf?.(executionOf(draft.job, run, context.now).pool)

const expire = (draft: Decision, run: ActiveRun, context: Context): void =>
  finishRun(draft, run, { status: 'EXPIRED', finishedAt: context.now, reason: 'pool-paused' }, context)
