/** Queries for jobs in the store of a partition, of an owner or a standby. */
import type { ActiveRun, FinishedRun } from '../../../schemas/index.ts'
import { whyOf } from '../../../streams/jobs/index.ts'
import { runInputOf } from '../../../streams/runs/index.ts'
import { type Job, pristineState } from '../../../streams/state/index.ts'
import type { Clock } from '../../clock/index.ts'
import type { FairSlots } from '../../concurrency/index.ts'
import { DuelogError } from '../../errors/index.ts'
import {
  type ActiveRunView,
  activeRunView,
  type Heartbeat,
  type JobQueries,
  type JobView,
  type ListedJobs,
  type ListQuery,
  type PartitionStore,
  type StoreSearches,
} from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { loadJobs } from '../state/index.ts'
import { hasFewDead, listDeadRuns } from './dead-runs.ts'
import { deadEndsOf, endedRunsOf } from './ended-runs.ts'
import { listAmong, listHere } from './job-search.ts'
import { viewOfJob } from './job-view.ts'

/** Where the queries read. */
export interface QuerySource {
  /** Throws `not-ready` if there is no store. */
  storeOf(partition: number): PartitionStore
  /** The last one of an attempt, as far as it is known here. */
  heartbeat(partition: number, id: string, run: Pick<ActiveRun, 'runNo' | 'attempt' | 'specOffset'>): Heartbeat | null
  /** Ids of jobs that may have active runs. */
  jobsUnderWay(partition: number, store: PartitionStore): Promise<string[]>
  /** Definitions that were written since the last call; undefined: unknown. */
  written(partition: number): string[] | undefined
}

/** `lists`: slots of the whole process, so that concurrent lists do not add up. */
export function jobQueries(
  sight: QuerySource,
  { codecs, clock }: { codecs: SchedulerCodecs; clock: Clock },
  lists: FairSlots,
  searches: StoreSearches,
): JobQueries {
  const withHeartbeats = (number: number, id: string, active: readonly ActiveRun[]): ActiveRunView[] =>
    active.map((run) => activeRunView(run, sight.heartbeat(number, id, run)))
  const viewOf = (job: Job, number: number): JobView | undefined =>
    viewOfJob(job, number, (active) => withHeartbeats(number, job.id, active))

  return {
    async job(partition, id) {
      const job = (await loadJobs(sight.storeOf(partition), codecs, [id])).get(id)
      const view = job === undefined ? undefined : viewOf(job, partition)
      return view && { ...view, recentCommands: job?.state?.recentCommands ?? [] }
    },

    async why(partition, id) {
      const job = (await loadJobs(sight.storeOf(partition), codecs, [id])).get(id)
      if (job?.definition === undefined) return undefined
      const { status } = job.state ?? pristineState(job)
      return { status, reasons: whyOf(job, clock.nowMs()) }
    },

    async list(partition, filter, limit, after, asker) {
      return lists.run(async () => {
        const store = sight.storeOf(partition)
        const page = { filter, limit, after }
        const place = { store, codecs, viewOf: (job: Job) => viewOf(job, partition) }
        if (filter.active) return listAmong(place, await sight.jobsUnderWay(partition, store), page)
        const { isWhole, ...here } = await listHere(place, page)
        if (isWhole) return here
        const listed = await listOn(sight, searches, partition, page, here, asker?.signal)
        stillAt(sight, partition, store)
        return listed
      }, asker)
    },

    async runs(partition, id, deadRunNo) {
      const store = sight.storeOf(partition)
      const { job, finished } = await jobWithRuns(store, codecs, id)
      if (job?.definition === undefined) return undefined
      if (deadRunNo !== undefined) finished.push(...(await olderDeadRun(store, codecs, job, finished, deadRunNo)))
      return {
        active: withHeartbeats(partition, id, job.state?.active ?? []),
        finished: finished.sort((a, b) => b.runNo - a.runNo),
        life: job.state?.life ?? '',
      }
    },

    async deadRuns(partition, query, asker) {
      return lists.run(async () => {
        const store = sight.storeOf(partition)
        if (await hasFewDead(store, query)) return listDeadRuns({ store, codecs }, query)
        const found = await searches.deadRuns({ partition, query }, asker?.signal)
        stillAt(sight, partition, store)
        return found
      }, asker)
    },

    async deadRun(partition, id, runNo) {
      const job = (await loadJobs(sight.storeOf(partition), codecs, [id], new Map([[id, runNo]]))).get(id)
      return job?.state?.deadRuns.includes(runNo) ? job.snapshots?.get(runNo) : undefined
    },

    async runInput(partition, id, runNo) {
      const { job, finished } = await jobWithRuns(sight.storeOf(partition), codecs, id, runNo)
      return job === undefined ? undefined : runInputOf(job, finished, runNo)
    },
  }
}

/** The end of a dead run that is not among the last runs any more. Empty: it is among them, or is not kept. */
async function olderDeadRun(
  store: PartitionStore,
  codecs: SchedulerCodecs,
  { id, state }: Job,
  finished: readonly { runNo: number }[],
  deadRunNo: number,
) {
  if (!state?.deadRuns.includes(deadRunNo) || finished.some(({ runNo }) => runNo === deadRunNo)) return []
  return (await deadEndsOf(store, codecs, id, { ...state, deadRuns: [deadRunNo] })).ends.values()
}

/** The partition may have moved during a search, and may be back with another store. */
function stillAt(sight: QuerySource, partition: number, store: PartitionStore): void {
  if (sight.storeOf(partition) === store) return
  throw new DuelogError('not-ready', `The store of partition ${partition} was opened again meanwhile; try again shortly.`)
}

/** The list with its rest, from a thread that knows the store alone. */
async function listOn(
  sight: QuerySource,
  searches: StoreSearches,
  partition: number,
  { filter, limit }: ListQuery,
  here: ListedJobs,
  signal: AbortSignal | undefined,
): Promise<ListedJobs> {
  const query = { filter, limit: limit - here.jobs.length, after: here.next }
  const rest = await searches.list({ partition, written: sight.written(partition), query }, signal)
  for (const { id, active } of rest.jobs) for (const run of active) run.heartbeat = sight.heartbeat(partition, id, run)
  return { ...rest, jobs: [...here.jobs, ...rest.jobs], looked: here.looked + rest.looked }
}

/** A job and its ended runs that are kept, in any order. The snapshot of run `runNo` is loaded. */
export async function jobWithRuns(
  store: PartitionStore,
  codecs: SchedulerCodecs,
  id: string,
  runNo?: number,
): Promise<{ job: Job | undefined; finished: FinishedRun[] }> {
  const runs = runNo === undefined ? undefined : new Map([[id, runNo]])
  const job = (await loadJobs(store, codecs, [id], runs)).get(id)
  return { job, finished: job === undefined ? [] : await endedRunsOf(store, codecs, id, job.state) }
}
