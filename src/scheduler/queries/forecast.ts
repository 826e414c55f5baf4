/**
 * Forecast of a partition's future occurrences, counted from its time index. The next occurrence of each job is counted exactly. Later
 * occurrences are computed from the definitions: from all if they are few, else from a sample spread over the range. Both are bounded.
 */
import type { JobDefinition } from '../../../schemas/index.ts'
import { firstFire, nextFire, stepsSpent } from '../../../streams/schedules/index.ts'
import { type Job, keyAfter, type Timer, timerBound, timerKind, timerOfKey } from '../../../streams/state/index.ts'
import type { Clock } from '../../clock/index.ts'
import { FairSlots, forecastSlots, type IdleTime, idleTime } from '../../concurrency/index.ts'
import type { Asker, DueCounts, DueRange, PartitionStore } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { eachJob } from '../state/index.ts'

/** Timers that one call reads. */
export const forecastTimersMax = 100_000
/** Jobs whose later occurrences one call computes. */
export const forecastSampleMax = 200
/** Occurrences that one call computes for all these jobs together. */
export const forecastOccurrencesMax = 20_000
/** Search steps of one call (ADR 0058) for all these jobs together. Each job has an equal share. */
export const forecastSearchMax = 2_000_000
/** How long a forecast computes without a pause, because the owner has runs to dispatch. */
const pieceMs = 1
const slice = 2_000

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
}

export async function forecast(
  store: PartitionStore,
  codecs: SchedulerCodecs,
  { from, to, bucketMs }: DueRange,
  spare: Pick<IdleTime, 'rest'> = idleTime,
): Promise<DueCounts> {
  const buckets = Math.ceil((to - from) / bucketMs)
  const next = new Array<number>(buckets).fill(0)
  const { overdue, timers, until } = await scan(store, from, to)
  for (const { dueAt } of timers) {
    const bucket = Math.floor((dueAt - from) / bucketMs)
    next[bucket] = (next[bucket] ?? 0) + 1
  }
  const sample = spread(timers, forecastSampleMax)
  const { counts, cut, looked } = await laterOf(store, codecs, sample, { from, to: until, bucketMs }, spare)
  const weight = looked === 0 ? 0 : timers.length / looked
  return {
    overdue,
    next,
    later: Array.from(next, (_, bucket) => (counts[bucket] ?? 0) * weight),
    until,
    jobs: timers.length,
    sampled: looked,
    cut,
  }
}

/** The fire timers of a range, up to the limit of one call. */
async function scan(store: PartitionStore, from: number, to: number) {
  const timers: Timer[] = []
  let overdue = 0
  let cursor = timerBound(0)
  const end = timerBound(to)
  for (let looked = 0; ; ) {
    const entries = await store.scan({ from: cursor, to: end, limit: slice, keysOnly: true })
    for (const { key } of entries) {
      const timer = timerOfKey(key)
      if (timer.kind !== timerKind.fire) continue
      if (timer.dueAt < from) overdue++
      else timers.push(timer)
    }
    const last = entries.at(-1)
    if (entries.length < slice || last === undefined) return { overdue, timers, until: to }
    looked += entries.length
    if (looked >= forecastTimersMax) {
      const until = Math.max(from, timerOfKey(last.key).dueAt)
      return { overdue, timers: timers.filter(({ dueAt }) => dueAt < until), until }
    }
    cursor = keyAfter(last.key)
  }
}

/** At most `max` timers, evenly chosen, so that bursts and single jobs are represented in proportion. */
function spread(timers: readonly Timer[], max: number): Timer[] {
  if (timers.length <= max) return [...timers]
  const step = timers.length / max
  return Array.from({ length: max }, (_, index) => timers[Math.floor(index * step)] as Timer)
}

/** Adds up the later occurrences of the jobs of these timers. If the search takes too many steps, fewer jobs are used. */
async function laterOf(
  store: PartitionStore,
  codecs: SchedulerCodecs,
  timers: readonly Timer[],
  range: DueRange,
  spare: Pick<IdleTime, 'rest'>,
) {
  const counts = new Array<number>(Math.ceil((range.to - range.from) / range.bucketMs)).fill(0)
  const each = Math.max(1, timers.length)
  const share = { occurrences: Math.floor(forecastOccurrencesMax / each), steps: Math.floor(forecastSearchMax / each) }
  let [cut, looked, searched, usedMs] = [false, 0, 0, 0]
  for await (const job of eachJob(store, codecs, [...new Set(timers.map(({ jobId }) => jobId))])) {
    if (searched > forecastSearchMax) return { counts, cut: true, looked }
    looked++
    const adding = addingFires(counts, job, range, share)
    for (;;) {
      const [before, beganMs] = [stepsSpent(), performance.now()]
      const { done, value } = adding.next()
      searched += stepsSpent() - before
      usedMs += performance.now() - beganMs
      if (done) {
        cut ||= value
        break
      }
      if (usedMs < pieceMs) continue
      await spare.rest(usedMs)
      usedMs = 0
    }
  }
  return { counts, cut, looked }
}

/** False for `from: END`, because the next time depends on the unknown duration of a run. */
const recursByItself = ({ schedule: { at, delayMs, from } }: JobDefinition): boolean =>
  at === null && delayMs === null && from !== 'END'

/**
 * Counts the occurrences of a job after the next one, which is counted already. It yields after each search. True: the share of the job
 * was used up; the rest is assumed to continue at the same rate.
 */
function* addingFires(
  counts: number[],
  { definition, state }: Job,
  range: DueRange,
  share: { occurrences: number; steps: number },
): Generator<void, boolean> {
  const spec = definition?.spec
  if (definition === undefined || spec === undefined || !recursByItself(spec)) return false
  const left = (spec.maxRuns === null ? Number.POSITIVE_INFINITY : spec.maxRuns - (state?.scheduledRuns ?? 0)) - 1
  const to = Math.min(range.to, spec.expireAt ?? range.to)
  const anchorAt = state?.anchorAt ?? definition.appendedAt
  const first = state?.nextFireAt ?? firstFire(spec, anchorAt)
  if (first === null) return false
  const add = (at: number, count: number): void => {
    const bucket = Math.floor((at - range.from) / range.bucketMs)
    if (bucket >= 0 && bucket < counts.length) counts[bucket] = (counts[bucket] ?? 0) + count
  }
  let [last, searched] = [first, 0]
  for (let made = 0; made < left; made++) {
    const before = stepsSpent()
    const fire = nextFire(spec, anchorAt, last)
    searched += stepsSpent() - before
    yield
    if (fire === null || fire >= to) return false
    if (made === share.occurrences || searched > share.steps) {
      const everyMs = (fire - first) / (made + 1)
      for (let at = fire; at < to && made < left; at += range.bucketMs, made += range.bucketMs / everyMs)
        add(at, Math.min(range.bucketMs, to - at) / everyMs)
      return true
    }
    add(fire, 1)
    last = fire
  }
  return false
}
