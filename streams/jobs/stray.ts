/**
 * Times that a clock set which was ahead. Most of what such a clock decided is put right by what comes next: reports, other starts,
 * commands. What is here waits for a time alone, hours away, and nobody else would look at it before; an owner that comes across it
 * (src/scheduler/timers/lost-timer-sweeper.ts) asks for it to be set right. No right clock puts anything off so far.
 */
import type { ActiveRun, JobDefinition, JobState } from '../../schemas/index.ts'
import { aheadMsMax, beginAttempt, redeliverMsMax } from '../runs/index.ts'
import { nextFire, nextFireAfterEnd } from '../schedules/index.ts'
import { type Context, type Decision, type Job, patchRun, patchState, type Timer, timerKind } from '../state/index.ts'
import { recheckMsMax } from './recheck.ts'

/** By how much a clock was ahead that says this is now; 0: it was not, as far as can be told. */
function aheadBy(at: number | null | undefined, now: number): number {
  const aheadMs = (at ?? now) - now
  return aheadMs > aheadMsMax ? aheadMs : 0
}

/**
 * Timers that ask for times of the job to be set right: one for its own, and one for each of its runs, because a rule is given what one
 * run was made with and no more.
 */
export function strayTimersOf(job: Job, now: number): Timer[] {
  const { state, definition, unreadable } = job
  if (state === undefined || unreadable !== undefined || definition?.spec === undefined) return []
  const isStray =
    aheadBy(state.recheckAt, now + recheckMsMax) > 0 ||
    endedAhead(state, now) > 0 ||
    intervalOf(definition.spec, state, now) !== undefined
  const runNos = state.active.flatMap((run) => (isStrayRun(run, now) ? [run.runNo] : []))
  return [...(isStray ? [0] : []), ...runNos].map((runNo) => ({ dueAt: now, kind: timerKind.stray, jobId: job.id, runNo }))
}

/** Puts off nothing for longer than the right clock would have. */
export function correctTimes(draft: Decision, { runNo }: Timer, context: Context): void {
  const { now } = context
  const { definition, state } = draft.job
  if (state === undefined || definition?.spec === undefined) return
  const run = state.active.find((candidate) => candidate.runNo === runNo)
  if (run !== undefined && isStrayRun(run, now)) setRunRight(draft, run, context)
  if (runNo > 0) return
  if (aheadBy(state.recheckAt, now + recheckMsMax) > 0) patchState(draft, { recheckAt: now })
  const endedBy = endedAhead(state, now)
  if (endedBy > 0) patchState(draft, { finishedAt: now, deleteAt: (state.deleteAt ?? now) - endedBy })
  const nextFireAt = intervalOf(definition.spec, state, now)
  if (nextFireAt !== undefined) patchState(draft, { nextFireAt })
}

/** The end of the job by which its deletion is counted. */
const endedAhead = ({ finishedAt, deleteAt }: JobState, now: number): number => (deleteAt === null ? 0 : aheadBy(finishedAt, now))

/** An interval that is counted from the end of a run: when it is due next by this clock, where that is sooner. */
function intervalOf(spec: JobDefinition, state: JobState, now: number): number | undefined {
  if (spec.schedule.everyMs === null || spec.schedule.from !== 'END' || state.active.length > 0) return undefined
  const next = nextFireAfterEnd(spec, now)
  // Before its first run it waits for the anchor, however far that is.
  const latest = Math.max(next ?? 0, nextFire(spec, state.anchorAt, now) ?? 0)
  return next !== null && aheadBy(state.nextFireAt, latest) > 0 ? next : undefined
}

function isStrayRun(run: ActiveRun, now: number): boolean {
  switch (run.status) {
    case 'RUNNING':
      return aheadBy(run.startedAt, now) > 0
    case 'RETRY_WAIT':
      return aheadBy(run.errors.at(-1)?.at, now) > 0
    case 'DISPATCHED':
      return aheadBy(run.tellAt, Math.max(run.dueAt, now) + Math.max(redeliverMsMax, run.leaseMs)) > 0
    case 'WAITING':
      return run.waitsFor === 'RATE' && aheadBy(arrivedAt(run), now) > 0
    default:
      return false
  }
}

/** When a run with limits came to the gate at the latest. */
const arrivedAt = ({ startDeadlineAt, limits }: ActiveRun): number => startDeadlineAt - (limits?.startDeadlineMs ?? 0)

function setRunRight(draft: Decision, run: ActiveRun, context: Context): void {
  const { now } = context
  const { errors, dueAt, startDeadlineAt } = run
  const last = errors.at(-1)
  if (run.status === 'RUNNING') patchRun(draft, run, { startedAt: now })
  else if (run.status === 'DISPATCHED') patchRun(draft, run, { tellAt: now })
  // The start that it was given stands among others of that clock: it gets another.
  else if (run.status === 'WAITING') beginAttempt(draft, patchRun(draft, run, { dueAt: now }), context)
  else if (last !== undefined) {
    const sooner = Math.min(aheadBy(last.at, now), dueAt - now)
    patchRun(draft, run, {
      errors: [...errors.slice(0, -1), { ...last, at: now }],
      ...{ dueAt: dueAt - sooner, startDeadlineAt: startDeadlineAt - sooner },
    })
  }
}
