/** The jobs with occurrences in a range, the rarest first; and the slots that these lists and the forecasts of a process share. */
import { nextFire, stepsSpent } from '../../../streams/schedules/index.ts'
import type { Job } from '../../../streams/state/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import { FairSlots, forecastSlots, type IdleTime, idleTime } from '../../ground/concurrency/index.ts'
import type {
  Asker,
  DueCounts,
  DueFilter,
  DueJob,
  DueJobs,
  DueRange,
  PartitionQueries,
  PartitionStore,
} from '../../ground/ports/index.ts'
import { inRarity } from '../../ground/records/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { eachJob } from '../state/index.ts'
import { forecast, forecastOccurrencesMax, forecastSampleMax, forecastSearchMax, pieces, scanTimers } from './forecast.ts'
import { addingFires, hasNames, isRare, recurrenceOf } from './recurrence.ts'

/** Of many jobs, first those whose next occurrence is in the range, then those that are due soonest and come again. */
export async function dueJobs(
  store: PartitionStore,
  codecs: SchedulerCodecs,
  { from, to, limit, ...filter }: DueFilter & { from: number; to: number; limit: number },
  spare: Pick<IdleTime, 'rest'>,
): Promise<DueJobs> {
  const { timers, until } = await scanTimers(store, 0, to)
  const inside = timers.filter(({ dueAt }) => dueAt >= from)
  const dueAtOf = new Map([...inside, ...timers.filter(({ dueAt }) => dueAt < from)].map(({ jobId, dueAt }) => [jobId, dueAt]))
  const ids = [...dueAtOf.keys()].slice(0, forecastSampleMax)
  const range = { from, to, bucketMs: to - from, ...filter }
  const worked = pieces(spare)
  const found: DueJob[] = []
  let complete = ids.length === dueAtOf.size && until >= to
  let searched = 0
  for await (const job of eachJob(store, codecs, ids)) {
    if (!hasNames(job, filter)) continue
    const dueAt = dueAtOf.get(job.id) ?? to
    const { due, cut, steps } = await dueOf({ dueAt, job }, range, ids.length, worked)
    if (due !== undefined) found.push({ id: job.id, ...due })
    complete &&= !cut
    searched += steps
    if (searched <= forecastSearchMax) continue
    complete = false
    break
  }
  found.sort(inRarity)
  return { jobs: found.slice(0, limit), found: found.length, complete }
}

/** The first occurrence in the range and their number. `cut`: the search used up the share of one of `many` jobs. */
async function dueOf(
  { dueAt, job }: { dueAt: number; job: Job },
  range: DueRange,
  many: number,
  worked: (sinceMs: number) => Promise<void>,
): Promise<{ due?: { at: number; count: number }; cut: boolean; steps: number }> {
  const counts = [dueAt >= range.from ? 1 : 0]
  const share = {
    occurrences: Math.max(1, Math.floor(forecastOccurrencesMax / many)),
    steps: Math.max(1, Math.floor(forecastSearchMax / many)),
  }
  let steps = 0
  /** Other jobs are decided between two searches, and their steps are not ours. */
  const searched = async <Value>(search: () => Value): Promise<Value> => {
    const [before, beganMs] = [stepsSpent(), performance.now()]
    const value = search()
    steps += stepsSpent() - before
    await worked(beganMs)
    return value
  }
  const recurrence = await searched(() => recurrenceOf(job))
  if (!(await searched(() => isRare(recurrence, range)))) return { cut: false, steps }
  const adding = addingFires(counts, recurrence, range, share)
  let step = await searched(() => adding.next())
  while (!step.done) step = await searched(() => adding.next())
  const count = Math.round(counts[0] ?? 0)
  if (count === 0) return { cut: step.value, steps }
  const first = async (): Promise<number> => {
    if (dueAt >= range.from || recurrence === undefined) return dueAt
    const { source, anchorAt } = recurrence
    return (await searched(() => nextFire(source, anchorAt, range.from - 1))) ?? range.from
  }
  return { due: { at: await first(), count }, cut: step.value, steps }
}

/** The forecasts of a process, one at a time. Each has some megabytes of timers in memory, so they must not add up. */
export class Forecasts {
  readonly #codecs: SchedulerCodecs
  readonly #places: FairSlots
  readonly #spare: Pick<IdleTime, 'rest'>

  constructor(codecs: SchedulerCodecs, clock: Pick<Clock, 'nowMs' | 'at'>, spare: Pick<IdleTime, 'rest'> = idleTime) {
    this.#codecs = codecs
    this.#spare = spare
    this.#places = new FairSlots({ what: 'forecasts', places: forecastSlots, clock })
  }

  /** Forecast of one partition. `store` is called when a slot is free. Rejects as FairSlots#run does. */
  async of(store: () => PartitionStore, range: DueRange, asker?: Asker): Promise<DueCounts> {
    return this.#places.run(async () => forecast(store(), this.#codecs, range, this.#spare), asker)
  }

  /** The jobs that are due in a range of one partition. It takes a slot as a forecast does. */
  async jobsOf(store: () => PartitionStore, range: Parameters<typeof dueJobs>[2], asker?: Asker): Promise<DueJobs> {
    return this.#places.run(async () => dueJobs(store(), this.#codecs, range, this.#spare), asker)
  }

  queries(storeOf: (partition: number) => PartitionStore): Pick<PartitionQueries, 'forecast' | 'dueJobs'> {
    return {
      forecast: (partition, range, asker) => this.of(() => storeOf(partition), range, asker),
      dueJobs: (partition, range, asker) => this.jobsOf(() => storeOf(partition), range, asker),
    }
  }
}
