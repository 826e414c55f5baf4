/** The clients as programs see them: one over HTTP, which does all that the API does, and one that writes definitions to Kafka. */
import type {
  AuditPage,
  CommandResult,
  DeadLetter,
  DueJobs,
  DueTime,
  Forecast,
  HistoryCounts,
  HistoryRun,
  Instant,
  JobExplanation,
  Operation,
  OperationRequest,
  Partition,
  Plan,
  Pool,
  Proof,
  RedriveResult,
  RunLogLine,
  Series,
  Job as StoredJob,
  Run as StoredRun,
  Worker as WorkerAnswer,
} from '../answers/index.ts'
import type { DuelogError } from '../errors/index.ts'
import type { Job } from './job.ts'
import type { AnyPayloads, JobFor } from './typed-job.ts'

/** Definition and state of a job, as the API answers it. */
export type JobInfo = StoredJob
/** A run, active or ended, as the API answers it. Times are ISO 8601 in UTC. */
export type RunInfo = StoredRun
/** A line of a run, as the API answers it. */
export type RunLine = RunLogLine
/** Which lines of a run. */
export interface RunLogOptions {
  /** Default false. */
  follow?: boolean
  /** Only lines that arrived from then on. Default: the start of the run. */
  from?: Instant
  /** Only lines that arrived before. Default: a minute after the end of the run. */
  to?: Instant
}
/** A worker, as the API answers it. */
export type WorkerInfo = WorkerAnswer
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

/** Conditions of a write. At most one of them. */
export interface WriteCondition {
  /** The write happens only if the job has this version. */
  ifMatch?: string
  /** True: the write happens only if the job does not exist. */
  ifAbsent?: boolean
}

export interface ScheduleOptions extends WriteCondition {
  /** `applied`: resolves when the owner has applied the definition, or after 5 s with `applied: false`. Default: when it is durable. */
  wait?: 'applied'
}

/** A repeat of a command with the same key has no further effect and the same answer. 1 to 255 visible ASCII characters. */
export interface CommandOptions {
  idempotencyKey?: string
}

export interface WaitOptions {
  /** How long to wait, in ms: 1 to 2,147,483,647. Default 60,000. */
  timeoutMs?: number
  /** Ends the wait with its reason. */
  signal?: AbortSignal
}

/** The run to wait for: by its number, by the command that made it, or the first that ends of this version of the job or a later one. */
export type AwaitedRunOf = { runNo: number } | { commandId: string } | { etag: string }

/** The promise of a request that makes a run, with ways to wait for its end. */
export interface RunPromise<Answer> extends Promise<Answer> {
  /**
   * What the handler returned. Rejects with RunFailedError if the run ends otherwise or cannot come, with `wait-timeout` if it has not
   * ended in time, and with the error of the request itself.
   */
  result<Result = unknown>(options?: WaitOptions): Promise<Result>
  /** The ended run, whatever its status. Rejects with RunFailedError if it cannot come, and with `wait-timeout`. */
  run(options?: WaitOptions): Promise<RunInfo>
}

export interface JobFilter {
  status?: JobInfo['status']
  tag?: string
  handler?: string
  idPrefix?: string
  /** Case-sensitive. */
  idContains?: string
  /** Only jobs whose next occurrence is before this time. */
  dueBefore?: Instant
  /** True: only jobs with active runs. */
  active?: boolean
}

export interface RunFilter {
  tag?: string
  handler?: string
}

/** Which ended runs. All given fields must match. */
export interface HistoryFilter {
  /** Runs that ended at this time or later, and before `to`. */
  from?: Instant
  to?: Instant
  jobId?: string
  idPrefix?: string
  tag?: string
  handler?: string
  pool?: string
  outcome?: string
  errorType?: string
  /** Part of the last error message. */
  errorText?: string
  /** From the start of the last attempt to the end of the run, in ms. */
  minDurationMs?: number
  maxDurationMs?: number
}

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

/**
 * All that the HTTP API does. Each call rejects with a DuelogError: the code that the API answered, `unreachable` if no Duelog answers
 * within 30 s, or `bad-request` after `close`. `Payloads`: payloads by handler, for the compiler.
 */
export interface Client<Payloads extends object = AnyPayloads> {
  /**
   * Creates or replaces a job. `schedule(job).result()` waits for what its first run returns. Rejects with `bad-definition`, `bad-job-id`,
   * `payload-too-large`, `version-conflict`, `not-ready`.
   */
  schedule(job: JobFor<Payloads>, options?: ScheduleOptions): RunPromise<Scheduled>
  /**
   * Creates or replaces any number of jobs; the iterable is read no faster than they are written. Only an invalid job itself is rejected.
   * Rejects with `unreachable` if the connection breaks. The same jobs may be sent again: an id is scheduled once.
   */
  scheduleMany(
    jobs: Iterable<JobFor<Payloads>> | AsyncIterable<JobFor<Payloads>>,
    options?: { onRejected?: (rejection: Rejection) => void },
  ): Promise<ScheduledMany>
  /** Deletes a job: no further occurrence fires, and its active runs are cancelled. Rejects with `not-found`, `version-conflict`. */
  delete(id: string, options?: Pick<WriteCondition, 'ifMatch'>): Promise<void>
  /** Definition and state; undefined if there is no such job. */
  get(id: string): Promise<JobInfo | undefined>
  /** Jobs in the order of their ids, page by page while they are read. */
  list(filter?: JobFilter): AsyncIterable<JobInfo>
  /** Active runs of a job, then the last 11 ended ones, newest first. Rejects with `not-found`. */
  runs(id: string): Promise<RunInfo[]>
  /** One run; undefined if there is none, or if it is older than the runs that are kept. */
  run(id: string, runNo: number): Promise<RunInfo | undefined>
  /**
   * Lines that the handler of a run wrote with `run.log`, oldest first, page by page while they are read. With `follow` it also waits for
   * those that come until the run has ended. For a run that is no longer kept, `from` says when it started. Rejects with `not-found`.
   */
  logs(id: string, runNo: number, options?: RunLogOptions): AsyncIterable<RunLine>
  /** Active runs of all jobs. */
  activeRuns(filter?: RunFilter & { state?: RunInfo['status'] }): AsyncIterable<RunInfo>
  /** Resolves with an ended run. Rejects with RunFailedError if it cannot come, and with `wait-timeout`. */
  awaitRun(id: string, which: AwaitedRunOf, options?: WaitOptions): Promise<RunInfo>
  /** Ended runs, newest first, page by page while they are read. Rejects with `not-ready` if no process has the role history. */
  history(filter?: HistoryFilter): AsyncIterable<HistoryRunInfo>
  /** Number of ended runs by time and outcome. `bucketMs`: a multiple of 60,000, default an hour. Default range: the last 24 h. */
  historyCounts(filter?: HistoryFilter & { bucketMs?: number }): Promise<HistoryCounts>
  /** Why the job fired or did not. Rejects with `not-found`. */
  why(id: string): Promise<JobExplanation>
  /** Starts one run now, outside the schedule. Rejects with `not-found`, `command-refused`. */
  trigger(id: string, options?: CommandOptions & { payload?: unknown }): RunPromise<CommandResult>
  /** No occurrence fires until the job is resumed. */
  pause(id: string, options?: CommandOptions): Promise<CommandResult>
  resume(id: string, options?: CommandOptions): Promise<CommandResult>
  /** Ends the runs of a job; it does not fire again until it gets a new definition. `delete` also removes the job. */
  cancel(id: string, options?: CommandOptions): Promise<CommandResult>
  /** Ends one active run. Rejects with `not-found`, `not-tracked`. */
  cancelRun(id: string, runNo: number, options?: CommandOptions): Promise<CommandResult>
  /** Makes a new run of a dead one, with the same payload and target. Rejects with `not-found`, `command-refused`. */
  redrive(id: string, runNo: number, options?: CommandOptions): RunPromise<CommandResult>
  /** Redrives up to 1,000 dead runs that match. `operate({ action: 'REDRIVE', filter })` redrives all, each once. */
  redriveMany(filter?: RunFilter & { max?: number }): Promise<RedriveResult>
  /** Changes many jobs or dead runs as one operation, which goes on in the background. Rejects with `overloaded`. */
  operate(request: OperationRequest, options?: CommandOptions): Promise<Operation>
  /** How many jobs or dead runs an operation would find now. */
  countOperation(request: OperationRequest): Promise<number>
  /** Undefined: there is no such operation. */
  operation(id: string): Promise<Operation | undefined>
  /** Newest first. `active`: only those that have not ended. `limit`: 1 to 1,000, default 100. */
  operations(filter?: { active?: boolean; limit?: number }): Promise<Operation[]>
  /** Ends an operation early. What it has changed stays changed. Rejects with `not-found`. */
  cancelOperation(id: string): Promise<Operation>
  /** Makes one run for each occurrence from `from` up to, but not including, `to`. */
  backfill(id: string, range: { from: Instant; to: Instant }, options?: CommandOptions): Promise<CommandResult>
  /** Dead runs that can be redriven, newest first for each job. */
  deadLetters(filter?: RunFilter): AsyncIterable<RunInfo>
  /** A dead run with its input. Undefined if it cannot be redriven any more. */
  deadLetter(id: string, runNo: number): Promise<DeadLetter | undefined>
  /** The next times of a schedule; nothing is written. `count`: 1 to 1,000, default 10. */
  preview(schedule: Job['schedule'], options?: { from?: Instant; count?: number }): Promise<DueTime[]>
  /** What these definitions would change; nothing is written. At most 1,000 jobs. */
  plan(jobs: readonly JobFor<Payloads>[], options?: { horizonMs?: number; maxFires?: number }): Promise<Plan>
  /** Number of occurrences in the steps of a range. */
  forecast(range?: { from?: Instant; horizonMs?: number; buckets?: number }): Promise<Forecast>
  /** The jobs that will be due in a range, by their first occurrence in it. `horizonMs`: default one hour. `limit`: 1 to 500, default 100. */
  dueJobs(range: { from: Instant; horizonMs?: number; limit?: number }): Promise<DueJobs>
  workers(): Promise<WorkerInfo[]>
  /** Takes no runs until it is resumed; running handlers go on. `worker`: its whole name, `instance` of `workers()`. Resolves with its state; rejects with `not-found`. */
  pauseWorker(worker: string): Promise<WorkerInfo>
  /** The same; it is DRAINED when its handlers have ended. */
  drainWorker(worker: string): Promise<WorkerInfo>
  resumeWorker(worker: string): Promise<WorkerInfo>
  /** The pools with their workers and runs. */
  pools(): Promise<PoolInfo[]>
  /** Its runs wait until it is resumed; running handlers go on. Rejects with `not-found`. */
  pausePool(pool: string): Promise<PoolInfo>
  /** The same, but its workers still do what was dispatched before. */
  drainPool(pool: string): Promise<PoolInfo>
  resumePool(pool: string): Promise<PoolInfo>
  partitions(): Promise<PartitionInfo[]>
  /** What happened in each step of the last hour or the last 24 h (default). */
  series(range?: 'hour' | 'day'): Promise<Series>
  /** What the auditors have judged. */
  proof(): Promise<Proof>
  /** The audit trail, newest first. Needs the role admin. */
  audit(filter?: { actor?: string; jobId?: string; action?: string }): AsyncIterable<AuditPage['records'][number]>
  /** Ends the waits for runs, waits for other requests in flight, at most 30 s. Safe to call twice. */
  close(): Promise<void>
}

/** Records of jobs for a producer of your own, for example in a Kafka transaction with your own records. */
export interface JobRecords<Payloads extends object = AnyPayloads> {
  /**
   * The records that schedule these jobs. Write key, value, headers and partition as they are: a partitioner of your own would place ids
   * with a tag wrongly. Rejects as `schedule` does.
   */
  records(...jobs: JobFor<Payloads>[]): Promise<JobRecord[]>
  /** The records that delete these jobs. Rejects with `bad-job-id`. */
  deletionRecords(...ids: string[]): Promise<JobRecord[]>
}

/** Writes definitions to Kafka, without the HTTP API. A resolved call is durable; the owner applies it some milliseconds later. */
export interface KafkaClient<Payloads extends object = AnyPayloads> extends JobRecords<Payloads> {
  /**
   * Creates or replaces a job. With a condition, the owner drops a definition for which it does not hold, and `why` says so. Rejects with
   * DuelogError `bad-definition`, `bad-job-id`, `payload-too-large` or `broker-unavailable`.
   */
  schedule(job: JobFor<Payloads>, options?: WriteCondition): Promise<Scheduled>
  /**
   * Creates or replaces any number of jobs at the speed of the log; the iterable is read no faster than that. Only an invalid
   * job itself is rejected. Rejects with `broker-unavailable` if the log refuses; the message has the number of durable jobs.
   * The same jobs may be sent again: an id is scheduled once.
   */
  scheduleMany(
    jobs: Iterable<JobFor<Payloads>> | AsyncIterable<JobFor<Payloads>>,
    options?: { onRejected?: (rejection: Rejection) => void },
  ): Promise<ScheduledMany>
  /**
   * Deletes a job: no further occurrence fires, and its active runs are cancelled if their workers receive that in time.
   * Deleting an unknown job is no error. Rejects with `bad-job-id` or `broker-unavailable`.
   */
  delete(id: string): Promise<Written>
  /** Waits for writes in-flight, then closes the connection. Safe to call twice. */
  close(): Promise<void>
}
