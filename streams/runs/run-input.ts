/** The input of a run, as far as it is still known: of an active run, of a dead run, or of an ended run whose definition is in force. */
import type { Execution, FinishedRun } from '../../schemas/index.ts'
import type { Job } from '../state/index.ts'
import { type ExecutedRun, executionOf } from './dispatch.ts'
import { snapshotNoOf } from './snapshots.ts'

/** Undefined: it is not kept. The snapshot of the run must be loaded. */
export function runInputOf(job: Job, finished: readonly FinishedRun[], runNo: number): Execution | undefined {
  const run = job.state?.active.find((candidate) => candidate.runNo === runNo)
  if (run !== undefined) {
    const snapshotNo = snapshotNoOf(run)
    if (snapshotNo === undefined ? job.definition?.spec === undefined : !job.snapshots?.has(snapshotNo)) return undefined
    return executionOf(job, run, run.dispatchedAt)
  }
  if (job.state?.deadRuns.includes(runNo)) return job.snapshots?.get(runNo)
  const ended = finished.find((candidate) => candidate.runNo === runNo)
  if (ended === undefined || !hasInputOfDefinition(job, ended)) return undefined
  return executionOf(job, executedRunOf(job, ended), ended.dispatchedAt ?? ended.scheduledFor)
}

function executedRunOf(
  { definition }: Job,
  { runNo, attempts: attempt, scheduledFor, trigger, dueAt: due, specOffset }: FinishedRun,
): ExecutedRun {
  const { attemptTimeoutMs = 0, leaseMs = 0, startDeadlineMs = 0 } = definition?.spec ?? {}
  const dueAt = due ?? scheduledFor
  return {
    ...{ runNo, attempt, scheduledFor, trigger, dueAt, specOffset: specOffset ?? -1, snapshot: false, snapshotRunNo: null },
    ...{ attemptTimeoutMs, leaseMs, startDeadlineAt: dueAt + startDeadlineMs },
  }
}

/** An earlier version did not record whether a command gave the input. */
function hasInputOfDefinition({ definition }: Job, { specOffset, hasOwnInput, trigger }: FinishedRun): boolean {
  const isOwn = hasOwnInput ?? (trigger === 'MANUAL' || trigger === 'REDRIVE')
  return definition?.spec !== undefined && definition.offset === specOffset && !isOwn
}
