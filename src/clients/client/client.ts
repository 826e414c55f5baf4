/** The clients as programs see them: one over HTTP, which does all that the API does, and one that writes definitions to Kafka. */
import type {
  AuditPage,
  BackfillCount,
  CommandResult,
  DeadLetter,
  DueJobs,
  DueTime,
  Forecast,
  HandlerList,
  HistoryCounts,
  Instant,
  JobExplanation,
  Operation,
  OperationRequest,
  Plan,
  Proof,
  Series,
} from '../../ground/answers/index.ts'
import type { AnyJobFor, AnyPayloads, Job, JobFor, JobsTo, JobTo, ResultOf, TargetFor } from './job.ts'
import type {
  AwaitedRunOf,
  CallOptions,
  CommandOptions,
  DueFilter,
  HistoryFilter,
  HistoryRunInfo,
  JobFilter,
  JobInfo,
  JobRecord,
  LimitInfo,
  PartitionInfo,
  PlanOptions,
  PoolInfo,
  RejectionOptions,
  RunFilter,
  RunInfo,
  RunLine,
  RunLogOptions,
  Scheduled,
  ScheduledMany,
  ScheduleOptions,
  WaitOptions,
  WorkerInfo,
  WriteCondition,
  Written,
} from './options.ts'
import type { RunPromise } from './run-promise.ts'

/**
 * All that the HTTP API does. Each call rejects with a DuelogError: the code that the API answered, `unreachable` if no Duelog answers
 * within 30 s, or `bad-request` after `close`. `Payloads`: payloads by handler, for the compiler.
 */
export interface Client<Payloads extends object = AnyPayloads, Results extends object = AnyPayloads> {
  /**
   * Runs a handler once, now, as a job of its own: `await client.call('add', { a: 1 }).result()` gives what the handler returns. The server
   * makes the id, so no other caller has it. With the same `idempotencyKey` and payload, it is the same run. Rejects as `schedule` does.
   */
  call<Name extends keyof Payloads & string>(
    handler: Name,
    payload: Payloads[Name],
    options?: CallOptions,
  ): RunPromise<Scheduled, Name extends keyof Results ? Results[Name] : unknown>
  /** The same for a job whose target the compiler does not know. */
  schedule<Given extends JobFor<Payloads>>(job: AnyJobFor<Payloads, Given>, options?: ScheduleOptions): RunPromise<Scheduled>
  /**
   * Creates or replaces a job. `schedule(job).result()` waits for what its first run returns, and rejects
   * if another definition replaced it before. Rejects with `bad-definition`, `bad-job-id`,
   * `payload-too-large`, `version-conflict`, `not-ready`.
   */
  schedule<Target extends TargetFor<Payloads>>(
    job: JobTo<Payloads, Target>,
    options?: ScheduleOptions,
  ): RunPromise<Scheduled, ResultOf<Results, Target>>
  /** The same for jobs whose targets the compiler does not know. */
  scheduleMany(
    jobs: Iterable<JobFor<Payloads>> | AsyncIterable<JobFor<Payloads>>,
    options?: RejectionOptions,
  ): Promise<ScheduledMany>
  /**
   * Creates or replaces any number of jobs; the iterable is read no faster than they are written. Only an invalid job itself is rejected.
   * Rejects with `unreachable` if the connection breaks. The same jobs may be sent again: an id is scheduled once.
   */
  scheduleMany<const Targets extends readonly TargetFor<Payloads>[]>(
    jobs: JobsTo<Payloads, Targets>,
    options?: RejectionOptions,
  ): Promise<ScheduledMany>
  /** Deletes a job: no further occurrence fires, and its active runs are cancelled. Rejects with `not-found`, `version-conflict`. */
  delete(id: string, options?: Pick<WriteCondition, 'ifMatch'>): Promise<void>
  /** Definition and state; undefined if there is no such job. */
  get(id: string): Promise<JobInfo | undefined>
  /** Jobs in the order of their ids, page by page while they are read. */
  list(filter?: JobFilter): AsyncIterable<JobInfo>
  /** Active runs of a job, then the last 11 ended ones, newest first. Rejects with `not-found`. */
  runs(id: string): Promise<RunInfo[]>
  /** One run, also with the stack of its last error; undefined if there is none, or if it is older than the runs that are kept. */
  run(id: string, runNo: number): Promise<RunInfo | undefined>
  /**
   * Lines that the handler of a run wrote with `run.log`, oldest first, page by page while they are read. With `follow` it also waits for
   * those that come until the run has ended. For a run that is no longer kept, `from` says when it started. Rejects with `not-found`.
   */
  logs(id: string, runNo: number, options?: RunLogOptions): AsyncIterable<RunLine>
  /** Active runs of all jobs, page by page while they are read. */
  activeRuns(filter?: RunFilter & { state?: RunInfo['status'] | undefined }): AsyncIterable<RunInfo>
  /**
   * Resolves with the ended run, whatever its status, some ms after its handler returned. Rejects with RunFailedError if it cannot come: the job
   * was deleted, is INVALID or COMPLETED without it, or the command was refused; with `wait-timeout`; and with the reason of the signal.
   */
  awaitRun(id: string, which: AwaitedRunOf, options?: WaitOptions): Promise<RunInfo>
  /** Ended runs, newest first, page by page while they are read. Rejects with `not-ready` if no process has the role history. */
  history(filter?: HistoryFilter): AsyncIterable<HistoryRunInfo>
  /** Number of ended runs by time and outcome. `bucketMs`: a multiple of 60,000, default an hour. Default range: the last 24 h. */
  historyCounts(filter?: HistoryFilter & { bucketMs?: number | undefined }): Promise<HistoryCounts>
  /** Ended runs by handler: outcomes, and percentiles of duration and lateness. At most 31 days; default: the last 24 h. */
  handlers(range?: { from?: Instant | undefined; to?: Instant | undefined }): Promise<HandlerList>
  /** Why the job fired or did not. Rejects with `not-found`. */
  why(id: string): Promise<JobExplanation>
  /** Starts one run now, outside the schedule. Rejects with `not-found`, `command-refused`. */
  trigger(id: string, options?: CommandOptions & { payload?: unknown }): RunPromise<CommandResult>
  /** No occurrence fires until the job is resumed. Runs that have begun go on. Rejects with `not-found`, `command-refused`. */
  pause(id: string, options?: CommandOptions): Promise<CommandResult>
  /** The job fires again; its `catchUp` decides about occurrences that it missed. Rejects with `not-found`, `command-refused`. */
  resume(id: string, options?: CommandOptions): Promise<CommandResult>
  /** Skips the next occurrence; the schedule goes on with the one after it. `at`: nominal time of the occurrence that you mean; if it is not the next one, the call rejects with `command-refused`. */
  skipNext(id: string, options?: CommandOptions & { at?: Instant | undefined }): Promise<CommandResult>
  /** Ends the runs of a job; it does not fire again until it gets a new definition. `delete` also removes the job. */
  cancel(id: string, options?: CommandOptions): Promise<CommandResult>
  /** Ends one active run. Rejects with `not-found`. */
  cancelRun(id: string, runNo: number, options?: CommandOptions): Promise<CommandResult>
  /** Begins the next attempt of a run in RETRY_WAIT now. Rejects with `not-found`, `command-refused`. */
  retryRun(id: string, runNo: number, options?: CommandOptions): Promise<CommandResult>
  /** Makes a new run of a dead one, with the same payload and target. Rejects with `not-found`, `command-refused`. */
  redrive(id: string, runNo: number, options?: CommandOptions): RunPromise<CommandResult>
  /** Changes many jobs or dead runs as one operation, which goes on in the background. Rejects with `overloaded`. */
  operate(request: OperationRequest, options?: CommandOptions): Promise<Operation>
  /** How many jobs or dead runs an operation would find now. */
  countOperation(request: OperationRequest): Promise<number>
  /** Undefined: there is no such operation. */
  operation(id: string): Promise<Operation | undefined>
  /** Newest first. `active`: only those that have not ended. `limit`: 1 to 1,000, default 100. */
  operations(filter?: { active?: boolean | undefined; limit?: number | undefined }): Promise<Operation[]>
  /** Ends an operation early. Its changes until then stay. Rejects with `not-found`. */
  cancelOperation(id: string): Promise<Operation>
  /** Makes one run for each occurrence from `from` up to, but not including, `to`. Rejects with `not-found`, `command-refused`. */
  backfill(id: string, range: { from: Instant; to: Instant }, options?: CommandOptions): Promise<CommandResult>
  /** How many runs a backfill would make, at most 100,000; nothing is written. Rejects with `not-found`. */
  countBackfill(id: string, range: { from: Instant; to: Instant }): Promise<BackfillCount>
  /** Ends the backfill in progress: it makes no further runs, and those that it has made go on. Rejects with `not-found`, `command-refused`. */
  cancelBackfill(id: string, options?: CommandOptions): Promise<CommandResult>
  /** Dead runs that can be redriven, newest first for each job. */
  deadLetters(filter?: RunFilter): AsyncIterable<RunInfo>
  /** A dead run with its input. Undefined if it cannot be redriven any more. */
  deadLetter(id: string, runNo: number): Promise<DeadLetter | undefined>
  /** The next times of a schedule; nothing is written. `count`: 1 to 1,000, default 10. */
  preview(schedule: Job['schedule'], options?: { from?: Instant | undefined; count?: number | undefined }): Promise<DueTime[]>
  /** The same for jobs whose targets the compiler does not know. */
  plan(jobs: readonly JobFor<Payloads>[], options?: PlanOptions): Promise<Plan>
  /** What these definitions would change; nothing is written. At most 1,000 jobs. */
  plan<const Targets extends readonly TargetFor<Payloads>[]>(
    jobs: JobsTo<Payloads, Targets>,
    options?: PlanOptions,
  ): Promise<Plan>
  /** Number of occurrences in the steps of a range. */
  forecast(
    range?: DueFilter & { from?: Instant | undefined; horizonMs?: number | undefined; buckets?: number | undefined },
  ): Promise<Forecast>
  /** The jobs that will be due in a range, those with the fewest occurrences in it first. `horizonMs`: default one hour. `limit`: 1 to 500, default 100. */
  dueJobs(range: DueFilter & { from: Instant; horizonMs?: number | undefined; limit?: number | undefined }): Promise<DueJobs>
  /** Workers of all pools that run now, with their handlers and load. */
  workers(): Promise<WorkerInfo[]>
  /** Takes no runs until it is resumed; running handlers go on. `worker`: its whole name, `instance` of `workers()`. Resolves with its state; rejects with `not-found`. */
  pauseWorker(worker: string): Promise<WorkerInfo>
  /** The same; it is DRAINED when its handlers have ended. */
  drainWorker(worker: string): Promise<WorkerInfo>
  /** It takes runs again. Rejects with `not-found`. */
  resumeWorker(worker: string): Promise<WorkerInfo>
  /** The concurrency keys in use, those with most waiting runs first. */
  limits(): Promise<LimitInfo[]>
  /** The pools with their workers and runs. */
  pools(): Promise<PoolInfo[]>
  /** Its runs wait until it is resumed; running handlers go on. Rejects with `not-found`. */
  pausePool(pool: string): Promise<PoolInfo>
  /** The same, but its workers still do what was dispatched before. */
  drainPool(pool: string): Promise<PoolInfo>
  /** Its runs are dispatched again. Rejects with `not-found`. */
  resumePool(pool: string): Promise<PoolInfo>
  /** All partitions with their owner, phase, backlog and lateness. */
  partitions(): Promise<PartitionInfo[]>
  /** What happened in each step of the last hour or the last 24 h (default). */
  series(range?: 'hour' | 'day'): Promise<Series>
  /** What the auditors have judged. */
  proof(): Promise<Proof>
  /** The audit trail, newest first: changes of a job, of an actor, of a kind, or of a time from `from` up to and without `to`. Needs the role operator. */
  audit(filter?: {
    actor?: string | undefined
    jobId?: string | undefined
    action?: string | undefined
    from?: Instant | undefined
    to?: Instant | undefined
  }): AsyncIterable<AuditPage['records'][number]>
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
  /** The same for a job whose target the compiler does not know. */
  schedule<Given extends JobFor<Payloads>>(job: AnyJobFor<Payloads, Given>, options?: WriteCondition): Promise<Scheduled>
  /**
   * Creates or replaces a job. With a condition, the owner drops a definition for which it does not hold, and `why` says so. Rejects with
   * DuelogError `bad-definition`, `bad-job-id`, `payload-too-large` or `broker-unavailable`.
   */
  schedule<Target extends TargetFor<Payloads>>(job: JobTo<Payloads, Target>, options?: WriteCondition): Promise<Scheduled>
  /** The same for jobs whose targets the compiler does not know. */
  scheduleMany(
    jobs: Iterable<JobFor<Payloads>> | AsyncIterable<JobFor<Payloads>>,
    options?: RejectionOptions,
  ): Promise<ScheduledMany>
  /**
   * Creates or replaces any number of jobs at the speed of the log; the iterable is read no faster than that. Only an invalid
   * job itself is rejected. Rejects with `broker-unavailable` if the log refuses; the message has the number of durable jobs.
   * The same jobs may be sent again: an id is scheduled once.
   */
  scheduleMany<const Targets extends readonly TargetFor<Payloads>[]>(
    jobs: JobsTo<Payloads, Targets>,
    options?: RejectionOptions,
  ): Promise<ScheduledMany>
  /**
   * Deletes a job: no further occurrence fires, and its active runs are cancelled if their workers receive that in time.
   * Deleting an unknown job is no error. Rejects with `bad-job-id` or `broker-unavailable`.
   */
  delete(id: string): Promise<Written>
  /** Waits for writes in-flight, then closes the connection. Safe to call twice. */
  close(): Promise<void>
}
