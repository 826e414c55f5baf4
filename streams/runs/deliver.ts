/**
 * Runs that have left us with the step that dispatches them.
 *
 * A run whose target is a topic: the owner writes the record itself, in the transaction that records the run as SUCCEEDED.
 *
 * A topic that cannot be written to now would fail the transaction for all that is in it. So the run waits beside it, with the reason,
 * and is looked at again until its start deadline; then it is EXPIRED. The job goes on.
 *
 * A run that is not tracked: once the workers have it nothing is heard of it, so it stands as DISPATCHED from then on.
 */
import type { ActiveRun, Execution, TopicTarget } from '../../schemas/index.ts'
import { type Context, type Decision, patchRun } from '../state/index.ts'
import { executionOf } from './dispatch.ts'
import { finishRun } from './finish.ts'
import { recordBytes, topicRecord } from './topic-record.ts'

/** How long a run waits for its topic before it looks again; topics are checked as often. */
export const topicRecheckMs = 30_000

const errorType = 'TopicUnavailable'
const errorsKept = 5

/** Writes what the step has made due. The end of a run may make another due. */
export function deliverAll(draft: Decision, context: Context): void {
  for (let runNo = draft.deliveries.shift(); runNo !== undefined; runNo = draft.deliveries.shift()) {
    const run = draft.job.state?.active.find((candidate) => candidate.runNo === runNo)
    if (run === undefined) continue
    const execution = executionOf(draft.job, run, context.now)
    if (execution.topicTarget !== null) deliver(draft, run, execution, execution.topicTarget, context)
    else handOver(draft, run, context)
  }
}

function handOver(draft: Decision, run: ActiveRun, context: Context): void {
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

/** The same reason again and again is one error, with the time it was met last. */
function withReason({ errors, attempt }: ActiveRun, message: string, at: number): ActiveRun['errors'] {
  const error = { attempt, at, worker: null, type: errorType, message }
  const repeated = errors.at(-1)?.message === message
  return [...(repeated ? errors.slice(0, -1) : errors), error].slice(-errorsKept)
}
