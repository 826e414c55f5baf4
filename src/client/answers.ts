/** What the calls of a client give back: answers of the API under names of the library, and what a write tells. */
import type {
  HistoryRun,
  Limit,
  Partition,
  Pool,
  RunLogLine,
  Job as StoredJob,
  Run as StoredRun,
  Worker as WorkerAnswer,
} from '../answers/index.ts'
import type { DuelogError } from '../errors/index.ts'

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
