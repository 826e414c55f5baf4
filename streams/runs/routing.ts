/**
 * Which worker a run goes to. Most pools have workers with the same handlers: then any of them takes the run from the topics of the pool.
 * If not all have the handler, the run is sent to one that has it. If none has it, or the pool is paused, the run waits and loses no attempt.
 */
import type { ActiveRun, Execution } from '../../schemas/index.ts'
import { hashFraction } from '../hashing/index.ts'
import {
  type Context,
  type Decision,
  type Job,
  patchRun,
  type Route,
  refuse,
  type Timer,
  timerKind,
  waitsForHandler,
  waitsForPool,
} from '../state/index.ts'

/** The first check whether a worker has the handler now comes after this time, later ones after as long as the run has waited, at most `handlerCheckMsMax`. The owner also checks when the workers of the pool change. */
const handlerCheckMsMin = 1_000
export const handlerCheckMsMax = 60_000
/** Age of a wait from which on it is checked every `handlerCheckMsMax`: the last time that the age doubles. */
const doublingMsMax = 64_000

/**
 * The next check of a run that waits for its handler: 1, 2, 4, 8, 16, 32 and 64 s after it began to wait, then every 60 s, when it is due, and at its
 * start deadline. It follows from the begin of the wait, so that a check that changes nothing is not logged, and a check that is set twice is one timer.
 */
function nextCheckAt({ handlerMissingAt, startDeadlineAt, dueAt }: ActiveRun, now: number): number {
  const since = handlerMissingAt ?? now
  const waitedMs = now - since
  let afterMs = handlerCheckMsMin
  while (afterMs <= waitedMs) afterMs *= 2
  // A negative wait: the clock was set back.
  if (afterMs > doublingMsMax || waitedMs < 0) {
    const phaseMs = doublingMsMax % handlerCheckMsMax
    afterMs = phaseMs + (Math.floor((waitedMs - phaseMs) / handlerCheckMsMax) + 1) * handlerCheckMsMax
  }
  return Math.min(since + afterMs, startDeadlineAt, dueAt > now ? dueAt : Number.POSITIVE_INFINITY)
}

export const handlerCheckOf = (jobId: string, run: ActiveRun, now: number): Timer => ({
  ...{ dueAt: nextCheckAt(run, now), kind: timerKind.retryResidue, jobId, runNo: run.runNo },
})

/** The next checks of all runs of a job that wait for a handler. The store has these timers, although they do not follow from the state alone. */
export const handlerChecksOf = ({ id, state }: Pick<Job, 'id' | 'state'>, now: number): Timer[] =>
  (state?.active ?? []).filter(waitsForHandler).map((run) => handlerCheckOf(id, run, now))

/** A run of a paused pool is checked this often, besides when its pool is resumed. A check only makes sure that nothing waits for ever. */
export const poolCheckMs = 600_000

/** A pinned run goes to the worker that it names. Nobody would send an untracked run again, so it is left to the topics, whose positions are kept. */
export function routeOf(
  { topicTarget, pinTo, tracked, pool, handler }: Execution,
  except: string | null,
  context: Context,
): Route | 'paused' {
  if (topicTarget !== null) return 'any'
  if (context.pauseOf?.(pool) !== undefined) return 'paused'
  if (pinTo !== null || !tracked) return 'any'
  return context.routeTo?.(pool, handler, except) ?? 'any'
}

/** One of the workers, by a hash of the attempt, so that each gets about the same share. */
export const chosenOf = (workers: readonly string[], { jobId, runNo, attempt }: Execution): string | null =>
  workers[Math.floor(hashFraction(`${jobId}/${runNo}/${attempt}`) * workers.length)] ?? null

/** Parks a run that can go nowhere now. False: it goes on. */
export function waits(draft: Decision, run: ActiveRun, route: Route | 'paused', context: Context): route is 'none' | 'paused' {
  if (route === 'paused') waitForPool(draft, run, context)
  else if (route === 'none') waitForHandler(draft, run, context)
  return route === 'none' || route === 'paused'
}

/** Parks the run until a worker has its handler. It keeps its start deadline, and holds no slot. Further checks do not change the state. */
export function waitForHandler(draft: Decision, run: ActiveRun, { now }: Context): void {
  const { scheduledFor, runNo } = run
  const startDeadlineAt = startDeadlineOf(draft, run, now)
  const waiting = { ...run, handlerMissingAt: run.handlerMissingAt ?? now, startDeadlineAt }
  patchRun(draft, run, {
    status: 'RETRY_WAIT',
    parked: true,
    handlerMissingAt: waiting.handlerMissingAt,
    startDeadlineAt,
    tellAt: nextCheckAt(waiting, now),
    ...{ poolPausedAt: null, routedTo: null, waitsFor: null, startedAt: null, worker: null },
  })
  if (run.handlerMissingAt !== null) return
  refuse(draft, { at: now, what: 'WAITING', reason: 'handler-missing', scheduledFor, runNo })
  draft.notes.push({ kind: 'waiting', reason: 'handler-missing' })
}

/** Parks the run until its pool is resumed. It holds no slot and takes no start. `since`: when its wait began, if that is earlier. */
export function waitForPool(draft: Decision, run: ActiveRun, { now }: Context, since = now): void {
  const { scheduledFor, runNo } = run
  const isNew = !waitsForPool(run)
  patchRun(draft, run, {
    status: 'RETRY_WAIT',
    parked: true,
    poolPausedAt: isNew ? since : run.poolPausedAt,
    startDeadlineAt: isNew ? startDeadlineOf(draft, run, now) : run.startDeadlineAt,
    tellAt: Math.min(now + poolCheckMs, Math.max(expireAtOf(draft), now)),
    ...{ handlerMissingAt: null, routedTo: null, waitsFor: null, startedAt: null, worker: null },
  })
  if (!isNew) return
  refuse(draft, { at: now, what: 'WAITING', reason: 'pool-paused', scheduledFor, runNo })
  draft.notes.push({ kind: 'waiting', reason: 'pool-paused' })
}

/** Start deadline of a run that is dispatched now, or begins to wait. It is set already for a run with limits (gate.ts), and for one that waited before: waiting does not change it. Others keep as much time as they had. */
export function startDeadlineOf(draft: Decision, run: ActiveRun, now: number): number {
  const { limits, handlerMissingAt, poolPausedAt, startDeadlineAt, dueAt, dispatchedAt } = run
  const isSet = limits !== null || handlerMissingAt !== null || poolPausedAt !== null
  const asked = isSet ? startDeadlineAt : Math.max(dueAt, now) + startDeadlineAt - Math.max(dueAt, dispatchedAt)
  return Math.min(asked, expireAtOf(draft))
}

export const expireAtOf = ({ job }: Pick<Decision, 'job'>): number => job.definition?.spec?.expireAt ?? Number.POSITIVE_INFINITY
