/**
 * The one gate that every attempt passes on its way to a worker: a slot of its concurrencyKey first, then a start under its rateLimit.
 *
 *   ──► slot free, nobody waits ──► start soon enough ──► dispatched
 *          │ no                        │ later
 *       WAITING for SLOT ──admitted──► WAITING for RATE, with its slot ──its time──► dispatched
 *
 * A run without limits passes untouched. One that waits keeps the start deadline it came with, and expires by it.
 */
import type { ActiveRun } from '../../schemas/generated.ts'
import { patchRun } from '../draft.ts'
import type { Context, Decision } from '../job.ts'
import type { Waiter } from '../keys.ts'
import { holdsSlot, isSameWaiter, slotLimitOf, slotUse, waiterOf } from '../limits/slots.ts'
import { rateOf, reserveStart } from '../limits/starts.ts'
import { refuse } from '../refusals.ts'
import { dispatch, executionOf, mayBeEarly } from './dispatch.ts'
import { recordBytes, topicRecord } from './topic-record.ts'

/** Lets the current attempt of a run go, at once or as soon as its limits allow. */
export function beginAttempt(draft: Decision, run: ActiveRun, context: Context): void {
  if (run.limits === null) return dispatch(draft, run, context)
  const arrived = patchRun(draft, run, { startDeadlineAt: startDeadlineOf(draft, run, context.now) })
  if (holdsSlot(run) || slotIsFree(draft, run, context)) return beginInTime(draft, arrived, context)
  wait(draft, arrived, 'SLOT', {}, context)
}

/** The run at the head of a key's queue gets its slot, if there is one. */
export function admit(draft: Decision, waiter: Waiter, context: Context): void {
  const run = draft.job.state?.active.find(({ runNo }) => runNo === waiter.runNo)
  const known = run === undefined ? undefined : waiterOf(draft.job.id, run)
  if (run === undefined || known === undefined || !isSameWaiter(known, waiter)) {
    draft.admission = 'gone'
    return
  }
  const limit = slotLimitOf(draft.job, run)
  draft.slotLimits.set(waiter.key, limit)
  if (slotsTaken(draft, waiter.key, context).held >= limit) {
    draft.admission = 'refused'
    return
  }
  draft.admission = 'admitted'
  // It is due now: that it waited is no lateness of the owner's or of a worker's.
  beginInTime(draft, patchRun(draft, run, { dueAt: Math.max(run.dueAt, context.now) }), context)
}

/** The time has come that was reserved for a run. Taken early by no more than the lead. */
export function beginReserved(draft: Decision, run: ActiveRun, context: Context): void {
  const leadMs = mayBeEarly(draft.job, run) ? context.leadMs : 0
  if (run.dueAt - context.now > leadMs) draft.deferUntil = run.dueAt - leadMs
  else dispatch(draft, run, context)
}

function beginInTime(draft: Decision, run: ActiveRun, context: Context): void {
  const rate = rateOf(draft.job, run)
  if (rate === null || !topicIsThere(draft, run, context)) return dispatch(draft, run, context)
  const { now } = context
  const before = draft.starts.get(rate.key) ?? context.limits.starts(rate.key)
  // What was given back before its time has its start still.
  const reserved = run.status === 'DISPATCHED' && run.startedAt === null && run.dueAt > now
  const { at, starts } = reserved ? { at: run.dueAt, starts: before } : reserveStart(before, rate, Math.max(run.dueAt, now))
  // No start is taken from the others for a run that cannot use it: it expires in the next turn, so that no step has to end many.
  if (at > run.startDeadlineAt)
    return wait(draft, run, 'RATE', { dueAt: at, startDeadlineAt: Math.min(now, run.startDeadlineAt) }, context)
  if (starts !== undefined) draft.starts.set(rate.key, starts)
  const due = patchRun(draft, run, { dueAt: at })
  if (at - now <= (mayBeEarly(draft.job, run) ? context.leadMs : 0)) dispatch(draft, due, context)
  else wait(draft, due, 'RATE', {}, context)
}

function wait(
  draft: Decision,
  run: ActiveRun,
  waitsFor: NonNullable<ActiveRun['waitsFor']>,
  more: Partial<ActiveRun>,
  context: Context,
): void {
  const reason = waitsFor === 'SLOT' ? 'concurrency-limit' : 'rate-limit'
  patchRun(draft, run, { status: 'WAITING', waitsFor, parked: false, startedAt: null, worker: null, ...more })
  refuse(draft, { at: context.now, what: 'WAITING', reason, scheduledFor: run.scheduledFor, runNo: run.runNo })
  draft.notes.push({ kind: 'waiting', reason })
}

/** Whoever waits already goes first. */
function slotIsFree(draft: Decision, run: ActiveRun, context: Context): boolean {
  const key = run.limits?.concurrencyKey ?? null
  if (key === null) return true
  const limit = slotLimitOf(draft.job, run)
  draft.slotLimits.set(key, limit)
  const { held, waiting } = slotsTaken(draft, key, context)
  return waiting === 0 && held < limit
}

/** What all jobs take of a key, this step's own changes included. */
function slotsTaken(draft: Decision, key: string, context: Context): { held: number; waiting: number } {
  const all = context.limits.slots(key)
  const [before, now] = [slotUse(draft.before, key), slotUse(draft.job.state, key)]
  return { held: all.held + now.held - before.held, waiting: all.waiting + now.waiting - before.waiting }
}

/** Until when the attempt must have started. A run that only looks for its topic again keeps the deadline it has. */
function startDeadlineOf(draft: Decision, run: ActiveRun, now: number): number {
  if (run.status === 'RETRY_WAIT' && !mayBeEarly(draft.job, run)) return run.startDeadlineAt
  const expireAt = draft.job.definition?.spec?.expireAt ?? Number.POSITIVE_INFINITY
  return Math.min(Math.max(run.dueAt, now) + (run.limits?.startDeadlineMs ?? 0), expireAt)
}

/** A run that will only wait for its topic takes no start. */
function topicIsThere({ job }: Decision, run: ActiveRun, context: Context): boolean {
  const execution = executionOf(job, run, context.now)
  const place = execution.topicTarget
  if (place === null) return true
  const record = topicRecord(job.id, run.runNo, run.scheduledFor, place, execution)
  return context.topicProblem(place, recordBytes(record)) === undefined
}
