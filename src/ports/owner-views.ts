/** What an owner tells of its partition beyond its jobs: for plans, forecasts, and whoever looks at the workers. */
import type { JobDefinition, JobState, JobStatus, RunStatus } from '../../schemas/index.ts'

/** A job as its owner stores it, for whoever computes what would become of it. */
export interface StoredJob {
  /** Place and append time of the definition in force; `spec` is absent when it cannot be used. */
  definition: { offset: number; appendedAt: number; spec?: JobDefinition; problem?: string }
  /** Absent while nothing was decided about the job. */
  state?: JobState
}

/** From `from`, inclusive, to `to`, exclusive, in epoch ms, in steps of `bucketMs`. */
export interface DueRange {
  from: number
  to: number
  bucketMs: number
}

/** Occurrences ahead by step. */
export interface DueCounts {
  /** Due before the range and not yet fired. */
  overdue: number
  /** Jobs whose next occurrence is due in the step; exact up to `until`. */
  next: number[]
  /** Occurrences after the next one of the same jobs; an estimate where `sampled` is less than `jobs`. */
  later: number[]
  /** Epoch ms: what is due later than this was not counted. */
  until: number
  /** Jobs that were counted, and of how many of them the later occurrences were computed. */
  jobs: number
  sampled: number
  /** Whether the later occurrences of a job were too many to be computed one by one, and were taken to go on at the same rate. */
  cut: boolean
}

/** What an owner has heard from a worker. */
export interface WorkerRuns {
  /** name@host:pid:boot */
  worker: string
  /** When a report of it was last read, epoch ms. */
  heardAt: number
  /** Attempts that it has begun and not ended. */
  running: number
  /** Some of their runs, `<jobId>/<runNo>`. */
  runIds: string[]
}

/** Active runs by what they wait for: a worker, their handler, or their next attempt. */
export type RunsUnderWay = Record<'dispatched' | 'running' | 'waiting', number>

export interface JobFilter {
  status?: JobStatus
  tag?: string
  handler?: string
  /** Only jobs whose id begins so. */
  idPrefix?: string
  /** Only jobs with runs that can be redriven. */
  dead?: boolean
  /** Only jobs whose id holds this somewhere. */
  idContains?: string
  /** Only jobs with active runs. */
  active?: boolean
  /** With `active`: only jobs with a run in this status. */
  runStatus?: RunStatus
  /** Epoch ms: only jobs whose next occurrence is due before it. */
  dueBefore?: number
}

/** A position that lay outside its log, which is read from its beginning since. */
export interface PositionReset {
  topic: string
  /** The position, and where it is read from instead. */
  from: number
  to: number
  /** beyond-end: the topic was truncated, or deleted and made anew. expired: records expired before they were read. lost: of job-state, nothing is left. */
  reason: 'beyond-end' | 'expired' | 'lost'
  /** Epoch ms. */
  at: number
}

/** A transaction that was not ended for so long that it holds up what stands behind it. */
export interface OpenTransaction {
  topic: string
  /** Its first record: readers get no further. */
  offset: number
  /** Records behind that place, those of transactions included. */
  records: number
  /** Since when it was seen, epoch ms. */
  since: number
}

/** Where a partition stands in one process. */
export interface PartitionView {
  partition: number
  /** restoring: reads its changelog. following: a standby, and keeps up. claiming: fences its predecessor. active: fires. */
  phase: 'restoring' | 'following' | 'claiming' | 'active' | 'closed'
  /** What the group wants of the process. A process of an earlier version says nothing, and is the owner. */
  role?: 'owner' | 'standby'
  /** Records that the local store lacks, as far as is known; null when there is no store to be read. */
  behindRecords?: number | null
  /** False: it fires, as far as it knows, and another process may own it already, so that what it answers may be out of date. */
  isCurrent?: boolean
  /** Version of the time zone rules of the process, such as 2026a. An earlier version of Duelog says nothing. */
  zoneRules?: string
  /** While jobs are looked at because these rules have changed: how many were, and how many of them moved; null else. */
  zoneWalk?: { checked: number; moved: number } | null
  /** Records of changelog and definitions still to be read while restoring. */
  restoreRemaining: number
  /** Records read and not yet folded. */
  mailboxDepth: number
  /** Of how many at the beginning of what it reads now; 0 while it restores nothing. */
  restoreTotal: number
  /** Next offsets not yet applied. */
  jobsOffset: number
  commandsOffset: number
  eventsOffset: number
  /** How long the oldest timer that is due has waited, in ms; 0 when none is overdue. */
  overdueMs: number
  /** Why its process decides nothing for now, whatever the phase: its clock is not trusted. Absent in a process of an earlier version. */
  problem?: string | null
  /** The last position of its owner that lay outside its log since the process began; null: none did. An earlier version says nothing. */
  lastReset?: PositionReset | null
  /** The oldest transaction that holds up a topic of it; null: none does, or it is not known. An earlier version says nothing. */
  openTransaction?: OpenTransaction | null
  /** What its owner knows to be active. At most 100,000 jobs are counted. */
  underWay: RunsUnderWay
}

/**
 * That an owner decides nothing for now, because of its clock, in the words that every answer uses. `instance` is name@host:pid:boot of the
 * owner, whose machine `problem` speaks of.
 */
export const ownerProblem = (instance: string | undefined, problem: string | null | undefined): string | undefined =>
  problem == null
    ? undefined
    : `The owner of its partition, ${instance ?? 'another process'}, decides nothing for now. ${problem}`
