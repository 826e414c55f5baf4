/**
 * Snapshots: the Execution of a run under key P, if it differs from the definition in force. A run has its own snapshot if its command had
 * a payload, or if it is a redrive. Runs that are active while their definition is replaced share one snapshot, under the number of the
 * first of them. So a definition of half a megabyte is kept once and not a hundred times in one transaction. The last of these runs to end
 * deletes it. A dead run keeps its own snapshot for a redrive.
 */
import type { ActiveRun, Execution, JobState } from '../../schemas/index.ts'
import type { Decision, Job } from '../state/index.ts'

/** The run number in key P of the run's snapshot. Undefined: the run uses the definition in force. */
export const snapshotNoOf = ({
  snapshot,
  snapshotRunNo,
  runNo,
}: Pick<ActiveRun, 'snapshot' | 'snapshotRunNo' | 'runNo'>): number | undefined =>
  snapshot ? (snapshotRunNo ?? runNo) : undefined

/** Whether the input is kept apart from the definition, such as the payload of a command or the input of a dead run. */
export const hasOwnInput = ({ snapshot, snapshotRunNo, trigger }: ActiveRun): boolean =>
  trigger === 'REDRIVE' || (snapshot && snapshotRunNo === null)

/** The same, for a run that is active or can be redriven. */
export function snapshotNoIn({ state }: Job, runNo: number): number | undefined {
  const run = state?.active.find((candidate) => candidate.runNo === runNo)
  if (run !== undefined) return snapshotNoOf(run)
  return state?.deadRuns.includes(runNo) ? runNo : undefined
}

/** Run numbers in key P of all snapshots of a job. */
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

/** Deletes the snapshot of a run that has ended, unless other runs use it. */
export function dropSnapshot(draft: Decision, run: ActiveRun): void {
  const snapshotNo = snapshotNoOf(run)
  if (snapshotNo !== undefined && !draft.job.state?.deadRuns.includes(snapshotNo)) dropDeadSnapshot(draft, snapshotNo)
}

/** Deletes the snapshot of a run that is not redriven, unless active runs use it. */
export function dropDeadSnapshot(draft: Decision, snapshotNo: number): void {
  const isUsed = draft.job.state?.active.some((run) => snapshotNoOf(run) === snapshotNo) ?? false
  if (!isUsed) draft.snapshotDeletes.push(snapshotNo)
}
