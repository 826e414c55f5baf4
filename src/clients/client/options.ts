/** What the calls of a client take besides jobs and ids (conditions, waits, filters), and what they give back: answers of the API under names of the library. */
import type {
  Api,
  Given,
  HistoryRun,
  Instant,
  Limit,
  Partition,
  PlanRequest,
  Pool,
  RunLogLine,
  Job as StoredJob,
  Run as StoredRun,
  Worker as WorkerAnswer,
} from '../../ground/answers/index.ts'
import type { DuelogError } from '../../ground/errors/index.ts'
import type { FieldsOf, Job } from './job.ts'

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

/** What chooses in a call of the API, but for `Left`. All given fields must match. The client reads all pages. */
type FilterOf<Name extends keyof Api, Left extends string = never> = {
  [Field in keyof Omit<Given<Name>, 'limit' | 'cursor' | 'stale' | 'signal' | Left>]:
    | (Field extends 'from' | 'to' | 'dueBefore' ? Instant : Given<Name>[Field])
    | undefined
}

/** Which jobs. All given fields must match. */
export type JobFilter = FilterOf<'listJobs'>
/** Which jobs of a forecast. All given fields must match. */
export type DueFilter = FilterOf<'getForecast', 'from' | 'horizonMs' | 'buckets'>
/** Which runs. All given fields must match. */
export type RunFilter = FilterOf<'listActiveRuns', 'state'>
/** Which ended runs. All given fields must match. */
export type HistoryFilter = FilterOf<'listHistory'>

/** Options of `scheduleMany`. */
export interface RejectionOptions {
  /** Called for each job that is rejected. */
  onRejected?: ((rejection: Rejection) => void) | undefined
}

/** Options of `plan`. */
export type PlanOptions = FieldsOf<PlanRequest, 'jobs'>

/** Definition and state of a job, as the API answers it. */
export type JobInfo = StoredJob
/** A run, active or ended, as the API answers it. Times are ISO 8601 in UTC. */
export type RunInfo = StoredRun
/** A line of a run, as the API answers it. */
export type RunLine = RunLogLine
/** A worker, as the API answers it. */
export type WorkerInfo = WorkerAnswer
/** A concurrency key in use, as the API answers it. */
export type LimitInfo = Limit
/** A pool, as the API answers it. */
export type PoolInfo = Pool
/** A partition and its owner, as the API answers it. */
export type PartitionInfo = Partition

/** An ended run in the history, as the API answers it. */
export type HistoryRunInfo = HistoryRun

/** The place of the job's definition in the log. */
export interface Written {
  partition: number
  offset: number
}

/** The answer to a definition. */
export interface Scheduled extends Written {
  id: string
  /** Version of the definition, for `ifMatch` and `awaitRun`: `"<partition>.<offset>"`. */
  etag: string
  /** Whether the owner has confirmed that it applied the definition; only with `wait: 'applied'`. */
  applied: boolean
  /** With `applied`: status of the job. INVALID: it does not fire, and `reason` says why. */
  status?: JobInfo['status']
  reason?: string
  /** Allowed but probably unintended, such as a limit that jobs of other partitions do not share. Empty: no warnings. */
  warnings: string[]
}

export interface Rejection {
  /** Index in the iterable, from 0. */
  index: number
  /** Id of the job, if it has one. */
  id: string | undefined
  /** `bad-definition`, `bad-job-id`, `payload-too-large` or `encode-failed`; the message has every problem. */
  error: DuelogError
}

export interface ScheduledMany {
  /** Jobs that are durable in the log. */
  accepted: number
  rejected: number
  /** The first 100 rejections. */
  rejections: Rejection[]
}

/** Rejections that the result of scheduleMany lists; all are counted and given to onRejected. */
export const rejectionsListedMax = 100

/** A record of the topic `jobs`, for a producer of your own. */
export interface JobRecord {
  topic: string
  partition: number
  /** The job id. */
  key: Buffer
  /** Null: the record deletes the job. */
  value: Buffer | null
  headers: Record<string, string>
}
