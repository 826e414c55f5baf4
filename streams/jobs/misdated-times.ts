/**
 * Misdated times: times that were set by a clock that was ahead. The next reports, starts or commands correct most of its decisions. The
 * times here are hours away, and no other input would come before them. The sweeper of an owner finds them
 * (src/scheduler/timers/lost-timer-sweeper.ts) and requests their correction. No correct clock sets times so far away.
 */
import type { ActiveRun, JobDefinition, JobState } from '../../schemas/index.ts'
import { beginAttempt, leadMsLimit, redeliverMsMax, waitCheckMsMax } from '../runs/index.ts'
import { nextFire, nextFireAfterEnd } from '../schedules/index.ts'
import {
  type Context,
  type Decision,
  type Job,
  patchRun,
  patchState,
  type Timer,
  timerKind,
  waitsForHandler,
  waitsForPool,
  waitsForTopic,
} from '../state/index.ts'
import { recheckMsMax } from './recheck.ts'

/**
 * By how many ms a clock was ahead when it set this time as its present. 0: it was not ahead, or the difference is too small to
 * detect.
 */
function aheadBy(at: number | null | undefined, now: number): number {
  const aheadMs = (at ?? now) - now
  return aheadMs > leadMsLimit ? aheadMs : 0
}

/**
 * Timers that request the correction of a job's times: one for the job and one for each of its runs, because a rule gets the snapshot of
 * one run only.
 */
export function misdatedTimersOf(job: Job, now: number): Timer[] {
  const { state, definition, unreadable } = job
  if (state === undefined || unreadable !== undefined || definition?.spec === undefined) return []
  const isMisdated =
    aheadBy(state.recheckAt, now + recheckMsMax) > 0 ||
    endedAhead(state, now) > 0 ||
    aheadBy(state.followUps?.lookAt, now) > 0 ||
    intervalOf(definition.spec, state, now) !== undefined
  const runNos = state.active.flatMap((run) => (isMisdatedRun(run, now) ? [run.runNo] : []))
  return [...(isMisdated ? [0] : []), ...runNos].map((runNo) => ({ dueAt: now, kind: timerKind.misdated, jobId: job.id, runNo }))
}

/** Corrects the times, so that none is later than the correct clock would have set it. */
export function correctTimes(draft: Decision, { runNo }: Timer, context: Context): void {
  const { now } = context
  const { definition, state } = draft.job
  if (state === undefined || definition?.spec === undefined) return
  const run = state.active.find((candidate) => candidate.runNo === runNo)
  if (run !== undefined && isMisdatedRun(run, now)) correctRun(draft, run, context)
  if (runNo > 0) return
  if (aheadBy(state.recheckAt, now + recheckMsMax) > 0) patchState(draft, { recheckAt: now })
  const endedBy = endedAhead(state, now)
  if (endedBy > 0) patchState(draft, { finishedAt: now, deleteAt: (state.deleteAt ?? now) - endedBy })
  const { followUps } = state
  if (followUps !== null && aheadBy(followUps.lookAt, now) > 0) patchState(draft, { followUps: { ...followUps, lookAt: now } })
  const nextFireAt = intervalOf(definition.spec, state, now)
  if (nextFireAt !== undefined) patchState(draft, { nextFireAt })
}

/** By how much the end of the job, from which its deletion is counted, is in the future. */
const endedAhead = ({ finishedAt, deleteAt }: JobState, now: number): number => (deleteAt === null ? 0 : aheadBy(finishedAt, now))

/** For an interval that is counted from the end of a run: its next due time by this clock, if it is sooner. */
function intervalOf(spec: JobDefinition, state: JobState, now: number): number | undefined {
  if (spec.schedule.everyMs === null || spec.schedule.from !== 'END' || state.active.length > 0) return undefined
  const next = nextFireAfterEnd(spec, now)
  // Before its first run it waits for the anchor, however far that is.
  const latest = Math.max(next ?? 0, nextFire(spec, state.anchorAt, now) ?? 0)
  return next !== null && aheadBy(state.nextFireAt, latest) > 0 ? next : undefined
}

function isMisdatedRun(run: ActiveRun, now: number): boolean {
  switch (run.status) {
    case 'RUNNING':
      return aheadBy(run.startedAt, now) > 0
    case 'RETRY_WAIT':
      if (waitsForPool(run) || waitsForHandler(run)) return waitsAhead(run, now, waitCheckMsMax)
      return aheadBy(run.errors.at(-1)?.at, now) > 0
    case 'DISPATCHED':
      return aheadBy(run.tellAt, Math.max(run.dueAt, now) + Math.max(redeliverMsMax, run.leaseMs)) > 0
    case 'WAITING':
      return run.waitsFor === 'RATE' && aheadBy(arrivedAt(run), now) > 0
    default:
      return false
  }
}

/** A run that waits for its handler or its pool was due when it began to wait, or in its lead. */
const waitsAhead = ({ tellAt, dueAt }: ActiveRun, now: number, checkMs: number): boolean =>
  aheadBy(tellAt, now + checkMs) > 0 || aheadBy(dueAt, now) > 0

/** Latest time at which a run with limits came to the gate. */
const arrivedAt = ({ startDeadlineAt, limits }: ActiveRun): number => startDeadlineAt - (limits?.startDeadlineMs ?? 0)

function correctRun(draft: Decision, run: ActiveRun, context: Context): void {
  const { now } = context
  const { errors, dueAt, startDeadlineAt } = run
  const last = errors.at(-1)
  if (run.status === 'RUNNING') patchRun(draft, run, { startedAt: now })
  else if (run.status === 'DISPATCHED') patchRun(draft, run, { tellAt: now })
  // Its start was given by the wrong clock, so it gets another one.
  else if (run.status === 'WAITING') beginAttempt(draft, patchRun(draft, run, { dueAt: now }), context)
  else if (waitsForPool(run))
    patchRun(draft, run, { tellAt: now, dueAt: Math.min(dueAt, now), poolPausedAt: Math.min(run.poolPausedAt ?? now, now) })
  else if (waitsForHandler(run))
    patchRun(draft, run, {
      tellAt: now,
      dueAt: Math.min(dueAt, now),
      handlerMissingAt: Math.min(run.handlerMissingAt ?? now, now),
    })
  else if (last !== undefined) {
    const sooner = Math.max(0, Math.min(aheadBy(last.at, now), dueAt - now))
    patchRun(draft, run, {
      errors: [...errors.slice(0, -1), { ...last, at: now }],
      ...{ dueAt: dueAt - sooner, startDeadlineAt: startDeadlineAt - sooner },
      ...(waitsForTopic(run) && { tellAt: now }),
    })
  }
}
