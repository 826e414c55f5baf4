/** The ends of runs that a store keeps of a job. */
import type { FinishedRun, JobState } from '../../../schemas/index.ts'
import { runHistorySize, runKey } from '../../../streams/state/index.ts'
import type { PartitionStore } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { entryOf } from '../state/index.ts'

/** The ended runs of a job that are kept, in any order. */
export async function endedRunsOf(
  store: PartitionStore,
  codecs: SchedulerCodecs,
  id: string,
  state: Pick<JobState, 'lastRun'> | undefined,
): Promise<FinishedRun[]> {
  const finished: FinishedRun[] = state?.lastRun ? [state.lastRun] : []
  const slots = await store.get(Array.from({ length: runHistorySize }, (_, index) => runKey(id, index)))
  for (const value of slots) {
    const run = (await entryOf(codecs, value))?.run ?? null
    if (run !== null) finished.push(run)
  }
  return finished
}
