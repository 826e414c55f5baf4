/** Queries of a partition's jobs, answered by its owner or from a standby. They change nothing. */
import { FairSlots, idleTime, listSlots } from '../ground/concurrency/index.ts'
import { DuelogError } from '../ground/errors/index.ts'
import type { JobQueries, PartitionQueries, PartitionView, RunEnd, StoreSearches } from '../ground/ports/index.ts'
import { ownerProblem } from '../ground/records/index.ts'
import { idsOfRunTimers, poolOf } from './activity/index.ts'
import type { BulkOperations } from './bulk/index.ts'
import type { SchedulerOptions } from './options/index.ts'
import type { Partition } from './partition/index.ts'
import {
  countStanding,
  Forecasts,
  jobQueries,
  jobWithRuns,
  limitUses,
  type QuerySource,
  runEndOf,
  WholeSearches,
  type WrittenDefinitions,
} from './queries/index.ts'
import { eachJob, loadJobs } from './state/index.ts'
import { doneInTime, endedInTime } from './waiting-callers.ts'

export interface Hooks {
  bulk: BulkOperations
  written: WrittenDefinitions
}

export function partitionQueries(
  partitions: ReadonlyMap<number, Partition>,
  options: SchedulerOptions,
  { bulk, written }: Hooks,
): PartitionQueries {
  const { codecs, clock, instance, spare } = options
  const lists = new FairSlots({ what: 'lists of jobs', places: listSlots, clock })
  const storeOf = ownedStores(partitions, clock)
  const searches = options.searches ?? searchesHere(partitions, options)
  const owned = jobQueries(ownerSource(partitions, options, storeOf, written), options, lists, searches)
  return {
    ...owned,
    ...new Forecasts(codecs, clock, spare).queries(storeOf),

    /** A standby does not know it: the owner's clock counts. */
    async why(partition, id) {
      const found = await owned.why(partition, id)
      const text = ownerProblem(instance, clock.guard?.problem)
      if (found === undefined || text === undefined) return found
      return { ...found, reasons: [{ code: 'clock', text, at: null }, ...found.reasons] }
    },

    standbyReads: standbyQueries(partitions, options, { lists, searches, written }),

    partitions: () => viewsOf(partitions, options),

    async stored(partition, id) {
      const { definition, state } = (await loadJobs(storeOf(partition), codecs, [id])).get(id) ?? {}
      if (definition === undefined) return undefined
      const { bytes: _, ...known } = definition
      return { definition: known, ...(state !== undefined && { state }) }
    },

    ...bulk.queries({ partitions, storeOf, lists, codecs }),

    async limits(partition) {
      return limitUses(storeOf(partition), codecs, options.clock.nowMs())
    },

    async workers(partition) {
      storeOf(partition)
      return partitions.get(partition)?.workers.view() ?? []
    },

    async applied(partition, offsets, timeoutMs) {
      const owner = partitions.get(partition)
      storeOf(partition)
      if (owner === undefined) return false
      const done = await doneInTime(owner, offsets, clock, timeoutMs)
      // Records that were applied after the group took the partition away may never be committed.
      storeOf(partition)
      return done
    },

    async ended(partition, id, awaited, timeoutMs, asker) {
      const owner = partitions.get(partition)
      storeOf(partition)
      if (owner === undefined) return null
      const look = async (): Promise<RunEnd | undefined> => {
        const { job, finished } = await jobWithRuns(storeOf(partition), codecs, id)
        return runEndOf(job, finished, awaited, clock.nowMs())
      }
      return await endedInTime(owner, id, awaited, look, { clock, timeoutMs, signal: asker?.signal })
    },
  }
}

function viewsOf(partitions: ReadonlyMap<number, Partition>, options: SchedulerOptions): PartitionView[] {
  const open = [...partitions.values()].filter(({ phase }) => phase !== 'closed')
  for (const partition of open) countOnce(partition, options)
  return open.map((partition) => partition.view()).sort((a, b) => a.partition - b.partition)
}

/** A new owner counts its standing dead letters and the like when the first view of it is asked for. */
function countOnce(partition: Partition, { codecs, spare = idleTime, logger }: SchedulerOptions): void {
  const { number, store, standing } = partition
  if (store === undefined || standing?.isUnknown !== true) return
  // Between two cycles: a change that is being committed is not in the store yet, and nobody would count it.
  const begin = (): Promise<boolean> => partition.alone(() => standing.begin())
  countStanding({ standing, begin, store, codecs, spare }).catch((error) =>
    logger.debug(
      { event: 'attention-not-counted', err: error, partition: number },
      'The jobs that need attention could not be counted; the count is repeated.',
    ),
  )
}

/** For stores in memory: a search reads them in pieces. */
const searchesHere = (partitions: ReadonlyMap<number, Partition>, { codecs }: SchedulerOptions): StoreSearches =>
  new WholeSearches({
    codecs,
    async reading(number, task) {
      const store = partitions.get(number)?.store ?? partitions.get(number)?.copy
      if (store === undefined) throw noCopy(number)
      return task(store)
    },
  })

const noCopy = (number: number): DuelogError =>
  new DuelogError('not-ready', `This process has no copy of partition ${number} that can be read; try again shortly.`)

/** Throws `not-ready` if this process is not the active owner. */
function ownedStores(partitions: ReadonlyMap<number, Partition>, clock: SchedulerOptions['clock']): QuerySource['storeOf'] {
  return (number) => {
    const partition = partitions.get(number)
    if (partition?.store !== undefined) return partition.store
    const why = partition?.phase === 'active' ? 'may have another owner by now' : 'is not active in this process'
    const problem = partition === undefined ? undefined : (clock.guard?.problem ?? partition.trouble)
    const because = problem == null ? '; try again shortly.' : `. ${problem}`
    throw new DuelogError('not-ready', `Partition ${number} ${why}${because}`)
  }
}

/** Jobs that are read between two commit cycles: about a millisecond. */
const learntTogether = 30

/** An owner knows heartbeats and the jobs with active runs. */
function ownerSource(
  partitions: ReadonlyMap<number, Partition>,
  { codecs, clock }: SchedulerOptions,
  storeOf: QuerySource['storeOf'],
  written: WrittenDefinitions,
): QuerySource {
  return {
    storeOf,
    written: (number) => written.take(number),
    heartbeat: (number, id, run) => partitions.get(number)?.leases?.last(id, run) ?? null,
    /** A new owner scans the timers of runs once for jobs whose records it has not applied itself. */
    async jobsUnderWay(number, store) {
      const partition = partitions.get(number)
      const activeRuns = partition?.activeRuns
      if (partition === undefined || activeRuns === undefined) return []
      await activeRuns.learned(async () => {
        const ids = await idsOfRunTimers(store, clock.nowMs())
        const unknown = ids.filter((id) => !activeRuns.has(id))
        const learn = async (some: string[]): Promise<void> => {
          for await (const job of eachJob(store, codecs, some))
            if (!activeRuns.has(job.id)) activeRuns.set(job.id, job.state?.active ?? [], poolOf(job))
        }
        // Between two cycles: a run whose end is being committed is still in the store, and nobody would take it out again.
        for (let at = 0; at < unknown.length; at += learntTogether)
          await partition.alone(() => learn(unknown.slice(at, at + learntTogether)))
      })
      return activeRuns.ids
    },
  }
}

/** A standby knows only what the changelog says about runs: no heartbeats. */
function standbyQueries(
  partitions: ReadonlyMap<number, Partition>,
  options: SchedulerOptions,
  { lists, searches, written }: { lists: FairSlots; searches: StoreSearches; written: WrittenDefinitions },
): JobQueries {
  const source: QuerySource = {
    storeOf(number) {
      const store = partitions.get(number)?.copy
      if (store === undefined) throw noCopy(number)
      return store
    },
    heartbeat: () => null,
    jobsUnderWay: (_number, store) => idsOfRunTimers(store, options.clock.nowMs()),
    written: (number) => written.take(number),
  }
  const { job, list, why, runs, deadRuns, deadRun, runInput } = jobQueries(source, options, lists, searches)
  /** The store of a standby may close during a read, because standbys come and go. */
  const reading =
    <Args extends [number, ...unknown[]], Answer>(read: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      const [number] = args
      const store = source.storeOf(number)
      try {
        return await read(...args)
      } catch (error) {
        throw partitions.get(number)?.copy === store ? error : noCopy(number)
      }
    }
  const reads = { job: reading(job), list: reading(list), why: reading(why), runs: reading(runs) }
  return { ...reads, deadRuns: reading(deadRuns), deadRun: reading(deadRun), runInput: reading(runInput) }
}
