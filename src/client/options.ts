/** What the calls of a client take besides jobs and ids: conditions, waits, filters. */
import type { Instant } from '../answers/index.ts'
import type { JobInfo, Rejection } from './answers.ts'
import type { Job } from './job.ts'

/** Which lines of a run. */
export interface RunLogOptions {
  /** True: also waits for lines that come until the run has ended, and asks for them each second. Default false. */
  follow?: boolean | undefined
  /** Only lines that arrived from then on. Default: the start of the run. */
  from?: Instant | undefined
  /** Only lines that arrived before. Default: a minute after the end of the run. */
  to?: Instant | undefined
}

/** Conditions of a write. At most one of them. If it does not hold, the call rejects with `version-conflict`. */
export interface WriteCondition {
  /** The write happens only if the job has this version: its `etag`. Default: any. */
  ifMatch?: string | undefined
  /** True: the write happens only if the job does not exist. Default false. */
  ifAbsent?: boolean | undefined
}

/** Options of `schedule`. */
export interface ScheduleOptions extends WriteCondition {
  /** `applied`: resolves when the owner has applied the definition, or after 5 s with `applied: false`. Default: when it is durable. */
  wait?: 'applied' | undefined
}

/** Options of `call`: fields of the job that it makes, such as `retry`, `attemptTimeoutMs` and `tags`. */
export interface CallOptions extends CommandOptions, Omit<Job, 'id' | 'schedule' | 'target' | 'payload'> {
  /** Pool of the handler. Default: `default`. */
  pool?: string | undefined
}

/** Options of commands such as `trigger` and `pause`. */
export interface CommandOptions {
  /** A repeat of the command with the same key has no further effect and the same answer. 1 to 255 visible ASCII characters. Default: none. */
  idempotencyKey?: string | undefined
}

/** Options of waits for a run. */
export interface WaitOptions {
  /** How long to wait, in ms: 1 to 2,147,483,647. Default 60,000. */
  timeoutMs?: number | undefined
  /** Ends the wait, which rejects with its reason. The run goes on. Default: none. */
  signal?: AbortSignal | undefined
}

/** The run to wait for: by its number, by the command that made it, or the first that ends of this version of the job. */
export type AwaitedRunOf = { runNo: number } | { commandId: string } | { etag: string }

/** Which jobs. All given fields must match. */
export interface JobFilter {
  /** Status of the job. */
  status?: JobInfo['status'] | undefined
  /** One of its tags. */
  tag?: string | undefined
  /** Name of its handler. */
  handler?: string | undefined
  /** Beginning of its id. */
  idPrefix?: string | undefined
  /** Part of its id. Case-sensitive. */
  idContains?: string | undefined
  /** Only jobs whose next occurrence is before this time. */
  dueBefore?: Instant | undefined
  /** True: only jobs with active runs. */
  active?: boolean | undefined
}

/** Which jobs of a forecast. All given fields must match. */
export interface DueFilter {
  /** One of the tags of the job. */
  tag?: string | undefined
  /** Name of its handler. */
  handler?: string | undefined
  /** Name of its pool. */
  pool?: string | undefined
  /** ms: only jobs whose next two occurrences are at least so far apart, and jobs with one occurrence. */
  periodMsMin?: number | undefined
}

/** Which runs. All given fields must match. */
export interface RunFilter {
  /** One of the tags of the job. */
  tag?: string | undefined
  /** Name of the handler. */
  handler?: string | undefined
}

/** Which ended runs. All given fields must match. */
export interface HistoryFilter {
  /** Runs that ended at this time or later. */
  from?: Instant | undefined
  /** Runs that ended before. */
  to?: Instant | undefined
  /** Id of the job. */
  jobId?: string | undefined
  /** Beginning of the id of the job. */
  idPrefix?: string | undefined
  /** One of the tags that the job had. */
  tag?: string | undefined
  /** Name of the handler. */
  handler?: string | undefined
  /** Name of the pool. */
  pool?: string | undefined
  /** Status with which the run ended, such as DEAD. */
  outcome?: string | undefined
  /** Name of the last error. */
  errorType?: string | undefined
  /** Part of the last error message. */
  errorText?: string | undefined
  /** From the start of the last attempt to the end of the run, in ms. */
  minDurationMs?: number | undefined
  /** The same, at most. */
  maxDurationMs?: number | undefined
}

/** Options of `scheduleMany`. */
export interface RejectionOptions {
  /** Called for each job that is rejected. */
  onRejected?: ((rejection: Rejection) => void) | undefined
}

/** Options of `plan`. */
export interface PlanOptions {
  /** How far ahead times are compared, in ms. */
  horizonMs?: number | undefined
  /** Most times of a job that are compared. */
  maxFires?: number | undefined
}
