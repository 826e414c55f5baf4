/** Views of an owner's partition besides its jobs: for plans, forecasts, dead runs and lists of workers. */
import type { FinishedRun, JobDefinition, JobState, JobStatus, RunStatus } from '../../../schemas/index.ts'

/** A job as its owner stores it, for plans. */
export interface StoredJob {
  /** Offset and append time of the definition in force. `spec` is absent if it is invalid. */
  definition: { offset: number; appendedAt: number; spec?: JobDefinition; problem?: string }
  /** Absent while nothing was decided about the job. */
  state?: JobState
}

/** Which jobs a forecast is about: all, or those that have each of these. */
export interface DueFilter {
  tag?: string
  handler?: string
  pool?: string
  /** ms: only jobs whose next two occurrences are at least so far apart, and jobs with one occurrence. */
  periodMsMin?: number
}

/** From `from`, inclusive, to `to`, exclusive, in epoch ms, in steps of `bucketMs`. */
export interface DueRange extends DueFilter {
  from: number
  to: number
  bucketMs: number
}

/** Future occurrences by step. */
export interface DueCounts {
  /** Due before the range and not yet fired. */
  overdue: number
  /** Jobs whose next occurrence is due in the step; exact up to `until`. */
  next: number[]
  /** Occurrences after the next one of the same jobs; an estimate if `sampled` is less than `jobs`. */
  later: number[]
  /** Epoch ms: later occurrences were not counted. */
  until: number
  /** Number of counted jobs, and of those whose later occurrences were computed. */
  jobs: number
  sampled: number
  /** Whether a job had too many later occurrences to compute each; the rest is assumed to continue at the same rate. */
  cut: boolean
  /** Occurrences of the whole range by pool, without topic targets; an estimate like `later`. */
  pools: { pool: string; due: number }[]
}

/** A job with occurrences in a range. */
export interface DueJob {
  id: string
  /** The first of them, epoch ms. */
  at: number
  count: number
}

export interface DueJobs {
  /** In rarity (`inRarity`). */
  jobs: DueJob[]
  /** Number of all that were found. */
  found: number
  /** False: there were too many jobs to look at each, so some may be missing. */
  complete: boolean
}

/** Use of a concurrencyKey or of a rateLimit in a partition. */
export interface LimitUse {
  key: string
  /** Slots at the last request; of a rateLimit the starts in `perMs`. */
  limit: number
  /** Slots in use; starts of the last `perMs`. */
  held: number
  /** Runs that wait for a slot; starts that were given for a later time. */
  waiting: number
  /** Of a rateLimit. Absent: a concurrencyKey. */
  perMs?: number
  /** Epoch ms. Of a rateLimit: the earliest start that it would give now. */
  nextAt?: number
}

/** Running attempts of a worker, from its reports to an owner. */
export interface WorkerRuns {
  /** name@host:pid:boot */
  worker: string
  /** When its last report was read, epoch ms. */
  heardAt: number
  /** Number of attempts that it has begun and not ended. */
  running: number
  /** Some of their runs, `<jobId>/<runNo>`. */
  runIds: string[]
}

/** Active runs by what they wait for: a worker, the end of their handler, or something else. `withoutHandler`: those of `waiting` for which no worker has the handler. `inPausedPools`: those of `waiting` whose pool is paused. */
export type RunsUnderWay = Record<'dispatched' | 'running' | 'waiting' | 'withoutHandler' | 'inPausedPools', number>

/** Active runs of one pool: that of the definition in force. */
export interface PoolRuns extends RunsUnderWay {
  pool: string
}

/** What needs attention in a partition and stays so until somebody acts. */
export interface StandingCounts {
  /** Runs that can be redriven, and the jobs that have them. */
  deadRuns: number
  deadJobs: number
  invalid: number
  paused: number
}

export interface JobFilter {
  status?: JobStatus
  tag?: string
  handler?: string
  /** Only jobs with this id prefix. */
  idPrefix?: string
  /** Only jobs with runs that can be redriven. */
  dead?: boolean
  /** Only jobs whose id contains this. */
  idContains?: string
  /** Only jobs with active runs. */
  active?: boolean
  /** With `active`: only jobs with a run in this status. */
  runStatus?: RunStatus
  /** Epoch ms: only jobs whose next occurrence is due before it. */
  dueBefore?: number
  /** Of dead runs: only those that died at this time or later, and before that one, epoch ms. */
  diedFrom?: number
  diedTo?: number
  /** Of dead runs: only those whose last error has this type, or is of this kind (`errorKindOf`). */
  errorType?: string
  errorKind?: string
}

/** A position that was outside of its log. The log is then read from its beginning. */
export interface PositionReset {
  topic: string
  /** The position, and the offset from which the log is read instead. */
  from: number
  to: number
  /** beyond-end: the topic was truncated, or deleted and recreated. expired: records expired before they were read. lost: job-state is empty. */
  reason: 'beyond-end' | 'expired' | 'lost'
  /** Epoch ms. */
  at: number
}

/** A transaction that is open for so long that it blocks the records after it. */
export interface OpenTransaction {
  topic: string
  /** Its first record; readers stop there. */
  offset: number
  /** Number of records from there, including those of transactions. */
  records: number
  /** When it was first seen, epoch ms. */
  since: number
}

/** How late handlers started, in ms after they were due. */
export interface StartLateness {
  starts: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

/** State of a partition in one process. Optional fields are absent while no process has the partition. */
export interface PartitionView {
  partition: number
  /** restoring: reads its changelog. following: a standby that keeps up. claiming: fences the previous owner. active: fires. */
  phase: 'restoring' | 'following' | 'claiming' | 'active' | 'closed'
  /** Role by the group's assignment. */
  role?: 'owner' | 'standby'
  /** Number of records that the local store is known to lack; null: there is no readable store. */
  behindRecords?: number | null
  /** False: the process is active, but another one may own the partition already, so its answers may be stale. */
  isCurrent?: boolean
  /** Version of the time zone rules of the process, such as 2026a. */
  zoneRules?: string
  /** While jobs are checked because these rules have changed: how many were checked, and how many moved. Null otherwise. */
  zoneWalk?: { checked: number; moved: number } | null
  /** Records of changelog and definitions still to be read while restoring. */
  restoreRemaining: number
  /** Records read and not yet applied. */
  mailboxDepth: number
  /** Value of restoreRemaining at the start of the restore; 0 while nothing is restored. */
  restoreTotal: number
  /** Next offsets not yet applied. */
  jobsOffset: number
  commandsOffset: number
  eventsOffset: number
  /** How long the oldest due timer has waited, in ms; 0: none is overdue. */
  overdueMs: number
  /** Of the handlers that started in the last five minutes; null: none did. */
  lateness?: StartLateness | null
  /** Why its process decides nothing for now, in any phase: its clock is not trusted. */
  problem?: string | null
  /** The last position of its owner that was outside of its log since the start of the process; null: none. */
  lastReset?: PositionReset | null
  /** The oldest transaction that blocks one of its topics; null: none, or unknown. */
  openTransaction?: OpenTransaction | null
  /** Active runs that its owner knows. At most 100,000 jobs are counted. */
  underWay: RunsUnderWay
  /** The same by pool; at most 1,000 pools. */
  pools?: PoolRuns[]
  /** Null while they are being counted, after the partition has moved. */
  standing?: StandingCounts | null
}

/** Caller of a long request. Callers are served in turn, and an aborted request is not processed. */
export interface Asker {
  /** A token, a subject or an address; the same text for the same caller. */
  caller: string
  /** Aborted if the caller no longer wants the answer. Default: never. */
  signal?: AbortSignal | undefined
}

/** Where a run stands in the order of the list. */
export interface DeadPlace {
  /** When it died, epoch ms. */
  at: number
  jobId: string
  runNo: number
}

export interface DeadRunsQuery {
  filter: JobFilter
  /** Largest number of runs. */
  limit: number
  /** Only runs behind this place. */
  before?: DeadPlace
  /** Only jobs after this one, in the order of their bytes. */
  after?: string
  /** The errors of a run with headers or an HTTP target may hold secrets: no filter of errors finds it, and its kind is not told. */
  harmlessOnly: boolean
}

/** A dead run with what is needed to show it. */
export interface DeadRun {
  place: DeadPlace
  /** Its job, without payload. */
  job: { offset: number; definition: JobDefinition | undefined }
  /** Without stacks. */
  run: FinishedRun
}

/** Dead runs whose last errors differ only in numbers and ids. */
export interface ErrorKindCount {
  /** Empty: the error is not told. */
  kind: string
  type: string
  /** Message of the newest. */
  message: string
  count: number
  newestAt: number
}

export interface DeadRuns {
  /** Newest first. */
  runs: DeadRun[]
  /** More match than are in `runs`, all of them behind its last. */
  isCut: boolean
  /** Runs that match, those before the place included. */
  count: number
  /** Older dead runs of the same jobs that are no longer kept. */
  dropped: number
  /** Their most frequent errors. */
  kinds: ErrorKindCount[]
  /** The `after` of the next call; absent at the end. */
  next?: string
}
