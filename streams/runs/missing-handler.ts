/**
 * Runs that met a worker without their handler, that wait for a worker with it, or whose worker has left.
 *
 *   DISPATCHED ──handler-missing──► DISPATCHED to a worker that has the handler
 *        │ ▲                   └──► RETRY_WAIT with handlerMissingAt, while none has it ──start deadline──► EXPIRED
 *        │ └───────── a worker has it ──────────┘
 *        └──its worker has left, without a report──► the next attempt, to another worker
 *
 * None of these attempts counts against maxAttempts, because no handler was called.
 */
import type { ActiveRun, ExecutionEvent } from '../../schemas/index.ts'
import {
  type Context,
  type Decision,
  patchRun,
  type Timer,
  waitsForHandler,
  waitsForPool,
  waitsForTopic,
} from '../state/index.ts'
import { executionOf } from './dispatch.ts'
import { announceCancellation, finishRun } from './finish.ts'
import { beginAttempt } from './gate.ts'
import { followPool } from './paused-pool.ts'
import { expireAtOf, routeOf, waitForHandler, waits } from './routing.ts'
import { followTopic } from './topic-wait.ts'
import { checkLater } from './wait-checks.ts'

/** The error type by which a worker says that it lacks the handler (docs/PROTOCOL.md). */
const handlerMissingType = 'handler-missing'

/** Whether the report says so. A handler that was started may use the same word for an error of its own. */
export const saysHandlerMissing = (run: ActiveRun, { error, startedAt }: ExecutionEvent): boolean =>
  run.status === 'DISPATCHED' && startedAt === null && error?.type === handlerMissingType && error.retryable !== false

/** `run.worker` has reported that it lacks the handler. Only the first report is followed by a dispatch at once, so that workers whose announcements are wrong cannot keep the owner busy. */
export function handlerMissed(draft: Decision, run: ActiveRun, context: Context): void {
  const { now } = context
  // Its record may be read again, by a worker that has the handler.
  announceCancellation(draft, run, 'handler-missing')
  const next = uncounted(draft, { ...run, startDeadlineAt: askedDeadlineOf(draft, run) }, now)
  if (now >= next.startDeadlineAt) return expire(draft, next, now, context)
  const route = routeOf(executionOf(draft.job, next, now), run.worker, context)
  if (waits(draft, next, route, context)) return
  if (run.handlerMissingAt !== null || route === 'any') return waitForHandler(draft, next, context)
  beginAttempt(draft, patchRun(draft, next, { handlerMissingAt: now }), context)
}

/** The time of a check has come. If nothing has changed, only the timer moves: many runs may wait for long, and their states are not logged again. */
export function checkHandler(draft: Decision, run: ActiveRun, { dueAt }: Timer, context: Context): void {
  const { now } = context
  if (dueAt > now) draft.deferUntil = dueAt
  else if (now >= run.startDeadlineAt) expire(draft, run, now, context)
  else if (isEarly(run, context) || stillWaits(draft, run, context)) checkLater(draft, run, now)
  else beginAttempt(draft, run, context)
}

/** A clock that was ahead made it wait, or the lead of a burst. It is dispatched in its usual lead. */
const isEarly = ({ dueAt }: ActiveRun, { now, leadMs }: Context): boolean => dueAt - now > leadMs

/** No worker has the handler yet, and the job does not end sooner than it did. */
function stillWaits({ job }: Decision, run: ActiveRun, context: Context): boolean {
  if (expireAtOf({ job }) < run.startDeadlineAt) return false
  return routeOf(executionOf(job, run, context.now), run.worker, context) === 'none'
}

/** The workers of the pool of this run have changed, or whether it is paused, or a topic has appeared. Nothing is decided if the change is of no use to the run. */
export function followWorkers(draft: Decision, run: ActiveRun, context: Context): void {
  const { now } = context
  if (waitsForPool(run)) followPool(draft, run, context)
  else if (waitsForHandler(run)) {
    const route = routeOf(executionOf(draft.job, run, now), null, context)
    if (route === 'none' || now >= run.startDeadlineAt) return
    if (isEarly(run, context)) checkLater(draft, run, now)
    else beginAttempt(draft, run, context)
  } else if (waitsForTopic(run)) followTopic(draft, run, context)
  else if (run.status === 'DISPATCHED') sendElsewhere(draft, run, context)
}

/** Sends the next attempt to another worker if the one that the run was sent to has left. False: it has not, or that is unknown. */
export function sendElsewhere(draft: Decision, run: ActiveRun, context: Context): boolean {
  const { routedTo } = run
  if (routedTo === null) return false
  const { pool } = executionOf(draft.job, run, context.now)
  const goneAt = context.goneAt?.(pool, routedTo, run.dispatchedAt)
  if (goneAt === undefined) return false
  // It may have started the run before it left.
  if (goneAt > context.eventsReadUntil) draft.awaitsEventsUntil = goneAt
  else {
    // A worker that has only lost its session still has it.
    announceCancellation(draft, run, 'worker-left')
    beginAttempt(draft, { ...uncounted(draft, run, context.now), worker: routedTo }, context)
  }
  return true
}

/**
 * The start deadline without the retention of the topic that the run was in: it may go to one worker now, or wait. Known only for its first record,
 * because later ones are later, and without limits, because it may have waited for them.
 */
function askedDeadlineOf({ job: { definition } }: Decision, run: ActiveRun): number {
  const { startDeadlineAt, limits, handlerMissingAt, releasedAttempts, routedTo, specOffset, dueAt, dispatchedAt } = run
  const isFirst = limits === null && handlerMissingAt === null && releasedAttempts === 0 && routedTo === null
  if (!isFirst || definition?.spec === undefined || definition.offset !== specOffset) return startDeadlineAt
  const { startDeadlineMs, expireAt } = definition.spec
  const asked = Math.max(dueAt, dispatchedAt) + startDeadlineMs
  return Math.max(startDeadlineAt, Math.min(asked, expireAt ?? Number.POSITIVE_INFINITY))
}

/** The next attempt, which does not count, with the same start deadline. */
function uncounted(draft: Decision, run: ActiveRun, now: number): ActiveRun {
  return patchRun(draft, run, {
    attempt: run.attempt + 1,
    startDeadlineAt: run.startDeadlineAt,
    releasedAttempts: run.releasedAttempts + 1,
    unstartedAttempts: run.unstartedAttempts + 1,
    dueAt: Math.max(run.dueAt, now),
    ...{ routedTo: null, tellAt: null, startedAt: null },
  })
}

const expire = (draft: Decision, run: ActiveRun, finishedAt: number, context: Context): void =>
  finishRun(draft, run, { status: 'EXPIRED', finishedAt, reason: 'handler-missing' }, context)
