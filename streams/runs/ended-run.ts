/**
 * What is kept of a run that has ended: its record for the topic `runs`, how many attempts started, and what a job keeps of its dead runs. The
 * record never throws and needs nothing that may be missing: the end of a run must not fail because of it. Its size is bounded, whatever the
 * handler returned.
 */
import type { ActiveRun, EndedRun, Execution, FinishedRun } from '../../schemas/index.ts'
import type { Job } from '../state/index.ts'
import { cutText, hiddenHash, traceContextOf } from '../text/index.ts'
import { executionOf } from './dispatch.ts'
import { snapshotNoOf } from './snapshots.ts'

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

/** How many attempts of a run started. The number of an attempt also counts those that did not: it is a fencing token. */

/** Of an active run: its current attempt has not started unless it is RUNNING. */
export const startedAttempts = ({
  attempt,
  status,
  unstartedAttempts,
}: Pick<ActiveRun, 'attempt' | 'status' | 'unstartedAttempts'>): number =>
  attempt - unstartedAttempts - (status === 'RUNNING' ? 0 : 1)

/** Of an ended run. */
export const startedAttemptsOf = ({ attempts, unstartedAttempts }: Pick<FinishedRun, 'attempts' | 'unstartedAttempts'>): number =>
  attempts - unstartedAttempts

/** Those of a run that ends so: an attempt that expired or was cancelled may not have started. */
export const unstartedAtEnd = (
  { unstartedAttempts, startedAt }: Pick<ActiveRun, 'unstartedAttempts' | 'startedAt'>,
  status: FinishedRun['status'],
): number => unstartedAttempts + ((status === 'EXPIRED' || status === 'CANCELLED') && startedAt === null ? 1 : 0)

/** Dead runs of a job: how many are kept for a redrive, what is kept of their ends, and which existed at a time. */

/** Dead runs of a job that are kept, however large their inputs are. */
const deadRunsMin = 10
/** Largest number of dead runs of a job that are kept. Each has a number in the state, which every decision about the job writes. */
const deadRunsMax = 1_000
/** Bytes of the dead runs of a job, if all were as large as the last one. */
const deadBytesMax = 4 * 1024 * 1024
/** Bytes of a dead run besides its input: its names and times, and its last error. */
const endBytes = 2_048

/** How many dead runs are kept, the one with this input included. `had`: kept before it. Without `mayGrow` no more than that, or ten. */
export function deadRunsKept(input: Execution | undefined, had: number, mayGrow: boolean): number {
  const fitting = Math.floor(deadBytesMax / (endBytes + inputBytes(input)))
  return Math.max(deadRunsMin, Math.min(fitting, mayGrow ? deadRunsMax : had))
}

function inputBytes(input: Execution | undefined): number {
  const { payload = null, headers = {}, cause = null } = input ?? {}
  const own = (payload?.length ?? 0) + (cause?.result?.length ?? 0)
  return Object.values(headers).reduce((sum, { length }) => sum + length, own)
}

/** The end of a dead run, kept after it has left the run history: enough to find it by time and error. */
export const endKept = (run: FinishedRun): FinishedRun => ({
  ...run,
  result: null,
  errors: run.errors.slice(-1).map((error) => ({ ...error, stack: null })),
})

/** The dead runs that had died by `at` and whose commandId does not begin with `commandPrefix`, oldest first. `ends`: how they ended. */
export function deadRunsBy(
  deadRuns: readonly number[],
  ends: ReadonlyMap<number, FinishedRun>,
  { at, commandPrefix }: { at: number; commandPrefix: string },
): FinishedRun[] {
  const runs = deadRuns.flatMap((runNo) => ends.get(runNo) ?? [])
  return runs.filter(({ finishedAt, commandId }) => finishedAt <= at && !commandId?.startsWith(commandPrefix))
}
