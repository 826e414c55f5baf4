/** What the owner of a partition answers about its jobs. Nothing here changes anything. */
import type { ActiveRun, FinishedRun } from '../../schemas/generated.ts'
import { pristineState } from '../../streams/draft.ts'
import type { Job } from '../../streams/job.ts'
import { whyOf } from '../../streams/jobs/why.ts'
import { runKey, runRingSize } from '../../streams/keys.ts'
import { DuelogError } from '../errors.ts'
import type { ActiveRunView, JobView, PartitionQueries } from '../ports.ts'
import { forecast } from './forecast.ts'
import { loadJobs } from './job-loader.ts'
import { listAmong, listJobsOf } from './job-search.ts'
import type { SchedulerOptions } from './options.ts'
import type { Partition } from './partition.ts'
import type { PartitionStore } from './ports.ts'
import { idsOfRunTimers } from './under-way.ts'

export function partitionQueries(partitions: ReadonlyMap<number, Partition>, options: SchedulerOptions): PartitionQueries {
  const { codecs, clock } = options

  const storeOf = (number: number): PartitionStore => {
    const store = partitions.get(number)?.store
    if (store === undefined)
      throw new DuelogError('not-ready', `Partition ${number} is not active in this process; try again shortly.`)
    return store
  }

  const withHeartbeats = (number: number, id: string, active: readonly ActiveRun[]): ActiveRunView[] => {
    const leases = partitions.get(number)?.heard.leases
    return active.map((run) => ({ ...run, heartbeat: leases?.last(id, run) ?? null }))
  }
  /** A new owner looks once at the timers of runs for those that it has not folded itself. */
  const jobsUnderWay = async (number: number, store: PartitionStore): Promise<string[]> => {
    const underWay = partitions.get(number)?.heard.underWay
    if (underWay === undefined) return []
    if (!underWay.complete) {
      underWay.complete = true
      const ids = await idsOfRunTimers(store, clock.nowMs())
      const unknown = ids.filter((id) => !underWay.has(id))
      for (const job of (await loadJobs(store, codecs, unknown)).values()) {
        if (!underWay.has(job.id)) underWay.set(job.id, job.state?.active ?? [])
      }
    }
    return underWay.ids
  }
  const viewOf = (job: Job, number: number): JobView | undefined =>
    viewOfJob(job, number, (active) => withHeartbeats(number, job.id, active))

  return {
    partitions: () =>
      [...partitions.values()]
        .filter(({ phase }) => phase !== 'closed')
        .map((partition) => partition.view())
        .sort((a, b) => a.partition - b.partition),

    async job(partition, id) {
      const job = (await loadJobs(storeOf(partition), codecs, [id])).get(id)
      return job === undefined ? undefined : viewOf(job, partition)
    },

    async why(partition, id) {
      const job = (await loadJobs(storeOf(partition), codecs, [id])).get(id)
      if (job?.definition === undefined) return undefined
      const { status } = job.state ?? pristineState(job)
      return { status, reasons: whyOf(job, clock.nowMs()) }
    },

    async list(partition, filter, limit, after) {
      const store = storeOf(partition)
      const page = { filter, limit, after }
      const place = { store, codecs, nowMs: clock.nowMs(), viewOf: (job: Job) => viewOf(job, partition) }
      if (filter.active) return listAmong(place, await jobsUnderWay(partition, store), page)
      return listJobsOf({ ...place, catalogue: partitions.get(partition)?.heard.catalogue }, page)
    },

    async runs(partition, id) {
      const store = storeOf(partition)
      const job = (await loadJobs(store, codecs, [id])).get(id)
      if (job?.definition === undefined) return undefined
      const slots = await store.get(Array.from({ length: runRingSize }, (_, index) => runKey(id, index)))
      const finished: FinishedRun[] = job.state?.lastRun ? [job.state.lastRun] : []
      for (const value of slots) {
        const run = value === null ? null : (await codecs.state.decode(value)).run
        if (run !== null) finished.push(run)
      }
      return {
        active: withHeartbeats(partition, id, job.state?.active ?? []),
        finished: finished.sort((a, b) => b.runNo - a.runNo),
      }
    },

    async deadRun(partition, id, runNo) {
      const more = new Map([[id, [runNo]]])
      const job = (await loadJobs(storeOf(partition), codecs, [id], more)).get(id)
      return job?.state?.deadRuns.includes(runNo) ? job.snapshots?.get(runNo) : undefined
    },

    async stored(partition, id) {
      const { definition, state } = (await loadJobs(storeOf(partition), codecs, [id])).get(id) ?? {}
      if (definition === undefined) return undefined
      const { bytes: _, ...known } = definition
      return { definition: known, ...(state !== undefined && { state }) }
    },

    forecast: async (partition, range) => forecast(storeOf(partition), codecs, range),

    async workers(partition) {
      storeOf(partition)
      return partitions.get(partition)?.heard.workers.view() ?? []
    },

    async applied(partition, offsets, timeoutMs) {
      const owner = partitions.get(partition)
      storeOf(partition)
      if (owner === undefined) return false
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const cancel = clock.at(clock.nowMs() + timeoutMs, () => resolve(false))
      const waits: Promise<boolean>[] = []
      if (offsets.jobs !== undefined) waits.push(owner.applied('jobs', offsets.jobs))
      if (offsets.commands !== undefined) waits.push(owner.applied('commands', offsets.commands))
      const done = await Promise.race([promise, Promise.all(waits).then((all) => all.every(Boolean))])
      cancel()
      return done
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
