/**
 * Gate that every attempt passes before it is dispatched: first a slot of its concurrencyKey, then a start under its rateLimit.
 *
 *   ──► slot free, nobody waits ──► start soon enough ──► dispatched
 *          │ no                        │ later
 *       WAITING for SLOT ──admitted──► WAITING for RATE, with its slot ──its time──► dispatched
 *
 * A run without limits passes unchanged. A waiting run keeps its start deadline and expires by it.
 */
import type { ActiveRun, RateLimit } from '../../schemas/index.ts'
import {
  type Context,
  type Decision,
  holdsSlot,
  isSameWaiter,
  patchRun,
  rateOf,
  refuse,
  reserveStart,
  slotLimitOf,
  slotUse,
  type Waiter,
  type WaitingReason,
  waiterOf,
} from '../state/index.ts'
import { priorityOf, rankOf } from '../topics/index.ts'
import { dispatch, executionOf, mayBeEarly } from './dispatch.ts'
import { expireAtOf, routeOf, waits } from './routing.ts'
import { writableRecord } from './topic-record.ts'

/** Begins the current attempt of a run, at once or as soon as its limits allow. */
export function beginAttempt(draft: Decision, run: ActiveRun, context: Context): void {
  if (run.limits === null) return dispatch(draft, run, context)
  const arrived = patchRun(draft, run, { startDeadlineAt: startDeadlineOf(draft, run, context.now) })
  const execution = executionOf(draft.job, run, context.now)
  // It takes no slot and no start while no worker could use them.
  if (waits(draft, arrived, routeOf(execution, run.worker, context), context)) return
  if (holdsSlot(run) || slotIsFree(draft, run, context)) return beginInTime(draft, arrived, context)
  const rank = rankOf(priorityOf(execution), run.attempt - run.releasedAttempts)
  wait(draft, arrived, { waitsFor: 'SLOT', limits: { ...run.limits, rank } }, 'concurrency-limit', context.now)
}

/** Gives the first waiting run of a key a slot, if one is free. */
export function admit(draft: Decision, waiter: Waiter, context: Context): void {
  const run = draft.job.state?.active.find(({ runNo }) => runNo === waiter.runNo)
  const known = run === undefined ? undefined : waiterOf(draft.job.id, run)
  if (run === undefined || known === undefined || !isSameWaiter(known, waiter)) {
    draft.admission = 'gone'
    return
  }
  const limit = slotLimitOf(draft.job.definition?.spec, run)
  draft.slotLimits = new Map(draft.slotLimits).set(waiter.key, limit)
  if (slotsTaken(draft, waiter.key, context).held >= limit) {
    draft.admission = 'refused'
    return
  }
  draft.admission = 'admitted'
  if (waits(draft, run, routeOf(executionOf(draft.job, run, context.now), null, context), context)) return
  // It is due now, because its wait is not lateness of the owner or a worker.
  beginInTime(draft, patchRun(draft, run, { dueAt: Math.max(run.dueAt, context.now) }), context)
}

/** The reserved start of a run has come, at most one lead early. */
export function beginReserved(draft: Decision, run: ActiveRun, context: Context): void {
  const leadMs = mayBeEarly(draft.job, run) ? context.leadMs : 0
  if (run.dueAt - context.now > leadMs) draft.deferUntil = run.dueAt - leadMs
  else dispatch(draft, run, context)
}

function beginInTime(draft: Decision, run: ActiveRun, context: Context): void {
  const { now } = context
  const rate = topicIsThere(draft, run, context) ? rateOf(draft.job.definition?.spec, run) : null
  const at = rate === null ? run.dueAt : giveStart(draft, run, rate, context)
  if (at === undefined) return
  const due = patchRun(draft, run, { dueAt: at })
  // It may be early also without a rate, if the clock was set back since it was due.
  if (at - now <= (mayBeEarly(draft.job, run) ? context.leadMs : 0)) dispatch(draft, due, context)
  else wait(draft, due, { waitsFor: 'RATE' }, rate === null ? undefined : 'rate-limit', now)
}

/** Reserves a start. Undefined: the start would be after its deadline, so the run expires. */
function giveStart(draft: Decision, run: ActiveRun, rate: RateLimit, { now, limits }: Context): number | undefined {
  // A run that was released before its time still has its start.
  if (run.status === 'DISPATCHED' && run.dueAt > now) return run.dueAt
  const before = draft.starts.get(rate.key) ?? limits.starts(rate.key)
  const { at, starts } = reserveStart(before, rate, Math.max(run.dueAt, now), now)
  if (at < run.startDeadlineAt) {
    draft.starts = new Map(draft.starts).set(rate.key, starts)
    return at
  }
  // No start is taken from others. The run ends in the next commit cycle, so that no step has to end many runs.
  const startDeadlineAt = Math.min(now, run.startDeadlineAt)
  wait(draft, run, { waitsFor: 'RATE', dueAt: at, startDeadlineAt }, 'rate-limit', now)
  return undefined
}

/** Without `reason` the run does not wait because of a limit. */
function wait(
  draft: Decision,
  run: ActiveRun,
  patch: Partial<ActiveRun> & Pick<ActiveRun, 'waitsFor'>,
  reason: WaitingReason | undefined,
  now: number,
): void {
  const { scheduledFor, runNo } = patchRun(draft, run, {
    status: 'WAITING',
    parked: false,
    startedAt: null,
    worker: null,
    ...patch,
  })
  if (reason === undefined) return
  refuse(draft, { at: now, what: 'WAITING', reason, scheduledFor, runNo })
  draft.notes.push({ kind: 'waiting', reason })
}

/** Runs that wait already go first. */
function slotIsFree(draft: Decision, run: ActiveRun, context: Context): boolean {
  const key = run.limits?.concurrencyKey ?? null
  if (key === null) return true
  const limit = slotLimitOf(draft.job.definition?.spec, run)
  draft.slotLimits = new Map(draft.slotLimits).set(key, limit)
  const { held, waiting } = slotsTaken(draft, key, context)
  return waiting === 0 && held < limit
}

/** Slot use of all jobs for a key, with the changes of this step. */
function slotsTaken(draft: Decision, key: string, context: Context): { held: number; waiting: number } {
  const all = context.limits.slots(key)
  const [before, now] = [slotUse(draft.before, key), slotUse(draft.job.state, key)]
  return { held: all.held + now.held - before.held, waiting: all.waiting + now.waiting - before.waiting }
}

/**
 * Start deadline of the attempt. A run keeps its deadline if it only checks again for its topic or for a worker with its handler, if
 * it goes to another worker, or if its pool was paused.
 */
function startDeadlineOf(draft: Decision, run: ActiveRun, now: number): number {
  const expireAt = expireAtOf(draft)
  if (run.handlerMissingAt !== null || run.poolPausedAt !== null || run.status === 'DISPATCHED')
    return Math.min(run.startDeadlineAt, expireAt)
  if (run.status === 'RETRY_WAIT' && !mayBeEarly(draft.job, run)) return run.startDeadlineAt
  return Math.min(Math.max(run.dueAt, now) + (run.limits?.startDeadlineMs ?? 0), expireAt)
}

/** A run that will only wait for its topic takes no start. */
function topicIsThere({ job }: Decision, run: ActiveRun, context: Context): boolean {
  const execution = executionOf(job, run, context.now)
  const place = execution.topicTarget
  if (place === null) return true
  return writableRecord(execution, place, context.topicProblem).problem === undefined
}
