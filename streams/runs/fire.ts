/**
 * Firing: a nominal time becomes one run, or a counted skip (invariant I4).
 *
 * The next time is computed from this nominal time and the definition, never from the result of the run. So no failure can stop a
 * recurring job, and lateness does not add up.
 */
import type { ActiveRun, JobCommand, JobDefinition, JobState } from '../../schemas/index.ts'
import {
  countFires,
  decidedTime,
  dueAtOf,
  latestDue,
  latestFire,
  nextFire,
  nextFireAfterEnd,
  nthLatestFire,
} from '../schedules/index.ts'
import {
  type Context,
  type Decision,
  patchState,
  pristineState,
  refuse,
  refuseCommand,
  type SkipReason,
  skip,
  type Timer,
} from '../state/index.ts'
import { isByOwner } from '../targets/index.ts'
import { goOnWithBackfill } from './backfill.ts'
import { overtaken } from './dispatch.ts'
import { cancelRun } from './finish.ts'
import { goesToOne, oneWorkerLeadMsMax } from './routing.ts'
import { completeIfDone, isOver, startRun } from './start.ts'
import { moveNextFire, type NextFire } from './zone-change.ts'

/** Range of a calendar that one step counts, because counting takes time for each day. Further steps count the rest. An interval needs no limit. */
const countedMsMax = 366 * 86_400_000

export function fire(draft: Decision, timer: Timer, context: Context): void {
  const spec = draft.job.definition?.spec
  const state = draft.job.state ?? pristineState(draft.job)
  if (spec === undefined || state.status !== 'ACTIVE' || state.waiting) return
  if ((state.nextDueAt ?? state.nextFireAt) !== timer.dueAt) return
  // By new zone rules it may be due at another time. Then it has another timer.
  if (context.zonesMayDiffer === true && moveNextFire(draft, context)) return
  // An occurrence that is taken early is judged as at its due time.
  if (isOver(spec, Math.max(context.now, timer.dueAt))) {
    expire(draft, spec, state, context.now)
    return settle(draft, context)
  }
  const nominal = afterCatchUp(draft, spec, state, context.now)
  if (nominal === undefined) return settle(draft, context)
  const dueAt = dueAtOf(spec, state.anchorAt, draft.job.id, nominal)
  const refusal = overlapRefusal(spec, state)
  if (context.now < dueAt && (refusal !== undefined || isByOwner(spec.target))) {
    // If it were judged early, an active run that may end before the due time would refuse it. And a record in a target topic cannot be
    // held until it is due (dispatch.ts, mayBeEarly).
    draft.deferUntil = dueAt
    return
  }
  if (spec.pinTo === null && overtaken(dueAt, context)) {
    draft.deferUntil = dueAt - context.leadMs
    return
  }
  if (dueAt - context.now > oneWorkerLeadMsMax && goesToOne(spec, context)) {
    draft.deferUntil = dueAt - oneWorkerLeadMsMax
    return
  }
  const limited = spec.concurrencyKey !== null || spec.rateLimit !== null
  if (limited && dueAt - context.now > context.leadMs) {
    // A run that is dispatched early would hold a slot, or prevent earlier starts of others.
    draft.deferUntil = dueAt - context.leadMs
    return
  }
  if (refusal === undefined) {
    patchState(draft, followingFire(spec, state, nominal))
    startRun(draft, spec, 'SCHEDULE', nominal, dueAt, context)
  } else settleOverlap(draft, spec, nominal, dueAt, refusal, context)
  settle(draft, context)
}

/** Continues the work that waited for the decision about this occurrence. */
function settle(draft: Decision, context: Context): void {
  goOnWithBackfill(draft, context)
  completeIfDone(draft, context.now)
}

/** An occurrence that is due while the job has as many active runs as it may have. */
function settleOverlap(
  draft: Decision,
  spec: JobDefinition,
  nominal: number,
  dueAt: number,
  reason: SkipReason,
  context: Context,
): void {
  const state = draft.job.state ?? pristineState(draft.job)
  const refusal = { at: context.now, reason, scheduledFor: nominal }
  // With catchUp ALL no occurrence is skipped because of active runs. It waits for the end of a run (finish.ts).
  if ((reason === 'max-concurrent-runs' && spec.catchUp === 'ALL') || goesFirst(spec, state)) {
    patchState(draft, { nextFireAt: nominal, decidedFor: decidedBefore(spec, state, nominal), waiting: true })
    return refuse(draft, { ...refusal, what: 'WAITING' })
  }
  const replaces = spec.overlap === 'CANCEL_PREVIOUS'
  const queues = spec.overlap === 'QUEUE_ONE' && state.queuedFor === null
  // Without a run there is no end to count from, so the interval continues from now.
  const skips = !replaces && !queues
  if (skips && countsFromEnd(spec)) patchState(draft, { nextFireAt: nextFireAfterEnd(spec, context.now) })
  else patchState(draft, followingFire(spec, state, nominal))
  if (replaces) {
    // It starts before the others are cancelled, so that the work at the end of a run does not take its place.
    startRun(draft, spec, 'SCHEDULE', nominal, dueAt, context)
    for (const run of state.active) cancelRun(draft, run, 'overlap', context)
  } else if (queues) {
    patchState(draft, { queuedFor: nominal })
    refuse(draft, { ...refusal, what: 'QUEUED' })
  } else skip(draft, reason, 1, refusal)
}

/** The last occurrence that catch-up has left out before one that stays the next. */
function decidedBefore(spec: JobDefinition, state: JobState, nominal: number): JobState['decidedFor'] {
  const first = state.nextFireAt ?? nominal
  if (nominal <= first) return state.decidedFor
  const left = latestFire(spec, state.anchorAt, first - 1, nominal - 1)
  return left === null ? state.decidedFor : decidedTime(spec, left)
}

/** The validity of the job is over: no missed occurrence runs, and none falls due any more. */
function expire(draft: Decision, spec: JobDefinition, state: JobState, now: number): void {
  const first = state.nextFireAt ?? now
  if (countsFromEnd(spec)) skip(draft, 'expired', 1, { at: now, scheduledFor: first })
  else if (!skipThrough(draft, spec, state, 'expired', { from: first, last: Math.max(first, now), now })) return
  patchState(draft, { nextFireAt: null })
}

/**
 * Skips and counts the occurrences of a past range. False: the range is too long for one step. The next time is then the rest of the
 * range, whose timer is due at once.
 */
function skipThrough(
  draft: Decision,
  spec: JobDefinition,
  { anchorAt }: JobState,
  reason: SkipReason,
  { from, last, now }: { from: number; last: number; now: number },
): boolean {
  const until = spec.schedule.everyMs === null ? Math.min(last, from + countedMsMax) : last
  skip(draft, reason, countFires(spec, anchorAt, from - 1, until), { at: now, scheduledFor: from })
  if (until < last) patchState(draft, { nextFireAt: nextFire(spec, anchorAt, until), decidedFor: decidedTime(spec, until) })
  return until === last
}

function overlapRefusal(spec: JobDefinition, state: JobState): SkipReason | undefined {
  if (spec.overlap !== 'ALLOW') return state.active.length > 0 ? 'overlap' : undefined
  return state.active.length >= spec.maxConcurrentRuns ? 'max-concurrent-runs' : undefined
}

/** Runs that make up for the past, and follow-ups while others wait, skip no occurrence of the schedule: it waits for the end of one, and then goes first (backfill.ts, follow-ups.ts). */
const isBehind = ({ trigger }: ActiveRun, { followUps }: JobState): boolean =>
  trigger === 'BACKFILL' || trigger === 'REDRIVE' || (trigger === 'FOLLOW_UP' && followUps !== null)

function goesFirst(spec: JobDefinition, state: JobState): boolean {
  const { overlap } = spec
  if (overlap === 'CANCEL_PREVIOUS' || (overlap === 'QUEUE_ONE' && state.queuedFor === null)) return false
  return overlapRefusal(spec, { ...state, active: state.active.filter((run) => !isBehind(run, state)) }) === undefined
}

const countsFromEnd = (spec: JobDefinition): boolean => spec.schedule.everyMs !== null && spec.schedule.from === 'END'

/** The next time is null also for an interval from the END of the last run; finish.ts sets it then. */
function followingFire(spec: JobDefinition, state: JobState, nominal: number): NextFire {
  const nextFireAt = countsFromEnd(spec) ? null : nextFire(spec, state.anchorAt, nominal)
  return { nextFireAt, decidedFor: decidedTime(spec, nominal) }
}

/**
 * The nominal time that runs now: the due one, or a later one by the catch-up policy. Undefined: no missed one runs, and the next time of
 * the draft is the first future one.
 */
function afterCatchUp(draft: Decision, spec: JobDefinition, state: JobState, now: number): number | undefined {
  const due = state.nextFireAt
  if (due === null) return undefined
  if (now - (state.nextDueAt ?? due) <= spec.misfireThresholdMs) return due
  if (spec.catchUp === 'SKIP') return afterSkipped(draft, spec, state, due, now)
  const first = countsFromEnd(spec) ? due : firstToRun(draft.job.id, spec, state.anchorAt, due, now)
  if (first > due) {
    const isCounted = skipThrough(draft, spec, state, 'catch-up', { from: due, last: first - 1, now })
    if (!isCounted) return undefined
  }
  return first
}

/** SKIP: an occurrence that is late by at most the threshold was not missed and still runs. */
function afterSkipped(draft: Decision, spec: JobDefinition, state: JobState, due: number, now: number): number | undefined {
  if (countsFromEnd(spec)) {
    patchState(draft, { nextFireAt: nextFireAfterEnd(spec, now) })
    skip(draft, 'catch-up', 1, { at: now, scheduledFor: due })
    return undefined
  }
  const { id } = draft.job
  const missed = latestDue(spec, state.anchorAt, id, due - 1, now - spec.misfireThresholdMs - 1) ?? due
  if (!skipThrough(draft, spec, state, 'catch-up', { from: due, last: missed, now })) return undefined
  const next = nextFire(spec, state.anchorAt, missed)
  patchState(draft, { nextFireAt: next, decidedFor: decidedTime(spec, missed) })
  return next !== null && dueAtOf(spec, state.anchorAt, id, next) <= now ? next : undefined
}

/** LATEST: the last missed occurrence. ALL: the earliest of the last catchUpMax missed occurrences. */
function firstToRun(jobId: string, spec: JobDefinition, anchorAt: number, due: number, now: number): number {
  const latest = latestDue(spec, anchorAt, jobId, due - 1, now) ?? due
  if (spec.catchUp === 'LATEST') return latest
  return nthLatestFire(spec, anchorAt, due - 1, latest, spec.catchUpMax) ?? due
}

/** Skips the next occurrence, which the command names by its nominal time. The schedule goes on with the one after it. */
export function skipNext(draft: Decision, command: JobCommand, context: Context): void {
  const spec = draft.job.definition?.spec
  const state = draft.job.state ?? pristineState(draft.job)
  const nominal = state.nextFireAt
  const reason = spec === undefined ? 'invalid-definition' : nominal !== command.from ? 'not-the-next' : ''
  if (spec === undefined || nominal === null || reason !== '') return refuseCommand(draft, command, reason, context.now)
  const { everyMs, from } = spec.schedule
  // Without a run there is no end to count from.
  const isFromEnd = everyMs !== null && from === 'END'
  const nextFireAt = isFromEnd ? nextFireAfterEnd(spec, nominal) : nextFire(spec, state.anchorAt, nominal)
  patchState(draft, { nextFireAt, decidedFor: decidedTime(spec, nominal), waiting: false })
  skip(draft, 'command', 1, { at: context.now, scheduledFor: nominal })
  goOnWithBackfill(draft, context)
  completeIfDone(draft, context.now)
}
