/** The ends of runs that a store keeps of a job: of the last runs, and of the dead runs that can be redriven. */
import type { FinishedRun, JobState } from '../../../schemas/index.ts'
import { runHistorySize, runKey, snapshotKey } from '../../../streams/state/index.ts'
import type { StoreReader } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { entryOf } from '../state/index.ts'

/** The ended runs of a job that are kept, in any order. */
export async function endedRunsOf(
  store: StoreReader,
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

/** Dead runs whose entries are read together: each has an input, and few are large (streams/runs/dead-runs.ts). */
const deadAtOnce = 100

/** `ends`: how the dead runs of a job ended; runs that died under an earlier version may be missing. `history`: its ended runs. */
export async function deadEndsOf(
  store: StoreReader,
  codecs: SchedulerCodecs,
  id: string,
  { deadRuns, lastRun }: Pick<JobState, 'deadRuns' | 'lastRun'>,
): Promise<{ ends: Map<number, FinishedRun>; history: FinishedRun[] }> {
  const isLast = deadRuns.every((runNo) => runNo === lastRun?.runNo)
  const history = isLast && lastRun ? [lastRun] : await endedRunsOf(store, codecs, id, { lastRun })
  const dead = new Set(deadRuns)
  const ends = new Map(history.filter(({ runNo }) => dead.has(runNo)).map((run) => [run.runNo, run]))
  const others = deadRuns.filter((runNo) => !ends.has(runNo))
  for (let at = 0; at < others.length; at += deadAtOnce) {
    const values = await store.get(others.slice(at, at + deadAtOnce).map((runNo) => snapshotKey(id, runNo)))
    for (const value of values) {
      const run = (await entryOf(codecs, value))?.run ?? null
      if (run !== null) ends.set(run.runNo, run)
    }
  }
  return { ends, history }
}
