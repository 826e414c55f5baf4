/** Port to the owners: jobs as they see them, and the queries that they answer, in this process and in others. */
import type {
  ActiveRun,
  DecidedTime,
  Execution,
  FinishedRun,
  JobDefinition,
  JobState,
  JobStatus,
} from '../../../schemas/index.ts'
import type { Reason } from '../../../streams/jobs/index.ts'
import type { Announced, AnnounceQuery, ChangeQuery, Changes, TargetQuery, Targets } from './operations.ts'
import type {
  Asker,
  DeadRuns,
  DeadRunsQuery,
  DueCounts,
  DueFilter,
  DueJobs,
  DueRange,
  JobFilter,
  LimitUse,
  PartitionView,
  StoredJob,
  WorkerRuns,
} from './owner-views.ts'

/** The last heartbeat of a running attempt. */
export interface Heartbeat {
  /** The owner's clock when it read the heartbeat, epoch ms. */
  checkedAt: number
  /** Completed share, from 0 to 1. */
  progress: number | null
  message: string | null
}

/** An active run with the last heartbeat of its current attempt. An owner knows heartbeats only since it owns the partition. */
export interface ActiveRunView extends Omit<ActiveRun, 'waitsFor'> {
  heartbeat: Heartbeat | null
  /** HANDLER: no worker has its handler. Its status is WAITING then; in the state of the job it is a parked RETRY_WAIT. */
  waitsFor: ActiveRun['waitsFor'] | 'HANDLER' | 'POOL_PAUSED'
}

/** A job as its owner sees it. */
export interface JobView {
  id: string
  /** Partition and offset of the definition in force; the API's ETag is `"<partition>.<offset>"`. */
  partition: number
  offset: number
  /** Absent while the job is INVALID because its bytes could not be decoded. */
  definition: JobDefinition | undefined
  status: JobStatus
  /** Nominal time of the next occurrence. */
  nextFireAt: number | null
  /** With jitter: its due time. Null: it is due at its nominal time. */
  nextDueAt: number | null
  /** For a schedule in a time zone: the basis of its next time. Absent for others. */
  place?: { anchorAt: number; decidedFor: DecidedTime | null; latestFiredFor: number | null }
  runNo: number
  scheduledRuns: number
  succeeded: number
  failed: number
  skipped: number
  cancelled: number
  reason: string | null
  active: ActiveRunView[]
  lastRun: FinishedRun | null
  /** Dead runs that can be redriven. */
  deadRuns: number[]
  /** Older dead runs that are no longer kept. */
  deadRunsDropped: number
  /** From what the times of its schedule count. */
  anchorAt: number
  /** The backfill in progress. */
  backfill: JobState['backfill']
  followUpsWaiting: number
  /** Marks of its last 32 commands (streams/state/refusals.ts). Absent from lists. */
  recentCommands?: number[]
}

export interface ListedJobs {
  jobs: JobView[]
  /** Cursor for the next call; absent at the end. */
  next?: string
  /** Number of jobs that were checked. */
  looked: number
}

/** Why a job fired or did not. */
export interface WhyView {
  status: JobStatus
  /** Present obstacles first, then refusals, newest first. Never empty. */
  reasons: Reason[]
}

/** Queries for jobs. Every call rejects with DuelogError `not-ready` if this process has no such store. */
export interface JobQueries {
  job(partition: number, id: string): Promise<JobView | undefined>
  /** Jobs in id order after `after`. One call reads about 10,000 jobs at most, so a page may be short or empty while `next` is set. */
  list(partition: number, filter: JobFilter, limit: number, after?: string, asker?: Asker): Promise<ListedJobs>
  why(partition: number, id: string): Promise<WhyView | undefined>
  /** Active runs, then ended ones, newest first; at most the active ones, the last 11, and `deadRunNo` if that can be redriven. */
  runs(
    partition: number,
    id: string,
    deadRunNo?: number,
  ): Promise<{ active: ActiveRunView[]; finished: FinishedRun[]; life: string } | undefined>
  /** Dead runs that can be redriven, newest first. One call reads about 10,000 jobs at most. */
  deadRuns(partition: number, query: DeadRunsQuery, asker?: Asker): Promise<DeadRuns>
  /** Snapshot of a dead run, as a redrive uses it; undefined if the run cannot be redriven. */
  deadRun(partition: number, id: string, runNo: number): Promise<Execution | undefined>
  /** The input of a run: of an active or dead one, or of an ended one while its definition is in force. Undefined: it is not kept. */
  runInput(partition: number, id: string, runNo: number): Promise<Execution | undefined>
}

/**
 * The run that a caller waits for: one run, the run that a command makes, or the first run that ends of the definition at this offset of
 * jobs: not of a later one, which another caller may have written.
 */
export type AwaitedRun = { runNo: number } | { commandId: string } | { specOffset: number }

/** Null for a run that does not exist and will not; then `reason` says why, in a sentence. */
export interface RunEnd {
  run: FinishedRun | null
  reason: string | null
}

/** Queries to the owner of a partition. Every call rejects with DuelogError `not-ready` if this process is not the active owner. */
export interface PartitionQueries extends JobQueries {
  /** The same queries on any store of this process, of a standby or during a restore. The answers may be stale. */
  readonly standbyReads: JobQueries
  partitions(): PartitionView[]
  /** The job as it is stored; undefined if there is none. */
  stored(partition: number, id: string): Promise<StoredJob | undefined>
  /** Future occurrences. It reads a bounded number of timers and definitions; the counts say how far they go. */
  forecast(partition: number, range: DueRange, asker?: Asker): Promise<DueCounts>
  /** The jobs with occurrences from `from` up to, but not including, `to`. It reads as much as a forecast does. */
  dueJobs(partition: number, range: DueFilter & { from: number; to: number; limit: number }, asker?: Asker): Promise<DueJobs>
  /** What an operation changes, in the order of job ids. One call reads about 10,000 jobs at most, so it may find none while `next` is set. */
  targets(partition: number, query: TargetQuery, asker?: Asker): Promise<Targets>
  /**
   * Changes the next jobs of an operation in the order of their ids, for about a second or up to the limit. Firing goes on meanwhile. What
   * it answers is committed. Rejects with `not-ready` if the partition moves or nothing is committed in time; a repeat is safe.
   */
  change(partition: number, query: ChangeQuery, asker?: Asker): Promise<Changes>
  /**
   * Makes an operation known to the owner for a minute, and a repeat for a minute more. If its action is immediate, each job that comes up
   * in a commit cycle before `change` has come to it is changed first. Also answered by the next owner before it is active, if the cut-off
   * is given.
   */
  announce(partition: number, query: AnnounceQuery, asker?: Asker): Promise<Announced>
  /** The concurrencyKeys in use with most waiting runs, at most 100. It reads at most 2,000 keys. */
  limits(partition: number): Promise<LimitUse[]>
  /** Workers that have sent reports since this owner has the partition, at most 1,000. */
  workers(partition: number): Promise<WorkerRuns[]>
  /**
   * Resolves true once the owner has applied the records at these offsets, and false after `timeoutMs`. Without offsets: once its running
   * commit cycle has ended, so that its store has everything that readers of the log can know by now.
   */
  applied(partition: number, offsets: { jobs?: number; commands?: number }, timeoutMs: number): Promise<boolean>
  /**
   * Resolves with the end of a run: at once if it has ended or cannot come, and with null if it is still awaited after `timeoutMs` or when
   * the caller is gone. Rejects with `overloaded` if too many wait, and with `not-ready` if the partition moves.
   */
  ended(partition: number, id: string, awaited: AwaitedRun, timeoutMs: number, asker?: Asker): Promise<RunEnd | null>
}

export interface ListQuery {
  filter: JobFilter
  limit: number
  /** Only jobs after this one, in the order of their bytes. */
  after?: string | undefined
}

export interface StoreSearch<Query> {
  partition: number
  /** Ids of definitions written since the last search. Undefined: unknown, so what is remembered of the store does not count. */
  written?: readonly string[] | undefined
  query: Query
}

/**
 * Searches through whole stores. The scheduler implements them in place, src/program/system in a thread. Each sees all that was applied to the store before the call. Rejects with the reason of the signal, with `not-ready` if the store
 * cannot be read, and with `overloaded` if it takes too long.
 */
export interface StoreSearches {
  /** Runs have no heartbeats. One call reads about 10,000 jobs at most. */
  list(search: StoreSearch<ListQuery>, signal?: AbortSignal): Promise<ListedJobs>
  deadRuns(search: StoreSearch<DeadRunsQuery>, signal?: AbortSignal): Promise<DeadRuns>
}
