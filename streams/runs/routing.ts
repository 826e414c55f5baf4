/**
 * Which worker a run goes to. Most pools have workers with the same handlers: then any of them takes the run from the topics of the pool.
 * If not all have the handler, the run is sent to one that has it. If none has it, or the pool is paused, the run waits and loses no attempt.
 */
import type { ActiveRun, Execution, JobDefinition } from '../../schemas/index.ts'
import { type Context, type Decision, patchRun, type Route, refuse, waitsForPool } from '../state/index.ts'
import { handlerOf, poolOf } from '../targets/index.ts'
import { hashFraction } from '../text/index.ts'
import { handlerCheckAt, poolCheckAt } from './wait-checks.ts'

/** A pinned run goes to the worker that it names. */
export function routeOf(
  { topicTarget, pinTo, pool, handler }: Execution,
  except: string | null,
  context: Context,
): Route | 'paused' {
  if (topicTarget !== null) return 'any'
  if (context.pauseOf?.(pool) !== undefined) return 'paused'
  if (pinTo !== null) return 'any'
  return context.routeTo?.(pool, handler, except) ?? 'any'
}

/** Longest lead of a run that is sent to one worker: that worker holds it in memory until it is due, and nothing behind it is read when it holds too many. */
export const oneWorkerLeadMsMax = 10_000

/** Whether the next run of the job would be sent to one worker. */
export const goesToOne = ({ target, pinTo }: JobDefinition, { routeTo }: Context): boolean =>
  pinTo !== null || typeof routeTo?.(poolOf(target) ?? '', handlerOf(target) ?? '', null) === 'object'

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
    tellAt: handlerCheckAt(waiting, now),
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
  const poolPausedAt = isNew ? since : run.poolPausedAt
  patchRun(draft, run, {
    status: 'RETRY_WAIT',
    parked: true,
    poolPausedAt,
    startDeadlineAt: isNew ? startDeadlineOf(draft, run, now) : run.startDeadlineAt,
    tellAt: poolCheckAt({ ...run, poolPausedAt }, now, expireAtOf(draft)),
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
