/**
 * Forecast of a partition's future occurrences, counted from its time index. The next occurrence of each job is counted exactly. Later
 * occurrences are computed from the definitions: from all if they are few, else from a sample. Both are bounded. The sample depends on the
 * ids of the jobs and not on chance or on the order of their timers, so unchanged jobs give the same answer again.
 */
import type { JobDefinition } from '../../../schemas/index.ts'
import { fnv } from '../../../streams/hashing/index.ts'
import { firstFire, nextFire, type ScheduleSource, stepsSpent } from '../../../streams/schedules/index.ts'
import { type Job, keyAfter, type Timer, timerBound, timerKind, timerOfKey } from '../../../streams/state/index.ts'
import { type IdleTime, idleTime } from '../../concurrency/index.ts'
import type { DueCounts, DueRange, PartitionStore } from '../../ports/index.ts'
import { poolOf } from '../activity/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { eachJob } from '../state/index.ts'

/** Timers that one call reads. */
export const forecastTimersMax = 100_000
/**
 * Jobs whose later occurrences one call computes: half of them are the jobs that are due soonest, because those that recur often are among
 * them; half stand for all others.
 */
export const forecastSampleMax = 2_000
/** Occurrences that one call computes for all these jobs together. */
export const forecastOccurrencesMax = 20_000
/** Search steps of one call (ADR 0058) for all these jobs together. Each job has an equal share. */
export const forecastSearchMax = 2_000_000
/** How long a forecast computes without a pause, because the owner has runs to dispatch. */
const pieceMs = 1
const slice = 2_000

export async function forecast(
  store: PartitionStore,
  codecs: SchedulerCodecs,
  { from, to, bucketMs }: DueRange,
  spare: Pick<IdleTime, 'rest'> = idleTime,
): Promise<DueCounts> {
  const buckets = Math.ceil((to - from) / bucketMs)
  const next = new Array<number>(buckets).fill(0)
  const { overdue, timers, until } = await scanTimers(store, from, to)
  for (const { dueAt } of timers) {
    const bucket = Math.floor((dueAt - from) / bucketMs)
    next[bucket] = (next[bucket] ?? 0) + 1
  }
  const { soonest, others } = sampleOf(timers, forecastSampleMax)
  const range = { from, to: until, bucketMs }
  const later = await laterOf(store, codecs, [soonest, others], range, spare)
  // Each stratum stands for its own jobs; the first for all if no other was read.
  const ownJobs = later.looked[1] === 0 ? timers.length : soonest.length
  const weights = [weightOf(ownJobs, later.looked[0]), weightOf(timers.length - soonest.length, later.looked[1])]
  const counted = {
    overdue,
    next,
    later: next.map((_, bucket) =>
      later.counts.reduce((sum, counts, stratum) => sum + (counts[bucket] ?? 0) * (weights[stratum] ?? 0), 0),
    ),
    until,
    jobs: timers.length,
    sampled: later.looked[0] + later.looked[1],
    cut: later.cut,
  }
  return { ...counted, pools: byPool(counted, later.pools, weights) }
}

/** Shares the occurrences out to the pools as the jobs of the sample have them. */
function byPool(
  { next, later }: Pick<DueCounts, 'next' | 'later'>,
  sampled: ReadonlyMap<string | undefined, readonly [number, number]>,
  weights: readonly number[],
): { pool: string; due: number }[] {
  const jobs = Array.from(sampled, ([pool, counts]) => ({
    pool,
    jobs: counts.reduce((sum, count, stratum) => sum + count * (weights[stratum] ?? 0), 0),
  }))
  const all = jobs.reduce((sum, each) => sum + each.jobs, 0)
  const due = [...next, ...later].reduce((sum, count) => sum + count, 0)
  return jobs.flatMap((each) => (each.pool === undefined ? [] : [{ pool: each.pool, due: (due * each.jobs) / all }]))
}

/** The fire timers of a range, up to the limit of one call. */
export async function scanTimers(store: PartitionStore, from: number, to: number) {
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

const weightOf = (jobs: number, looked: number): number => (looked === 0 ? 0 : jobs / looked)

/** The ids of the jobs that are due soonest, and for the others those with the smallest hashes. `timers`: in due order. */
function sampleOf(timers: readonly Timer[], max: number): { soonest: string[]; others: string[] } {
  const ids = [...new Set(timers.map(({ jobId }) => jobId))]
  if (ids.length <= max) return { soonest: ids, others: [] }
  const half = max / 2
  const hashed = ids.slice(half).map((id): [hash: number, id: string] => [fnv(id), id])
  hashed.sort(([left, leftId], [right, rightId]) => left - right || (leftId < rightId ? -1 : 1))
  return { soonest: ids.slice(0, half), others: hashed.slice(0, max - half).map(([, id]) => id) }
}

/** Jobs with the same later occurrences, such as all with one cron expression. They are computed once. */
interface Group {
  recurrence: Recurrence | undefined
  /** Number of its jobs in each stratum. */
  members: [number, number]
}

/** Called with the beginning of each bit of work, it rests after each piece. */
export function pieces(spare: Pick<IdleTime, 'rest'>): (sinceMs: number) => Promise<void> {
  let usedMs = 0
  return async (sinceMs) => {
    usedMs += performance.now() - sinceMs
    if (usedMs < pieceMs) return
    await spare.rest(usedMs)
    usedMs = 0
  }
}

/** Adds up the later occurrences of the jobs of each stratum. If the search takes too many steps, fewer jobs are used. */
async function laterOf(
  store: PartitionStore,
  codecs: SchedulerCodecs,
  strata: readonly [readonly string[], readonly string[]],
  range: DueRange,
  spare: Pick<IdleTime, 'rest'>,
) {
  const size = Math.ceil((range.to - range.from) / range.bucketMs)
  const counts = strata.map(() => new Array<number>(size).fill(0))
  const groups = new Map<string, Group>()
  const pools = new Map<string | undefined, [number, number]>()
  const worked = pieces(spare)
  // Reading a rule checks it, which takes steps too.
  const readFrom = stepsSpent()
  let cut = false
  for (const [stratum, ids] of strata.entries()) {
    for await (const job of eachJob(store, codecs, ids)) {
      cut = stepsSpent() - readFrom > forecastSearchMax / 2
      if (cut) break
      const beganMs = performance.now()
      const recurrence = recurrenceOf(job)
      const key = groupKey(recurrence)
      const group = groups.get(key) ?? { recurrence, members: [0, 0] }
      group.members[stratum as 0 | 1]++
      groups.set(key, group)
      const pool = poolOf(job)
      const ofPool = pools.get(pool) ?? [0, 0]
      ofPool[stratum as 0 | 1]++
      pools.set(pool, ofPool)
      await worked(beganMs)
    }
  }
  // Groups that stand for many come first, should the steps not suffice for all.
  const ordered = [...groups.values()].sort(({ members: [a, b] }, { members: [c, d] }) => c + d - a - b)
  const each = Math.max(1, ordered.length)
  const share = { occurrences: Math.floor(forecastOccurrencesMax / each), steps: Math.floor(forecastSearchMax / each) }
  const looked: [number, number] = [0, 0]
  let searched = 0
  for (const { recurrence, members } of ordered) {
    if (searched > forecastSearchMax) return { counts, cut: true, looked, pools }
    const own = new Array<number>(size).fill(0)
    const adding = addingFires(own, recurrence, range, share)
    for (;;) {
      const [before, beganMs] = [stepsSpent(), performance.now()]
      const { done, value } = adding.next()
      searched += stepsSpent() - before
      await worked(beganMs)
      if (!done) continue
      cut ||= value
      break
    }
    for (const [stratum, many] of members.entries()) {
      const sum = counts[stratum] ?? []
      looked[stratum as 0 | 1] += many
      if (many > 0) for (let bucket = 0; bucket < size; bucket++) sum[bucket] = (sum[bucket] ?? 0) + many * (own[bucket] ?? 0)
    }
  }
  return { counts, cut, looked, pools }
}

/** What a recurring job still has to do, without its payload: thousands of them are in memory together. */
export interface Recurrence {
  source: ScheduleSource
  expireAt: number | null
  anchorAt: number
  first: number
  left: number
}

/** A job without later occurrences is like all others without. */
function groupKey(recurrence: Recurrence | undefined): string {
  // A cron expression has no phase of its own.
  return recurrence === undefined
    ? ''
    : JSON.stringify(recurrence.source.schedule.cron === null ? recurrence : { ...recurrence, anchorAt: 0 })
}

/** False for `from: END`, because the next time depends on the unknown duration of a run. */
const recursByItself = ({ schedule: { at, delayMs, from } }: JobDefinition): boolean =>
  at === null && delayMs === null && from !== 'END'

/** Undefined if nothing follows its next occurrence. */
export function recurrenceOf({ definition, state }: Job): Recurrence | undefined {
  const spec = definition?.spec
  if (definition === undefined || spec === undefined || !recursByItself(spec)) return undefined
  const { schedule, startAt, endAt, expireAt, maxRuns } = spec
  const left = (maxRuns === null ? Number.MAX_SAFE_INTEGER : maxRuns - (state?.scheduledRuns ?? 0)) - 1
  const anchorAt = state?.anchorAt ?? definition.appendedAt
  const first = state?.nextFireAt ?? firstFire(spec, anchorAt)
  return first === null ? undefined : { source: { schedule, startAt, endAt }, expireAt, anchorAt, first, left }
}

/**
 * Counts the occurrences of a job after the next one, which is counted already. It yields after each search. True: the share of the job
 * was used up; the rest is assumed to continue at the same rate.
 */
export function* addingFires(
  counts: number[],
  recurrence: Recurrence | undefined,
  range: DueRange,
  share: { occurrences: number; steps: number },
): Generator<void, boolean> {
  if (recurrence === undefined) return false
  const { source, expireAt, anchorAt, first, left } = recurrence
  const to = Math.min(range.to, expireAt ?? range.to, (source.endAt ?? range.to) + 1)
  const add = (at: number, count: number): void => {
    const bucket = Math.floor((at - range.from) / range.bucketMs)
    if (bucket >= 0 && bucket < counts.length) counts[bucket] = (counts[bucket] ?? 0) + count
  }
  const { everyMs } = source.schedule
  if (everyMs !== null) {
    addPoints(counts, { first, everyMs, left, to }, range)
    return false
  }
  let [last, searched] = [first, 0]
  for (let made = 0; made < left; made++) {
    const before = stepsSpent()
    const fire = nextFire(source, anchorAt, last)
    searched += stepsSpent() - before
    yield
    if (fire === null || fire >= to) return false
    if (made === share.occurrences || searched > share.steps) {
      const meanMs = (fire - first) / (made + 1)
      // The range may begin years later, and have steps of a millisecond.
      const skippedMs = Math.max(0, range.from - fire)
      let at = fire + skippedMs
      for (made += skippedMs / meanMs; at < to && made < left; at += range.bucketMs, made += range.bucketMs / meanMs)
        add(at, Math.min(range.bucketMs, to - at) / meanMs)
      return true
    }
    add(fire, 1)
    last = fire
  }
  return false
}

/** The points of an interval after `first` and before `to`, at most `left`, without looking at each. */
function addPoints(
  counts: number[],
  { first, everyMs, left, to }: { first: number; everyMs: number; left: number; to: number },
  { from, bucketMs }: DueRange,
): void {
  /** Points after the first one and before an instant. */
  const before = (at: number): number => Math.min(left, Math.max(0, Math.ceil((Math.min(at, to) - first) / everyMs) - 1))
  let counted = before(from)
  for (let bucket = 0; bucket < counts.length; bucket++) {
    const upTo = before(from + (bucket + 1) * bucketMs)
    counts[bucket] = (counts[bucket] ?? 0) + upTo - counted
    counted = upTo
  }
}
