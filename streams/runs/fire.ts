/**
 * A nominal time has come: it becomes one run, or a skip that is counted (invariant I4).
 *
 * The next time is computed from this nominal time and the definition, never from how the run goes, so that no failure can stop
 * a recurring job, and lateness does not add up.
 */
import type { JobDefinition, JobState } from '../../schemas/index.ts'
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
  type SkipReason,
  skip,
  type Timer,
} from '../state/index.ts'
import { goOnWithBackfill } from './backfill.ts'
import { completeIfDone, isOver } from './completion.ts'
import { overtaken } from './dispatch.ts'
import { cancelRun } from './finish.ts'
import { startRun } from './start.ts'
import { moveNextFire, type NextFire } from './zone-change.ts'

/** So much of a calendar is counted in one step, which costs a step for each day; the rest in further ones. An interval is arithmetic. */
const countedMsMax = 366 * 86_400_000

export function fire(draft: Decision, timer: Timer, context: Context): void {
  const spec = draft.job.definition?.spec
  const state = draft.job.state ?? pristineState(draft.job)
  if (spec === undefined || state.status !== 'ACTIVE' || state.waiting) return
  if ((state.nextDueAt ?? state.nextFireAt) !== timer.dueAt) return
  // It may be due at another time by now; its timer then comes again.
  if (context.zonesMayDiffer === true && moveNextFire(draft, context)) return
  // An occurrence that is taken ahead of its time is judged as it would be then.
  if (isOver(spec, Math.max(context.now, timer.dueAt))) {
    expire(draft, spec, state, context.now)
    return settle(draft, context)
  }
  const nominal = afterCatchUp(draft, spec, state, context.now)
  if (nominal === undefined) return settle(draft, context)
  const dueAt = dueAtOf(spec, state.anchorAt, draft.job.id, nominal)
  const refusal = overlapRefusal(spec, state)
  if (context.now < dueAt && (refusal !== undefined || spec.target.topic !== null)) {
    // Dispatched ahead of its time it would be refused for a run that may well have ended by then; and nobody holds a record in a
    // topic of the user's until it is due (dispatch.ts, mayBeEarly).
    draft.deferUntil = dueAt
    return
  }
  if (spec.pinTo === null && overtaken(dueAt, context)) {
    draft.deferUntil = dueAt - context.leadMs
    return
  }
  const limited = spec.concurrencyKey !== null || spec.rateLimit !== null
  if (limited && dueAt - context.now > context.leadMs) {
    // Ahead of its time it would hold a slot, or keep others from an earlier start.
    draft.deferUntil = dueAt - context.leadMs
    return
  }
  if (refusal === undefined) {
    patchState(draft, followingFire(spec, state, nominal))
    startRun(draft, spec, 'SCHEDULE', nominal, dueAt, context)
  } else settleOverlap(draft, spec, nominal, dueAt, refusal, context)
  settle(draft, context)
}

/** What waited for this occurrence to be decided. */
function settle(draft: Decision, context: Context): void {
  goOnWithBackfill(draft, context)
  completeIfDone(draft, context.now)
}

/** An occurrence that is due beside as many runs as the job may have. */
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
  // Where all have to run none is skipped because the job is full: the end of a run lets it go on (finish.ts).
  if (reason === 'max-concurrent-runs' && spec.catchUp === 'ALL') {
    patchState(draft, { nextFireAt: nominal, decidedFor: decidedBefore(spec, state, nominal), waiting: true })
    return refuse(draft, { ...refusal, what: 'WAITING' })
  }
  const replaces = spec.overlap === 'CANCEL_PREVIOUS'
  const queues = spec.overlap === 'QUEUE_ONE' && state.queuedFor === null
  // Without a run there is no end to count from: the interval goes on from now.
  const skips = !replaces && !queues
  if (skips && waitsForEnd(spec)) patchState(draft, { nextFireAt: nextFireAfterEnd(spec, context.now) })
  else patchState(draft, followingFire(spec, state, nominal))
  if (replaces) {
    // It starts first, so that what goes on at the end of a run does not take its place.
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

/** The job's validity is over: nothing of what it missed runs, and nothing more falls due. */
function expire(draft: Decision, spec: JobDefinition, state: JobState, now: number): void {
  const first = state.nextFireAt ?? now
  if (waitsForEnd(spec)) skip(draft, 'expired', 1, { at: now, scheduledFor: first })
  else if (!skipThrough(draft, spec, state, 'expired', { from: first, last: Math.max(first, now), now })) return
  patchState(draft, { nextFireAt: null })
}

/**
 * Skips the occurrences of a stretch of the past and counts each. False: it is too long for one step; the job then stands at the rest of
 * it, whose timer is due at once.
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

const waitsForEnd = (spec: JobDefinition): boolean => spec.schedule.everyMs !== null && spec.schedule.from === 'END'

/** null also for an interval from the END of the last run: finish.ts sets it then. */
function followingFire(spec: JobDefinition, state: JobState, nominal: number): NextFire {
  const nextFireAt = waitsForEnd(spec) ? null : nextFire(spec, state.anchorAt, nominal)
  return { nextFireAt, decidedFor: decidedTime(spec, nominal) }
}

/**
 * The nominal time that runs now: the one that is due, or under the catch-up policy a later one. Undefined when none of the missed
 * ones runs; the draft then stands at the first future time.
 */
function afterCatchUp(draft: Decision, spec: JobDefinition, state: JobState, now: number): number | undefined {
  const due = state.nextFireAt
  if (due === null) return undefined
  if (now - (state.nextDueAt ?? due) <= spec.misfireThresholdMs) return due
  if (spec.catchUp === 'SKIP') return afterSkipped(draft, spec, state, due, now)
  const first = waitsForEnd(spec) ? due : firstToRun(draft.job.id, spec, state.anchorAt, due, now)
  if (first > due) {
    const isCounted = skipThrough(draft, spec, state, 'catch-up', { from: due, last: first - 1, now })
    if (!isCounted) return undefined
  }
  return first
}

/** SKIP: what is late by no more than the threshold was not missed and still runs. */
function afterSkipped(draft: Decision, spec: JobDefinition, state: JobState, due: number, now: number): number | undefined {
  if (waitsForEnd(spec)) {
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

/** LATEST: the last missed one. ALL: the earliest of the last catchUpMax missed ones. */
function firstToRun(jobId: string, spec: JobDefinition, anchorAt: number, due: number, now: number): number {
  const latest = latestDue(spec, anchorAt, jobId, due - 1, now) ?? due
  if (spec.catchUp === 'LATEST') return latest
  return nthLatestFire(spec, anchorAt, due - 1, latest, spec.catchUpMax) ?? due
}
