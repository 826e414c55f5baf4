/** Which dead runs of a job existed at a time, and were not made since by a certain sender of commands. */
import type { FinishedRun } from '../../schemas/index.ts'
import { runHistorySize } from '../state/index.ts'

/**
 * The dead runs that had died by `at` and whose commandId does not begin with `commandPrefix`, oldest first. `finished`: the ended runs
 * that are kept. A dead run that is not kept any more counts only if the run that took its place had ended by then.
 */
export function deadRunsBy(
  deadRuns: readonly number[],
  finished: readonly FinishedRun[],
  { at, commandPrefix }: { at: number; commandPrefix: string },
): number[] {
  const kept = new Map(finished.map((run) => [run.runNo, run]))
  const placeOf = (runNo: number): number => runNo % runHistorySize
  return deadRuns.filter((runNo) => {
    const run = kept.get(runNo)
    if (run !== undefined) return run.finishedAt <= at && !run.commandId?.startsWith(commandPrefix)
    const later = finished.filter((other) => placeOf(other.runNo) === placeOf(runNo) && other.runNo > runNo)
    return later.some(({ finishedAt }) => finishedAt <= at)
  })
}
