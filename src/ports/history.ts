/** Port to the history of ended runs: what the API asks the process that keeps it. src/history implements it. */
import type { EndedRun } from '../../schemas/index.ts'

/** Which runs. All given fields must match. */
export interface HistoryFilter {
  /** Epoch ms: runs that ended at or after `from`, and before `to`. */
  from?: number | undefined
  to?: number | undefined
  jobId?: string | undefined
  idPrefix?: string | undefined
  tag?: string | undefined
  handler?: string | undefined
  pool?: string | undefined
  outcome?: string | undefined
  errorType?: string | undefined
  /** Part of the error message; ASCII letters match in either case. */
  errorText?: string | undefined
  minDurationMs?: number | undefined
  maxDurationMs?: number | undefined
  /** True: only runs whose texts hold no secrets. For callers who must not search in texts that they do not see. */
  harmless?: boolean | undefined
}

export interface HistoryPage {
  /** Newest first. */
  runs: EndedRun[]
  /** Place of the next page, in digits; null at the end. A page may end early because of its time limit. */
  next: string | null
  /** Epoch ms: all runs that ended after it were searched. Null at the end. */
  searchedTo: number | null
  /** Why the newest runs are missing, in a sentence. Absent: they are not. */
  problem?: string
}

export interface HistoryCounts {
  /** Buckets with runs, oldest first: start in epoch ms, and the runs by outcome. */
  buckets: { at: number; outcomes: Record<string, number> }[]
  /** Epoch ms: runs before it were not counted, because of the time limit. Null: all were. */
  countedFrom: number | null
}

/** Percentiles, exact to 25%. */
export interface TimeFigures {
  p50Ms: number
  p95Ms: number
}

/** The runs of a handler in a range of hours. */
export interface HandlerFigures {
  handler: string
  outcomes: Record<string, number>
  /** From the start of the last attempt to the end of the run. Null: unknown. */
  duration: TimeFigures | null
  /** From the due time of the last attempt to its start. Null: unknown. */
  lateness: TimeFigures | null
}

export interface HistoryQueries {
  /** Rejects with `not-ready` while the database cannot be read, and with `overloaded` if it is too slow. */
  page(filter: HistoryFilter, limit: number, before: string | null): Promise<HistoryPage>
  /** `from` and `to` are multiples of `bucketMs`. */
  counts(filter: HistoryFilter & { from: number; to: number }, bucketMs: number): Promise<HistoryCounts>
  /** The handlers with most runs first, at most 500. `from` and `to` are whole hours. */
  handlers(from: number, to: number): Promise<HandlerFigures[]>
}
