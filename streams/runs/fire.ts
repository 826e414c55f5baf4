/**
 * A nominal time has come: it becomes one run, or a skip that is counted (invariant I4).
 *
 * The next time is computed from this nominal time and the definition, never from how the run goes, so that no failure can stop
 * a recurring job, and lateness does not add up.
 */
import type { ActiveRun, JobDefinition, JobState, Trigger } from '../../schemas/generated.ts'
import { patchState, pristineState } from '../draft.ts'
import type { Context, Decision, SkipReason } from '../job.ts'
import type { Timer } from '../keys.ts'
import { dueAtOf, latestDue } from '../schedules/jitter.ts'
import { countFires, latestFire, nextFire, nextFireAfterEnd } from '../schedules/next-fire.ts'
import { dispatch } from './dispatch.ts'
import { completeIfDone } from './finish.ts'

/** Missed occurrences are counted one by one up to here; beyond, `skipped` is a lower bound. */
const skippedCountMax = 1_000

export function fire(draft: Decision, timer: Timer, context: Context): void {
  const spec = draft.job.definition?.spec
  const state = draft.job.state ?? pristineState(draft.job)
  if (spec === undefined || state.status !== 'ACTIVE' || state.waiting) return
  if ((state.nextDueAt ?? state.nextFireAt) !== timer.dueAt) return
  const nominal = afterCatchUp(draft, spec, state, context.now)
  if (nominal === undefined) return completeIfDone(draft, context.now)
  const dueAt = dueAtOf(spec, state.anchorAt, draft.job.id, nominal)
  const refusal = overlapRefusal(spec, state)
  if (refusal !== undefined && context.now < dueAt) {
    // Dispatched ahead of its time it would be skipped for a run that may well have ended by then.
    draft.deferUntil = dueAt
    return
  }
  // Where all have to run none is skipped because the job is full: the end of a run lets it go on (finish.ts).
  if (refusal === 'max-concurrent-runs' && spec.catchUp === 'ALL')
    return void patchState(draft, { nextFireAt: nominal, waiting: true })
  if (refusal === undefined) {
    patchState(draft, { nextFireAt: followingFire(spec, state, nominal) })
    startRun(draft, spec, 'SCHEDULE', nominal, dueAt, context)
  } else {
    // Without a run there is no end to count from: the interval goes on from now.
    const next = waitsForEnd(spec) ? nextFireAfterEnd(spec, context.now) : followingFire(spec, state, nominal)
    patchState(draft, { nextFireAt: next })
    skip(draft, refusal, 1)
  }
  completeIfDone(draft, context.now)
}

/** Begins a run and dispatches its first attempt. */
export function startRun(
  draft: Decision,
  spec: JobDefinition,
  trigger: Trigger,
  scheduledFor: number,
  dueAt: number,
  context: Context,
  more: Partial<ActiveRun> = {},
): ActiveRun {
  const before = draft.job.state ?? pristineState(draft.job)
  const runNo = before.runNo + 1
  const run: ActiveRun = {
    runNo,
    specOffset: draft.job.definition?.offset ?? -1,
    scheduledFor,
    trigger,
    commandId: null,
    status: 'DISPATCHED',
    attempt: 1,
    releasedAttempts: 0,
    dueAt,
    parked: false,
    snapshot: false,
    startDeadlineAt: Math.max(dueAt, context.now) + spec.startDeadlineMs,
    leaseMs: spec.leaseMs,
    attemptTimeoutMs: spec.attemptTimeoutMs,
    dispatchedAt: context.now,
    startedAt: null,
    worker: null,
    errors: [],
    ...more,
  }
  const scheduledRuns = before.scheduledRuns + (trigger === 'SCHEDULE' ? 1 : 0)
  const spent = spec.maxRuns !== null && scheduledRuns >= spec.maxRuns
  patchState(draft, {
    runNo,
    scheduledRuns,
    nextFireAt: spent ? null : before.nextFireAt,
    active: [...before.active, run],
    finishedAt: null,
    deleteAt: null,
  })
  dispatch(draft, run, context)
  return run
}

export function skip(draft: Decision, reason: SkipReason, count: number): void {
  const state = draft.job.state ?? pristineState(draft.job)
  patchState(draft, { skipped: state.skipped + count, reason: `skipped: ${reason}` })
  draft.notes.push({ kind: 'skipped', reason, count })
}

function overlapRefusal(spec: JobDefinition, state: JobState): SkipReason | undefined {
  if (spec.overlap === 'SKIP' && state.active.length > 0) return 'overlap'
  return state.active.length >= spec.maxConcurrentRuns ? 'max-concurrent-runs' : undefined
}

const waitsForEnd = (spec: JobDefinition): boolean => spec.schedule.everyMs !== null && spec.schedule.from === 'END'

/** null also for an interval from the END of the last run: finish.ts sets it then. */
function followingFire(spec: JobDefinition, state: JobState, nominal: number): number | null {
  return waitsForEnd(spec) ? null : nextFire(spec, state.anchorAt, nominal)
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
  if (first > due) skip(draft, 'catch-up', countFires(spec, state.anchorAt, due - 1, first - 1, skippedCountMax))
  return first
}

/** SKIP: what is late by no more than the threshold was not missed and still runs. */
function afterSkipped(draft: Decision, spec: JobDefinition, state: JobState, due: number, now: number): number | undefined {
  if (waitsForEnd(spec)) {
    patchState(draft, { nextFireAt: nextFireAfterEnd(spec, now) })
    skip(draft, 'catch-up', 1)
    return undefined
  }
  const { id } = draft.job
  const missed = latestDue(spec, state.anchorAt, id, due - 1, now - spec.misfireThresholdMs - 1) ?? due
  const next = nextFire(spec, state.anchorAt, missed)
  patchState(draft, { nextFireAt: next })
  skip(draft, 'catch-up', countFires(spec, state.anchorAt, due - 1, missed, skippedCountMax))
  return next !== null && dueAtOf(spec, state.anchorAt, id, next) <= now ? next : undefined
}

/** LATEST: the last missed one. ALL: the earliest of the last catchUpMax missed ones. */
function firstToRun(jobId: string, spec: JobDefinition, anchorAt: number, due: number, now: number): number {
  const latest = latestDue(spec, anchorAt, jobId, due - 1, now) ?? due
  if (spec.catchUp === 'LATEST') return latest
  if (countFires(spec, anchorAt, due - 1, latest, spec.catchUpMax + 1) <= spec.catchUpMax) return due
  let first = latest
  for (let kept = 1; kept < spec.catchUpMax; kept++) first = latestFire(spec, anchorAt, due - 1, first - 1) ?? first
  return first
}
