/** Queries for jobs in the store of a partition, of an owner or a standby, and a job as they show it. */
import type { ActiveRun, FinishedRun, JobState } from '../../../schemas/index.ts'
import { whyOf } from '../../../streams/jobs/index.ts'
import { runInputOf } from '../../../streams/runs/index.ts'
import { followsZone } from '../../../streams/schedules/index.ts'
import { type Job, pristineState, waitsForHandler, waitsForPool } from '../../../streams/state/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import type { FairSlots } from '../../ground/concurrency/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type {
  ActiveRunView,
  Heartbeat,
  JobQueries,
  JobView,
  ListedJobs,
  ListQuery,
  PartitionStore,
  StoreSearches,
} from '../../ground/ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { loadJobs } from '../state/index.ts'
import { hasFewDead, listDeadRuns } from './dead-runs.ts'
import { listAmong, listHere } from './job-search.ts'
import { deadEndsOf, endedRunsOf } from './run-ends.ts'

/** A job as queries show it. */

const placeOf = ({ anchorAt, decidedFor, latestFiredFor }: JobState): JobView['place'] => ({
  anchorAt,
  decidedFor,
  latestFiredFor,
})

/** Undefined: it has no definition. */
export function viewOfJob(
  job: Job,
  partition: number,
  withHeartbeats: (active: readonly ActiveRun[]) => ActiveRunView[],
): JobView | undefined {
  const { definition } = job
  if (definition === undefined) return undefined
  const state = job.state ?? pristineState(job)
  return {
    id: job.id,
    partition,
    offset: definition.offset,
    definition: definition.spec,
    status: state.status,
    nextFireAt: state.nextFireAt,
    nextDueAt: state.nextDueAt,
    ...(definition.spec !== undefined && followsZone(definition.spec) && { place: placeOf(state) }),
    runNo: state.runNo,
    scheduledRuns: state.scheduledRuns,
    succeeded: state.succeeded,
    failed: state.failed,
    skipped: state.skipped,
    cancelled: state.cancelled,
    reason: state.reason,
    active: withHeartbeats(state.active),
    lastRun: state.lastRun,
    deadRuns: state.deadRuns,
    deadRunsDropped: state.deadRunsDropped,
    anchorAt: state.anchorAt,
    backfill: state.backfill,
    followUpsWaiting: state.followUps?.count ?? 0,
  }
}

export function activeRunView(run: ActiveRun, heartbeat: Heartbeat | null): ActiveRunView {
  if (waitsForPool(run)) return { ...run, heartbeat, status: 'WAITING', waitsFor: 'POOL_PAUSED' }
  return waitsForHandler(run) ? { ...run, heartbeat, status: 'WAITING', waitsFor: 'HANDLER' } : { ...run, heartbeat }
}

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
  source: QuerySource,
  { codecs, clock }: { codecs: SchedulerCodecs; clock: Clock },
  lists: FairSlots,
  searches: StoreSearches,
): JobQueries {
  const withHeartbeats = (number: number, id: string, active: readonly ActiveRun[]): ActiveRunView[] =>
    active.map((run) => activeRunView(run, source.heartbeat(number, id, run)))
  const viewOf = (job: Job, number: number): JobView | undefined =>
    viewOfJob(job, number, (active) => withHeartbeats(number, job.id, active))

  return {
    async job(partition, id) {
      const job = (await loadJobs(source.storeOf(partition), codecs, [id])).get(id)
      const view = job === undefined ? undefined : viewOf(job, partition)
      return view && { ...view, recentCommands: job?.state?.recentCommands ?? [] }
    },

    async why(partition, id) {
      const job = (await loadJobs(source.storeOf(partition), codecs, [id])).get(id)
      if (job?.definition === undefined) return undefined
      const { status } = job.state ?? pristineState(job)
      return { status, reasons: whyOf(job, clock.nowMs()) }
    },

    async list(partition, filter, limit, after, asker) {
      return lists.run(async () => {
        const store = source.storeOf(partition)
        const page = { filter, limit, after }
        const place = { store, codecs, viewOf: (job: Job) => viewOf(job, partition) }
        if (filter.active) return listAmong(place, await source.jobsUnderWay(partition, store), page)
        const { isWhole, ...here } = await listHere(place, page)
        if (isWhole) return here
        const listed = await listOn(source, searches, partition, page, here, asker?.signal)
        stillAt(source, partition, store)
        return listed
      }, asker)
    },

    async runs(partition, id, deadRunNo) {
      const store = source.storeOf(partition)
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
        const store = source.storeOf(partition)
        if (await hasFewDead(store, query)) return listDeadRuns({ store, codecs }, query)
        const found = await searches.deadRuns({ partition, query }, asker?.signal)
        stillAt(source, partition, store)
        return found
      }, asker)
    },

    async deadRun(partition, id, runNo) {
      const job = (await loadJobs(source.storeOf(partition), codecs, [id], new Map([[id, runNo]]))).get(id)
      return job?.state?.deadRuns.includes(runNo) ? job.snapshots?.get(runNo) : undefined
    },

    async runInput(partition, id, runNo) {
      const { job, finished } = await jobWithRuns(source.storeOf(partition), codecs, id, runNo)
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
  return (await deadEndsOf(store, codecs, id, { ...state, deadRuns: [deadRunNo] })).values()
}

/** The partition may have moved during a search, and may be back with another store. */
function stillAt(source: QuerySource, partition: number, store: PartitionStore): void {
  if (source.storeOf(partition) === store) return
  throw new DuelogError('not-ready', `The store of partition ${partition} was opened again meanwhile; try again shortly.`)
}

/** The list with its rest, from a thread that knows the store alone. */
async function listOn(
  source: QuerySource,
  searches: StoreSearches,
  partition: number,
  { filter, limit }: ListQuery,
  here: ListedJobs,
  signal: AbortSignal | undefined,
): Promise<ListedJobs> {
  const query = { filter, limit: limit - here.jobs.length, after: here.next }
  const rest = await searches.list({ partition, written: source.written(partition), query }, signal)
  for (const { id, active } of rest.jobs) for (const run of active) run.heartbeat = source.heartbeat(partition, id, run)
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
