/**
 * The record of a run that has ended, for the topic `runs`. It never throws and needs nothing that may be missing: the end of a run must
 * not fail because of its record. Its size is bounded, whatever the handler returned.
 */
import type { ActiveRun, EndedRun, Execution, FinishedRun } from '../../schemas/index.ts'
import { hiddenHash } from '../hashing/index.ts'
import type { Job } from '../state/index.ts'
import { cutText, traceContextOf } from '../text/index.ts'
import { executionOf } from './dispatch.ts'
import { snapshotNoOf } from './snapshots.ts'
import { startedAttemptsOf } from './started-attempts.ts'

/** Longest result that the record holds, in bytes. Of a longer one it has the length. */
export const endedResultBytesMax = 4_096
/** Longest reason in the record. The state and the dead letter have more. */
const reasonCharsMax = 500

/** `reason`: why it ended so, if the status does not say it. */
export function endedRunOf(job: Job, run: ActiveRun, finished: FinishedRun, reason?: string): EndedRun {
  const made = madeFrom(job, run)
  const topic = made?.topicTarget?.name ?? null
  const error = finished.status === 'SUCCEEDED' ? undefined : finished.errors.at(-1)
  const { result } = finished
  return {
    jobId: job.id,
    runNo: finished.runNo,
    life: job.state?.life ?? '',
    outcome: finished.status,
    reason: reason == null ? null : cutText(reason, reasonCharsMax),
    trigger: finished.trigger,
    commandId: finished.commandId,
    handler: made === undefined || topic !== null ? null : made.handler,
    topic,
    pool: made === undefined || topic !== null ? null : made.pool,
    tags: job.definition?.spec?.tags ?? [],
    scheduledFor: finished.scheduledFor,
    dueAt: run.dueAt,
    startedAt: finished.startedAt,
    finishedAt: finished.finishedAt,
    attempts: startedAttemptsOf(finished),
    worker: finished.worker,
    errorType: error?.type ?? null,
    errorMessage: error?.message ?? null,
    result: result !== null && result.length <= endedResultBytesMax ? result : null,
    resultBytes: result?.length ?? 0,
    note: finished.note,
    mayHoldSecrets: made === undefined || mayHoldSecrets(job, run, made),
    traceparent: traceContextOf(made?.headers ?? {})?.traceparent ?? null,
  }
}

/** The Execution of the run; undefined if its definition is gone, or if its snapshot is not loaded or unreadable. */
function madeFrom(job: Job, run: ActiveRun): Execution | undefined {
  const snapshotNo = snapshotNoOf(run)
  if (snapshotNo === undefined ? job.definition?.spec === undefined : !job.snapshots?.has(snapshotNo)) return undefined
  return executionOf(job, run, run.dispatchedAt)
}

function mayHoldSecrets({ definition }: Job, run: ActiveRun, { headers, httpTarget }: Execution): boolean {
  if (!run.snapshot && definition?.spec !== undefined) return hiddenHash(definition.spec) !== 0
  return httpTarget !== null || Object.keys(headers).length > 0
}
