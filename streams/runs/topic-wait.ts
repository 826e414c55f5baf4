/**
 * Runs that wait for their topic.
 *
 *   to be written ──► RETRY_WAIT with tellAt, while the topic cannot be written to ──it can──► written
 *                         └──start deadline──► EXPIRED
 *
 * The owner lets them follow when a topic appears, and checks them from time to time. A check that changes nothing is not logged.
 */
import type { ActiveRun } from '../../schemas/index.ts'
import { type Context, type Decision, patchRun, type Timer } from '../state/index.ts'
import { executionOf } from './dispatch.ts'
import { beginAttempt } from './gate.ts'
import { attemptErrorOf, withAttemptError } from './retries.ts'
import { writableRecord } from './topic-record.ts'
import { checkLater, topicCheckAt } from './wait-checks.ts'

const errorType = 'TopicUnavailable'

/** Parks the run with the reason. */
export function waitForTopic(draft: Decision, run: ActiveRun, problem: string, { now }: Context): void {
  const waiting = { ...run, errors: withReason(run, problem, now) }
  patchRun(draft, run, {
    ...{ status: 'RETRY_WAIT', parked: true, errors: waiting.errors, tellAt: topicCheckAt(waiting, now) },
    ...{ handlerMissingAt: null, poolPausedAt: null, worker: null, waitsFor: null },
  })
}

/** The time of a check has come. */
export function checkTopic(draft: Decision, run: ActiveRun, { dueAt }: Timer, context: Context): void {
  const { now } = context
  if (dueAt > now) draft.deferUntil = dueAt
  else if (now < run.startDeadlineAt && problemOf(draft, run, context) === run.errors.at(-1)?.message) checkLater(draft, run, now)
  else beginAttempt(draft, run, context)
}

/** A topic has appeared. Nothing is decided if it is another one. */
export function followTopic(draft: Decision, run: ActiveRun, context: Context): void {
  if (context.now < run.startDeadlineAt && problemOf(draft, run, context) === undefined) beginAttempt(draft, run, context)
}

/** Why the record of the run cannot be written now. */
function problemOf({ job }: Decision, run: ActiveRun, context: Context): string | undefined {
  const execution = executionOf(job, run, context.now)
  const place = execution.topicTarget
  return place === null ? undefined : writableRecord(execution, place, context.topicProblem).problem
}

/** A repeated reason is one error, with the time since which it holds. */
function withReason(run: ActiveRun, message: string, at: number): ActiveRun['errors'] {
  const { errors } = run
  const last = errors.at(-1)
  if (last?.type === errorType && last.message === message && last.at <= at) return errors
  return withAttemptError(errors, attemptErrorOf({ ...run, worker: null, startedAt: null }, { type: errorType, message }, at))
}
