/**
 * Which worker a run goes to. Most pools have workers with the same handlers: then any of them takes the run from the topics of the pool.
 * If not all have the handler, the run is sent to one that has it. If none has it, the run waits and loses no attempt.
 */
import type { ActiveRun, Execution } from '../../schemas/index.ts'
import { hashFraction } from '../hashing/index.ts'
import { type Context, type Decision, patchRun, type Route, refuse } from '../state/index.ts'

/** The first check whether a worker has the handler now comes after this time, later ones after as long as the run has waited, at most `handlerCheckMsMax`. The owner also checks when the workers of the pool change. */
const handlerCheckMsMin = 1_000
export const handlerCheckMsMax = 60_000

/** A pinned run goes to the worker that it names. Nobody would send an untracked run again, so it is left to the topics, whose positions are kept. */
export function routeOf(
  { topicTarget, pinTo, tracked, pool, handler }: Execution,
  except: string | null,
  context: Context,
): Route {
  if (topicTarget !== null || pinTo !== null || !tracked) return 'any'
  return context.routeTo?.(pool, handler, except) ?? 'any'
}

/** One of the workers, by a hash of the attempt, so that each gets about the same share. */
export const chosenOf = (workers: readonly string[], { jobId, runNo, attempt }: Execution): string | null =>
  workers[Math.floor(hashFraction(`${jobId}/${runNo}/${attempt}`) * workers.length)] ?? null

/** Parks the run until a worker has its handler. It keeps its start deadline, and holds no slot. */
export function waitForHandler(draft: Decision, run: ActiveRun, { now }: Context): void {
  const { scheduledFor, runNo } = run
  const isSet = run.limits !== null || run.handlerMissingAt !== null
  const asked = isSet
    ? run.startDeadlineAt
    : Math.max(run.dueAt, now) + run.startDeadlineAt - Math.max(run.dueAt, run.dispatchedAt)
  const startDeadlineAt = Math.min(asked, draft.job.definition?.spec?.expireAt ?? Number.POSITIVE_INFINITY)
  const since = run.handlerMissingAt ?? now
  const checkAt = now + Math.min(Math.max(now - since, handlerCheckMsMin), handlerCheckMsMax)
  patchRun(draft, run, {
    status: 'RETRY_WAIT',
    parked: true,
    handlerMissingAt: since,
    startDeadlineAt,
    tellAt: Math.min(checkAt, Math.max(startDeadlineAt, now)),
    ...{ routedTo: null, waitsFor: null, startedAt: null, worker: null },
  })
  if (run.handlerMissingAt !== null) return
  refuse(draft, { at: now, what: 'WAITING', reason: 'handler-missing', scheduledFor, runNo })
  draft.notes.push({ kind: 'waiting', reason: 'handler-missing' })
}
