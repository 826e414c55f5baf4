/** Queries for jobs in the store of a partition, of an owner or a standby. */
import type { ActiveRun, FinishedRun, JobState } from '../../../schemas/index.ts'
import { whyOf } from '../../../streams/jobs/index.ts'
import { runInputOf } from '../../../streams/runs/index.ts'
import { followsZone } from '../../../streams/schedules/index.ts'
import { type Job, pristineState } from '../../../streams/state/index.ts'
import type { Clock } from '../../clock/index.ts'
import type { FairSlots } from '../../concurrency/index.ts'
import type { ActiveRunView, JobQueries, JobView, PartitionStore } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { loadJobs } from '../state/index.ts'
import { listDeadRuns } from './dead-runs.ts'
import { deadEndsOf, endedRunsOf } from './ended-runs.ts'
import { listAmong, listJobsOf } from './job-search.ts'
import type { SearchIndex } from './search-index.ts'

/** Where the queries read. */
export interface QuerySource {
  /** Throws `not-ready` if there is no store. */
  storeOf(partition: number): PartitionStore
  withHeartbeats(partition: number, id: string, active: readonly ActiveRun[]): ActiveRunView[]
  /** Ids of jobs that may have active runs. */
  jobsUnderWay(partition: number, store: PartitionStore): Promise<string[]>
  /** The search index, if there is one. */
  searchIndexOf(partition: number): SearchIndex | undefined
}

/** `lists`: slots of the whole process, so that concurrent lists do not add up. */
export function jobQueries(
  sight: QuerySource,
  { codecs, clock }: { codecs: SchedulerCodecs; clock: Clock },
  lists: FairSlots,
): JobQueries {
  const viewOf = (job: Job, number: number): JobView | undefined =>
    viewOfJob(job, number, (active) => sight.withHeartbeats(number, job.id, active))

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
        const place = { store, codecs, steadyMs: clock.steadyMs(), viewOf: (job: Job) => viewOf(job, partition) }
        if (filter.active) return listAmong(place, await sight.jobsUnderWay(partition, store), page)
        return listJobsOf({ ...place, searchIndex: sight.searchIndexOf(partition) }, page)
      }, asker)
    },

    async runs(partition, id, deadRunNo) {
      const store = sight.storeOf(partition)
      const { job, finished } = await jobWithRuns(store, codecs, id)
      if (job?.definition === undefined) return undefined
      if (
        deadRunNo !== undefined &&
        job.state?.deadRuns.includes(deadRunNo) &&
        !finished.some(({ runNo }) => runNo === deadRunNo)
      )
        finished.push(...(await deadEndsOf(store, codecs, id, { ...job.state, deadRuns: [deadRunNo] })).ends.values())
      return {
        active: sight.withHeartbeats(partition, id, job.state?.active ?? []),
        finished: finished.sort((a, b) => b.runNo - a.runNo),
        life: job.state?.life ?? '',
      }
    },

    async deadRuns(partition, query, asker) {
      return lists.run(() => listDeadRuns({ store: sight.storeOf(partition), codecs }, query), asker)
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

const placeOf = ({ anchorAt, decidedFor, latestFiredFor }: JobState): JobView['place'] => ({
  anchorAt,
  decidedFor,
  latestFiredFor,
})

function viewOfJob(
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
