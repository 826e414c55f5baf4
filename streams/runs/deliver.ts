/**
 * Runs that end in the step that dispatches them: those whose target is a topic. The owner writes the record itself, in the
 * transaction that records the run as SUCCEEDED.
 *
 * A topic that cannot be written to now would fail the whole transaction. So the run waits outside of it, with the reason (topic-wait.ts),
 * until its start deadline. Then it is EXPIRED. The job continues.
 */
import type { ActiveRun, Execution, TopicTarget } from '../../schemas/index.ts'
import type { Context, Decision } from '../state/index.ts'
import { executionOf } from './dispatch.ts'
import { finishRun } from './finish.ts'
import { writableRecord } from './topic-record.ts'
import { waitForTopic } from './topic-wait.ts'

/** Delivers the runs of the step. The end of a run may make another one due. */
export function endRunsOfStep(draft: Decision, context: Context): void {
  for (let runNo = draft.endingRuns.shift(); runNo !== undefined; runNo = draft.endingRuns.shift()) {
    const run = draft.job.state?.active.find((candidate) => candidate.runNo === runNo)
    if (run === undefined) continue
    const execution = executionOf(draft.job, run, context.now)
    if (execution.topicTarget !== null) deliver(draft, run, execution, execution.topicTarget, context)
  }
}

function deliver(draft: Decision, run: ActiveRun, execution: Execution, place: TopicTarget, context: Context): void {
  const { now } = context
  const { record, problem } = writableRecord(execution, place, context.topicProblem)
  if (problem === undefined && now < run.startDeadlineAt) {
    draft.out.push({ kind: 'record', record, scheduledFor: run.scheduledFor })
    finishRun(draft, run, { status: 'SUCCEEDED', finishedAt: now, startedAt: now }, context)
    return
  }
  if (problem !== undefined) waitForTopic(draft, run, problem, context)
  if (now < run.startDeadlineAt) return
  const waiting = draft.job.state?.active.find(({ runNo }) => runNo === run.runNo) ?? run
  finishRun(draft, waiting, { status: 'EXPIRED', finishedAt: now, reason: 'topic-unavailable' }, context)
}
