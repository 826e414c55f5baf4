/**
 * Rates and percentiles between two stats messages, whose counts only grow, so the difference is what happened between them. Lateness and
 * duration of the ended runs of a job.
 */
import { percentileOf } from '../../../../streams/text/index.ts'
import type { Counts, HistoryRun, Run, StatsMessage } from '../../../ground/answers/index.ts'
import { lateBetween } from './words.ts'

export interface Rates {
  /** Length of the interval. */
  overMs: number
  firesPerSecond: number
  endsPerSecond: number
  retriesPerSecond: number
  /** Runs that became dead letters. */
  dead: number
  starts: number
  /** Start lateness in ms; undefined when nothing started. */
  p50Ms: number | undefined
  p99Ms: number | undefined
}

/** Undefined when the two cannot be compared, because a process ended between them and its counts are gone. */
export function ratesBetween(earlier: StatsMessage, later: StatsMessage): Rates | undefined {
  const overMs = later.at - earlier.at
  const [from, to] = [earlier.counts, later.counts]
  const fires = firesOf(to) - firesOf(from)
  const ends = endsOf(to) - endsOf(from)
  const retries = to.retries - from.retries
  const late = to.lateness.map(([upToMs, starts], index): [upToMs: number | null, starts: number] => [
    upToMs,
    starts - (from.lateness[index]?.[1] ?? 0),
  ])
  if (overMs <= 0 || fires < 0 || ends < 0 || retries < 0 || late.some(([, starts]) => starts < 0)) return undefined
  const perSecond = (count: number): number => (count * 1_000) / overMs
  return {
    overMs,
    firesPerSecond: perSecond(fires),
    endsPerSecond: perSecond(ends),
    retriesPerSecond: perSecond(retries),
    dead: (to.ended.DEAD ?? 0) - (from.ended.DEAD ?? 0),
    starts: late.reduce((sum, [, starts]) => sum + starts, 0),
    p50Ms: percentileOf(late, 0.5),
    p99Ms: percentileOf(late, 0.99),
  }
}

/** Compares the last message with the one `windowMs` before it, or with the first one. */
export function ratesOver(messages: readonly StatsMessage[], windowMs: number): Rates | undefined {
  const last = messages.at(-1)
  if (last === undefined) return undefined
  const first = messages.find(({ at }) => at >= last.at - windowMs)
  return first === undefined || first === last ? undefined : ratesBetween(first, last)
}

const firesOf = ({ dispatched, written }: Counts): number => dispatched + written
const endsOf = ({ ended }: Counts): number => Object.values(ended).reduce<number>((sum, count) => sum + (count ?? 0), 0)

export interface TrendPoint {
  runNo: number
  atMs: number
  outcome: string
  /** Undefined: the run never started, or a time is unknown. */
  lateMs: number | undefined
  durationMs: number | undefined
}

type Ended = Pick<HistoryRun, 'runNo' | 'outcome' | 'dueAt' | 'startedAt' | 'finishedAt' | 'durationMs'>

/** What the owner keeps of an ended run, as the history would tell it. */
export function endedOf(run: Run): Ended | undefined {
  const { runNo, status, dueAt, startedAt, finishedAt } = run
  if (finishedAt === null) return undefined
  const durationMs = startedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt)
  return { runNo, outcome: status, dueAt: dueAt ?? null, startedAt, finishedAt, durationMs }
}

/** Oldest first. */
export function trendOf(runs: readonly Ended[]): TrendPoint[] {
  const points = runs.map(({ runNo, outcome, dueAt, startedAt, finishedAt, durationMs: took }): TrendPoint => {
    const durationMs = took === null ? undefined : Math.max(0, took)
    return { runNo, outcome, atMs: Date.parse(finishedAt), lateMs: lateBetween(dueAt, startedAt), durationMs }
  })
  return points.sort((a, b) => a.atMs - b.atMs || a.runNo - b.runNo)
}

/** For each value the median of it and of the `width - 1` known values before it. Null until there are as many. */
export function runningMedian(values: readonly (number | undefined)[], width: number): (number | null)[] {
  const known: number[] = []
  return values.map((value) => {
    if (value === undefined) return null
    known.push(value)
    if (known.length < width) return null
    const last = known.slice(-width).sort((a, b) => a - b)
    return last[Math.floor((width - 1) / 2)] ?? null
  })
}
