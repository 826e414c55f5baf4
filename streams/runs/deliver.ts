/**
 * Runs that end in the step that dispatches them.
 *
 * A run whose target is a topic: the owner writes the record itself, in the transaction that records the run as SUCCEEDED.
 *
 * A topic that cannot be written to now would fail the whole transaction. So the run waits outside of it, with the reason, and is checked
 * again until its start deadline. Then it is EXPIRED. The job continues.
 *
 * A run that is not tracked: no report of it arrives after its dispatch, so it stays DISPATCHED.
 */
import type { ActiveRun, Execution, TopicTarget } from '../../schemas/index.ts'
import { type Context, type Decision, patchRun } from '../state/index.ts'
import { recordBytes } from '../topics/index.ts'
import { attemptErrorOf, withAttemptError } from './attempt-errors.ts'
import { executionOf } from './dispatch.ts'
import { finishRun } from './finish.ts'
import { topicRecord } from './topic-record.ts'

/** How long a run waits for its topic before the next check. Topics are checked at the same interval. */
export const topicRecheckMs = 30_000

const errorType = 'TopicUnavailable'

/** Delivers the runs of the step. The end of a run may make another one due. */
export function endRunsOfStep(draft: Decision, context: Context): void {
  for (let runNo = draft.endingRuns.shift(); runNo !== undefined; runNo = draft.endingRuns.shift()) {
    const run = draft.job.state?.active.find((candidate) => candidate.runNo === runNo)
    if (run === undefined) continue
    const execution = executionOf(draft.job, run, context.now)
    if (execution.topicTarget !== null) deliver(draft, run, execution, execution.topicTarget, context)
    else finishUntracked(draft, run, context)
  }
}

function finishUntracked(draft: Decision, run: ActiveRun, context: Context): void {
  finishRun(draft, run, { status: 'DISPATCHED', finishedAt: context.now }, context)
}

function deliver(draft: Decision, run: ActiveRun, execution: Execution, place: TopicTarget, context: Context): void {
  const { now } = context
  const record = topicRecord(execution, place, execution)
  const problem = context.topicProblem(place, recordBytes(record))
  if (problem === undefined && now < run.startDeadlineAt) {
    draft.out.push({ kind: 'record', record, scheduledFor: run.scheduledFor })
    finishRun(draft, run, { status: 'SUCCEEDED', finishedAt: now, startedAt: now }, context)
    return
  }
  const reasons = problem === undefined ? run.errors : withReason(run, problem, now)
  const waiting = patchRun(draft, run, { errors: reasons, worker: null, waitsFor: null })
  if (now >= run.startDeadlineAt) {
    return finishRun(draft, waiting, { status: 'EXPIRED', finishedAt: now, reason: 'topic-unavailable' }, context)
  }
  const dueAt = Math.min(now + topicRecheckMs, run.startDeadlineAt)
  patchRun(draft, waiting, { status: 'RETRY_WAIT', parked: true, dueAt })
}

/** A repeated reason is one error, with the time of its last occurrence. */
function withReason(run: ActiveRun, message: string, at: number): ActiveRun['errors'] {
  const { errors } = run
  const error = attemptErrorOf({ ...run, worker: null, startedAt: null }, { type: errorType, message }, at)
  const repeated = errors.at(-1)?.message === message
  return withAttemptError(repeated ? errors.slice(0, -1) : errors, error)
}
