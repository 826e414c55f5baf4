/** What an owner tells of its partition beyond its jobs: for plans, forecasts, and whoever looks at the workers. */
import type { JobDefinition, JobState, JobStatus, RunStatus } from '../schemas/generated.ts'

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
