/**
 * Forecast of a partition's future occurrences, counted from its time index. The next occurrence of each job is counted exactly. Later
 * occurrences are computed from the definitions: from all if they are few, else from a sample. Both are bounded. The sample depends on the
 * ids of the jobs and not on chance or on the order of their timers, so unchanged jobs give the same answer again.
 */

import { stepsSpent } from '../../../streams/schedules/index.ts'
import { keyAfter, type Timer, timerBound, timerKind, timerOfKey } from '../../../streams/state/index.ts'
import { fnv } from '../../../streams/text/index.ts'
import { type IdleTime, idleTime } from '../../ground/concurrency/index.ts'
import type { DueCounts, DueRange, PartitionStore } from '../../ground/ports/index.ts'
import { poolOf } from '../activity/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { eachJob } from '../state/index.ts'
import { addingFires, hasNames, isFiltered, isRare, type Recurrence, recurrenceOf } from './recurrence.ts'

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
  asked: DueRange,
  spare: Pick<IdleTime, 'rest'> = idleTime,
): Promise<DueCounts> {
  const { from, to, bucketMs } = asked
  const next = new Array<number>(Math.ceil((to - from) / bucketMs)).fill(0)
  const { overdue, timers, until } = await scanTimers(store, from, to)
  const { soonest, others } = sampleOf(timers, forecastSampleMax)
  const later = await laterOf(store, codecs, [soonest, others], { ...asked, to: until }, spare)
  // Each stratum stands for its own jobs; the first for all if no other was read.
  const ownJobs = later.looked[1] === 0 ? timers.length : soonest.length
  const weights = [weightOf(ownJobs, later.looked[0]), weightOf(timers.length - soonest.length, later.looked[1])]
  // A timer does not say which job a filter chooses: then the sample stands for the others here too.
  const weightOfJob = new Map(later.chosen.map(({ id, stratum }) => [id, weights[stratum] ?? 0]))
  const weightHere = isFiltered(asked) ? (jobId: string) => weightOfJob.get(jobId) ?? 0 : () => 1
  let jobs = 0
  for (const { dueAt, jobId } of timers) {
    const bucket = Math.floor((dueAt - from) / bucketMs)
    next[bucket] = (next[bucket] ?? 0) + weightHere(jobId)
    jobs += weightHere(jobId)
  }
  const counted = {
    overdue,
    next,
    later: next.map((_, bucket) =>
      later.counts.reduce((sum, counts, stratum) => sum + (counts[bucket] ?? 0) * (weights[stratum] ?? 0), 0),
    ),
    until,
    jobs,
    sampled: isFiltered(asked) ? later.chosen.length : later.looked[0] + later.looked[1],
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

/** Adds up the later occurrences of the wanted jobs of each stratum. If the search takes too many steps, fewer jobs are used. */
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
  const chosen: { id: string; stratum: number }[] = []
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
      const isWanted = hasNames(job, range) && isRare(recurrence, range)
      if (isWanted) chosen.push({ id: job.id, stratum })
      // Others were looked at too, and add nothing.
      const key = groupKey(isWanted ? recurrence : undefined)
      const group = groups.get(key) ?? { recurrence: isWanted ? recurrence : undefined, members: [0, 0] }
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
    if (searched > forecastSearchMax) return { counts, cut: true, looked, pools, chosen }
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
  return { counts, cut, looked, pools, chosen }
}

/** A job without later occurrences is like all others without. */
function groupKey(recurrence: Recurrence | undefined): string {
  // A cron expression has no phase of its own.
  return recurrence === undefined
    ? ''
    : JSON.stringify(recurrence.source.schedule.cron === null ? recurrence : { ...recurrence, anchorAt: 0 })
}
