/**
 * What runs were made with, where the definition in force does not say it: the Execution under key P. A run has one of its own when its
 * command brought a payload, or when it is made again. Runs that are active while their definition is replaced share one, under the number
 * of the first of them, so that a definition of half a megabyte is kept once and not a hundred times in one transaction. Who ends last lets
 * it go. A dead run keeps one of its own for a redrive.
 */
import type { ActiveRun, Execution, JobState } from '../../schemas/index.ts'
import type { Decision, Job } from '../state/index.ts'

/** The run number in key P of what the run was made with; undefined: the definition in force says it. */
export const snapshotNoOf = ({ snapshot, snapshotRunNo, runNo }: ActiveRun): number | undefined =>
  snapshot ? (snapshotRunNo ?? runNo) : undefined

/** As above, of a run that is active or can be made again. */
export function snapshotNoIn({ state }: Job, runNo: number): number | undefined {
  const run = state?.active.find((candidate) => candidate.runNo === runNo)
  if (run !== undefined) return snapshotNoOf(run)
  return state?.deadRuns.includes(runNo) ? runNo : undefined
}

/** Run numbers in key P of all that is kept for a job. */
export function snapshotNosOf({ active, deadRuns }: JobState): number[] {
  const kept = new Set(deadRuns)
  for (const run of active) {
    const snapshotNo = snapshotNoOf(run)
    if (snapshotNo !== undefined) kept.add(snapshotNo)
  }
  return [...kept]
}

export function keepSnapshot(draft: Decision, execution: Execution): void {
  draft.snapshotPuts.push(execution)
  draft.job.snapshots = new Map(draft.job.snapshots).set(execution.runNo, execution)
}

/** Lets go what a run was made with that is not active any more, unless others were made with it too. */
export function dropSnapshot(draft: Decision, run: ActiveRun): void {
  const snapshotNo = snapshotNoOf(run)
  if (snapshotNo !== undefined && !draft.job.state?.deadRuns.includes(snapshotNo)) dropDeadSnapshot(draft, snapshotNo)
}

/** Lets go what stands under the number of a run that is not made again, unless active ones were made with it. */
export function dropDeadSnapshot(draft: Decision, snapshotNo: number): void {
  const isUsed = draft.job.state?.active.some((run) => snapshotNoOf(run) === snapshotNo) ?? false
  if (!isUsed) draft.snapshotDeletes.push(snapshotNo)
}
