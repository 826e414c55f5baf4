/** What can be read of jobs in the store of a partition, whoever has it and however fresh it is. */
import type { ActiveRun, FinishedRun } from '../../schemas/generated.ts'
import { pristineState } from '../../streams/draft.ts'
import type { Job } from '../../streams/job.ts'
import { whyOf } from '../../streams/jobs/why.ts'
import { runKey, runRingSize, timerBound, timerKind, timerOfKey } from '../../streams/keys.ts'
import type { Clock } from '../clock.ts'
import type { ActiveRunView, JobFilter, JobQueries, JobView } from '../ports.ts'
import type { SchedulerCodecs } from './codecs.ts'
import { loadJobs } from './job-loader.ts'
import { type Walk, walkOf } from './job-ranges.ts'
import type { PartitionStore } from './ports.ts'

/** Jobs that one call looks at. */
export const scannedJobsMax = 10_000
const slice = 500

/** Where to look. */
export interface Sight {
  /** Throws `not-ready` when there is none. */
  storeOf(partition: number): PartitionStore
  withHeartbeats(partition: number, id: string, active: readonly ActiveRun[]): ActiveRunView[]
  /** Ids of jobs that may have active runs. */
  jobsUnderWay(partition: number, store: PartitionStore): Promise<string[]>
}

export function jobQueries(sight: Sight, { codecs, clock }: { codecs: SchedulerCodecs; clock: Clock }): JobQueries {
  const viewOf = (job: Job, number: number): JobView | undefined =>
    viewOfJob(job, number, (active) => sight.withHeartbeats(number, job.id, active))

  return {
    async job(partition, id) {
      const job = (await loadJobs(sight.storeOf(partition), codecs, [id])).get(id)
      return job === undefined ? undefined : viewOf(job, partition)
    },

    async why(partition, id) {
      const job = (await loadJobs(sight.storeOf(partition), codecs, [id])).get(id)
      if (job?.definition === undefined) return undefined
      const { status } = job.state ?? pristineState(job)
      return { status, reasons: whyOf(job, clock.nowMs()) }
    },

    async list(partition, filter, limit, after) {
      const store = sight.storeOf(partition)
      if (filter.active) return listOf(store, await sight.jobsUnderWay(partition, store), filter, limit, after)
      const walk = walkOf(filter)
      if (filter.dueBefore !== undefined && !walk.isNarrow) return listByDue(store, filter, limit, after)
      return listAlong(store, walk, filter, limit, after)

      /** Every walk goes in the order of job ids, so the cursor is the same for all. */
      async function listAlong(from: PartitionStore, way: Walk, wanted: JobFilter, room: number, last?: string) {
        const jobs: JobView[] = []
        const chunk = way.isNarrow ? Math.min(slice, 2 * room) : slice
        let cursor = last
        for (let scanned = 0; scanned < scannedJobsMax; ) {
          const entries = await from.scan({ ...way.rangeAfter(cursor), limit: chunk, keysOnly: true })
          const ids = entries.map(({ key }) => way.idOf(key))
          for (const job of (await loadJobs(from, codecs, ids)).values()) {
            cursor = job.id
            const view = viewOf(job, partition)
            if (view === undefined || !matches(view, wanted)) continue
            jobs.push(view)
            if (jobs.length === room) return { jobs, next: cursor }
          }
          if (entries.length < chunk) return { jobs }
          scanned += entries.length
        }
        return { jobs, next: cursor }
      }

      /** Few jobs are due soon: the time index finds them without looking at the others. The cursor is still a job id. */
      async function listByDue(from: PartitionStore, wanted: JobFilter, room: number, last?: string) {
        const to = timerBound(wanted.dueBefore ?? 0)
        const entries = await from.scan({ from: timerBound(0), to, limit: scannedJobsMax, keysOnly: true })
        const ids = entries
          .map(({ key }) => timerOfKey(key))
          .filter(({ kind }) => kind === timerKind.fire)
          .map(({ jobId }) => jobId)
        return listOf(from, ids, wanted, room, last)
      }

      async function listOf(from: PartitionStore, ids: string[], wanted: JobFilter, room: number, last?: string) {
        const ordered = [...new Set(ids)].filter((id) => last === undefined || id > last).sort()
        const jobs: JobView[] = []
        for (let at = 0; at < ordered.length; at += slice) {
          for (const job of (await loadJobs(from, codecs, ordered.slice(at, at + slice))).values()) {
            const view = viewOf(job, partition)
            if (view !== undefined && matches(view, wanted)) jobs.push(view)
            if (jobs.length === room) return { jobs, next: job.id }
          }
        }
        return { jobs }
      }
    },

    async runs(partition, id) {
      const store = sight.storeOf(partition)
      const job = (await loadJobs(store, codecs, [id])).get(id)
      if (job?.definition === undefined) return undefined
      const slots = await store.get(Array.from({ length: runRingSize }, (_, index) => runKey(id, index)))
      const finished: FinishedRun[] = job.state?.lastRun ? [job.state.lastRun] : []
      for (const value of slots) {
        const run = value === null ? null : (await codecs.state.decode(value)).run
        if (run !== null) finished.push(run)
      }
      return {
        active: sight.withHeartbeats(partition, id, job.state?.active ?? []),
        finished: finished.sort((a, b) => b.runNo - a.runNo),
      }
    },
  }
}

function viewOfJob(
  job: Job,
  partition: number,
  withHeartbeats: (active: readonly ActiveRun[]) => ActiveRunView[],
): JobView | undefined {
  const { definition } = job
  if (definition === undefined) return undefined
  const {
    status,
    nextFireAt,
    nextDueAt,
    runNo,
    scheduledRuns,
    succeeded,
    failed,
    skipped,
    cancelled,
    reason,
    active,
    lastRun,
    deadRuns,
  } = job.state ?? pristineState(job)
  return {
    id: job.id,
    partition,
    offset: definition.offset,
    definition: definition.spec,
    status,
    nextFireAt,
    nextDueAt,
    runNo,
    scheduledRuns,
    succeeded,
    failed,
    skipped,
    cancelled,
    reason,
    active: withHeartbeats(active),
    lastRun,
    deadRuns,
  }
}

function matches(view: JobView, filter: JobFilter): boolean {
  if (filter.idPrefix !== undefined && !view.id.startsWith(filter.idPrefix)) return false
  if (filter.active === true && view.active.length === 0) return false
  if (filter.dead === true && view.deadRuns.length === 0) return false
  if (filter.status !== undefined && view.status !== filter.status) return false
  if (filter.tag !== undefined && !view.definition?.tags.includes(filter.tag)) return false
  if (filter.handler !== undefined && view.definition?.target.handler !== filter.handler) return false
  const dueAt = view.nextDueAt ?? view.nextFireAt
  return filter.dueBefore === undefined || (dueAt !== null && dueAt < filter.dueBefore)
}
