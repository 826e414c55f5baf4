/** Counts the jobs that need attention (activity/standing-jobs.ts) once for a new owner, from the index keys of its store. */
import { indexKind, indexRange, jobIdOfIndexKey } from '../../../streams/state/index.ts'
import type { IdleTime } from '../../ground/concurrency/index.ts'
import type { PartitionStore } from '../../ground/ports/index.ts'
import type { StandingJobs } from '../activity/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { eachJob } from '../state/index.ts'

/** Keys that are read together. */
const slice = 500
/** Jobs that are read without a pause, because the owner has runs to dispatch: about a millisecond. A count and not a clock, so that a seed of the simulation is one history. */
const pieceJobs = 30
const pieceMs = 1

const indexes = [
  { kind: indexKind.dead, value: '' },
  { kind: indexKind.status, value: 'INVALID' },
  { kind: indexKind.status, value: 'PAUSED' },
] as const

export interface StandingWalk {
  standing: StandingJobs
  /** Begins to count. False: they are counted already, or are being counted. */
  begin(): boolean | Promise<boolean>
  store: PartitionStore
  codecs: SchedulerCodecs
  spare: Pick<IdleTime, 'rest'>
}

/** Does nothing if they are counted already. Rejects if the store does; then the next call begins again. */
export async function countStanding({ standing, begin, store, codecs, spare }: StandingWalk): Promise<void> {
  if (!(await begin())) return
  try {
    let read = 0
    for (const { kind, value } of indexes) {
      for (let after: string | undefined; ; ) {
        const entries = await store.scan({ ...indexRange(kind, value, after), limit: slice, keysOnly: true })
        const ids = entries.map(({ key }) => jobIdOfIndexKey(key, value))
        for await (const job of eachJob(store, codecs, ids)) {
          standing.found(job)
          if (++read % pieceJobs === 0) await spare.rest(pieceMs)
        }
        after = ids.at(-1)
        if (entries.length < slice) break
      }
    }
    standing.end()
  } catch (error) {
    standing.giveUp()
    throw error
  }
}
