/** Ports to other roles than the owners: whether a process can serve, what its auditor found, pauses and needs of pools, and the history of ended runs. */

import type { EndedRun } from '../../../schemas/index.ts'
import type { PoolPause } from '../../../streams/state/index.ts'

/** Whether a process lives and can serve. */
export interface Health {
  /** False asks the platform to restart the process. */
  live: boolean
  /** False asks the platform to send no requests. */
  ready: boolean
  /** Why not, one sentence each. */
  reasons: string[]
}

/** What an operator has said about a fault that was found. */
export interface Acknowledgement {
  by: string
  /** Epoch ms. */
  at: number
  reason: string
}

export interface FoundFault {
  /** Its number in the audit of its partition, from 1. */
  no: number
  /** When it was found, epoch ms. */
  at: number
  kind: string
  /** Job id, or run as `jobId/runNo`. */
  what: string
  detail: string
  acknowledged?: Acknowledgement
}

/** Which faults: those with these ids (`<partition>.<no>`), or all that were found by a time, epoch ms. */
export type FaultChoice = { ids: readonly string[] } | { upTo: number }

export interface PartitionProof {
  partition: number
  /** When the audit of this partition and its counts began, epoch ms. */
  since: number
  /** Records up to this time are judged, except for the grace period. Epoch ms; null until all topics were read once. */
  judgedUntil: number | null
  /** Records of the log that are still to be read, by the last count. */
  behindRecords: number
  /** Records that were read. */
  records: number
  unreadable: number
  /** Judged runs, and nominal times that were compared with the calendar. */
  runs: number
  occurrences: number
  /** Found faults by kind. */
  findings: Record<string, number>
  /** How many of them are acknowledged. */
  acknowledged: Record<string, number>
  /** Cases that could not be judged, by reason. */
  unjudged: Record<string, number>
  /** The last findings, newest first; at most 100. */
  recent: FoundFault[]
}

export interface ProofQueries {
  proof(): PartitionProof[]
  /** Resolves with the number of faults that were not acknowledged before. The acknowledgement is kept with the accounts of the auditor. */
  acknowledge(choice: FaultChoice, acknowledgement: Acknowledgement): Promise<number>
}

/** PAUSE: nothing starts. DRAIN of a pool: its workers still start what was dispatched before. */
export type PauseMode = 'PAUSE' | 'DRAIN'

/** For owners and workers, who ask without waiting. */
export interface Pauses {
  /** Undefined: the pool is not paused. */
  ofPool(pool: string): PoolPause | undefined
  isWorkerPaused(instance: string): boolean
  /** Grows with each change. */
  readonly version: number
  /** Calls the listener after each change. Returns what ends that. */
  onChange(listener: () => void): () => void
}

export interface KnownPause {
  kind: 'pool' | 'worker'
  /** Name of the pool, or name@host:pid:boot of the worker. */
  name: string
  mode: PauseMode
  /** Epoch ms. */
  at: number
  actor: string | null
  /** Of a worker: the pools that it served. */
  pools: string[]
}

/** For those who change them. */
export interface PauseControl {
  all(): KnownPause[]
  /** Resolves when this process has read it, or after a few seconds. Rejects with `broker-unavailable`, and with `overloaded` if too many are paused. */
  pause(pause: Omit<KnownPause, 'at'>): Promise<void>
  resume(kind: KnownPause['kind'], name: string): Promise<void>
}

/** How many workers a pool needs for its load, and why. */
export interface PoolNeed {
  pool: string
  wanted: number
  reason: 'idle' | 'running' | 'backlog' | 'forecast' | 'arrivals' | 'lateness' | 'owners-unknown'
  /** Runs that could have started and have not. */
  backlog: number
  /** Runs that come due within 30 s. */
  forecast: number
  /** How long the oldest of the backlog has waited at least. */
  lateMs: number
}

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
