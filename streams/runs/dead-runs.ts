/** Dead runs of a job: how many are kept for a redrive, what is kept of their ends, and which existed at a time. */
import type { Execution, FinishedRun } from '../../schemas/index.ts'
import { runHistorySize } from '../state/index.ts'

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

/** What is kept of the end of a dead run after it has left the run history: enough to find it by time and error. */
export const endKept = (run: FinishedRun): FinishedRun => ({
  ...run,
  result: null,
  errors: run.errors.slice(-1).map((error) => ({ ...error, stack: null })),
})

/**
 * The dead runs that had died by `at` and whose commandId does not begin with `commandPrefix`, oldest first. `ends`: those of dead runs
 * that are kept. Without its end, which an earlier version did not keep, a dead run counts only if the run that took its place in the
 * run history (`history`) had ended by then.
 */
export function deadRunsBy(
  deadRuns: readonly number[],
  { ends, history }: { ends: ReadonlyMap<number, FinishedRun>; history: readonly FinishedRun[] },
  { at, commandPrefix }: { at: number; commandPrefix: string },
): number[] {
  const placeOf = (runNo: number): number => runNo % runHistorySize
  return deadRuns.filter((runNo) => {
    const run = ends.get(runNo)
    if (run !== undefined) return run.finishedAt <= at && !run.commandId?.startsWith(commandPrefix)
    const later = history.filter((other) => placeOf(other.runNo) === placeOf(runNo) && other.runNo > runNo)
    return later.some(({ finishedAt }) => finishedAt <= at)
  })
}
