/** Lateness and duration of the ended runs of a job, for the charts of its page. */
import type { HistoryRun, Run } from '../../answers/index.ts'

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
  const points = runs.map(({ runNo, outcome, dueAt, startedAt, finishedAt, durationMs }): TrendPoint => {
    const lateMs = dueAt === null || startedAt === null ? undefined : Math.max(0, Date.parse(startedAt) - Date.parse(dueAt))
    return {
      runNo,
      outcome,
      atMs: Date.parse(finishedAt),
      lateMs,
      durationMs: durationMs === null ? undefined : Math.max(0, durationMs),
    }
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
