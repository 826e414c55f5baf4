// Made by docs/generate.ts from the OpenAPI document: change the schemas in src/server/api/schemas, then run `npm run generate`.
import type { Accepted, AcknowledgeFaultsRequest, AcknowledgedFaults, AuditPage, AwaitedRun, BackfillCount, BackfillRequest, CommandResult, DeadLetter, DeadLetterPage, DueJobs, Forecast, HandlerList, Health, HistoryCounts, HistoryPage, Job, JobDefinition, JobExplanation, JobPage, LimitList, Operation, OperationCount, OperationList, OperationRequest, PartitionList, Plan, PlanRequest, Pool, PoolList, Preview, PreviewRequest, Proof, RunCommandResult, RunDetail, RunList, RunLogPage, RunPage, Series, Session, Settings, SkipRequest, TriggerRequest, Worker, WorkerList, Written } from './answers.ts'

/** Method and path of each operation. `stream`: its answer is read while it comes. */
export const routes = {
  getOpenApi: ['GET', '/openapi.json'],
  putJob: ['PUT', '/v1/jobs/{id}'],
  deleteJob: ['DELETE', '/v1/jobs/{id}'],
  getJob: ['GET', '/v1/jobs/{id}'],
  createJob: ['POST', '/v1/jobs'],
  listJobs: ['GET', '/v1/jobs'],
  explainJob: ['GET', '/v1/jobs/{id}/why'],
  triggerJob: ['POST', '/v1/jobs/{id}/trigger'],
  pauseJob: ['POST', '/v1/jobs/{id}/pause'],
  resumeJob: ['POST', '/v1/jobs/{id}/resume'],
  cancelJob: ['POST', '/v1/jobs/{id}/cancel'],
  skipNext: ['POST', '/v1/jobs/{id}/skip'],
  backfillJob: ['POST', '/v1/jobs/{id}/backfill'],
  countBackfill: ['POST', '/v1/jobs/{id}/backfill/count'],
  cancelBackfill: ['POST', '/v1/jobs/{id}/backfill/cancel'],
  cancelRun: ['POST', '/v1/runs/{jobId}/{runNo}/cancel'],
  retryRun: ['POST', '/v1/runs/{jobId}/{runNo}/retry'],
  redriveRun: ['POST', '/v1/runs/{jobId}/{runNo}/redrive'],
  listActiveRuns: ['GET', '/v1/runs'],
  listRuns: ['GET', '/v1/jobs/{id}/runs'],
  getRun: ['GET', '/v1/runs/{jobId}/{runNo}'],
  awaitRun: ['GET', '/v1/jobs/{id}/result'],
  getRunLogs: ['GET', '/v1/jobs/{id}/runs/{runNo}/logs'],
  listDeadLetters: ['GET', '/v1/dead-letters'],
  getDeadLetter: ['GET', '/v1/dead-letters/{jobId}/{runNo}'],
  createOperation: ['POST', '/v1/operations'],
  listOperations: ['GET', '/v1/operations'],
  countOperation: ['POST', '/v1/operations/count'],
  getOperation: ['GET', '/v1/operations/{id}'],
  cancelOperation: ['POST', '/v1/operations/{id}/cancel'],
  planJobs: ['POST', '/v1/jobs/plan'],
  getForecast: ['GET', '/v1/forecast'],
  listDueJobs: ['GET', '/v1/forecast/jobs'],
  listAudit: ['GET', '/v1/audit'],
  previewSchedule: ['POST', '/v1/schedules/preview'],
  getSettings: ['GET', '/v1/settings'],
  listPartitions: ['GET', '/v1/partitions'],
  getMetrics: ['GET', '/metrics', 'stream'],
  getLiveness: ['GET', '/livez'],
  getReadiness: ['GET', '/readyz'],
  listPools: ['GET', '/v1/pools'],
  listWorkers: ['GET', '/v1/workers'],
  listLimits: ['GET', '/v1/limits'],
  pausePool: ['POST', '/v1/pools/{pool}/pause'],
  pauseWorker: ['POST', '/v1/workers/{worker}/pause'],
  drainPool: ['POST', '/v1/pools/{pool}/drain'],
  drainWorker: ['POST', '/v1/workers/{worker}/drain'],
  resumePool: ['POST', '/v1/pools/{pool}/resume'],
  resumeWorker: ['POST', '/v1/workers/{worker}/resume'],
  getSeries: ['GET', '/v1/series'],
  getProof: ['GET', '/v1/proof'],
  acknowledgeFaults: ['POST', '/v1/proof/acknowledge'],
  listHistory: ['GET', '/v1/history'],
  countHistory: ['GET', '/v1/history/counts'],
  listHandlers: ['GET', '/v1/history/handlers'],
  getSession: ['GET', '/v1/session'],
  listenEvents: ['GET', '/v1/events', 'stream'],
  writeJobs: ['POST', '/v1/jobs/batch', 'stream'],
} as const

/** Headers by what calls name them. */
export const headerNames: Record<string, string> = {
  ifMatch: 'if-match',
  ifNoneMatch: 'if-none-match',
  idempotencyKey: 'idempotency-key',
}

/** What any call may be given. */
export interface Call {
  /** Ends the request. The call rejects with its reason. */
  signal?: AbortSignal | undefined
}

/** A body of lines. It is read as fast as it is sent. */
export type Lines = AsyncIterable<string>

/** A call for each operation of the API: parameters and body in, the JSON of the answer out. */
export interface Api {
  /** This description, as OpenAPI 3.1. */
  getOpenApi(given?: Call): Promise<object>
  /** Create or replace a job. */
  putJob(given: Call & { id: string; /** applied: the answer waits until the owner has applied the change; it is 202 if that takes more than 5 s. ended: the answer waits until the first run of this definition, or of a later one, has ended, and has the run; it is 202 if that takes more than timeoutMs. */ wait?: 'applied' | 'ended'; /** With wait=ended: how long the answer waits. Unit: ms. Allowed: 1 to 45,000. Default: 30,000. */ timeoutMs?: number; ifMatch?: string; ifNoneMatch?: string; body: JobDefinition }): Promise<Written>
  /** Delete a job; its active runs are cancelled. */
  deleteJob(given: Call & { id: string; /** The answer waits until the owner has applied the change. It is 202 if that takes more than 5 s. */ wait?: 'applied'; ifMatch?: string }): Promise<Accepted | undefined>
  /** Definition and state of a job. */
  getJob(given: Call & { id: string; /** true: if the owner of a partition does not answer, the copy of a standby is read, or the part that the owner has restored so far. The header Duelog-Stale then names each such partition and the number of records of the logs that its copy lacks: `3;behind=120`, or `behind=unknown` for an owner that may have been replaced. Such an answer has no ETag. */ stale?: boolean }): Promise<Job>
  /** Create a job with an id from the server. */
  createJob(given: Call & { /** applied: the answer waits until the owner has applied the change; it is 202 if that takes more than 5 s. ended: the answer waits until the first run of this definition, or of a later one, has ended, and has the run; it is 202 if that takes more than timeoutMs. */ wait?: 'applied' | 'ended'; /** With wait=ended: how long the answer waits. Unit: ms. Allowed: 1 to 45,000. Default: 30,000. */ timeoutMs?: number; idempotencyKey?: string; body: JobDefinition }): Promise<Written>
  /** Jobs in the order of their ids. */
  listJobs(given?: Call & { /** Status of the job. */ status?: 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'INVALID'; /** One of the tags of the job. Allowed: 1 to 64 characters. */ tag?: string; /** Name of the handler of the job. Allowed: 1 to 128 characters. */ handler?: string; /** Only jobs whose next occurrence is before this time. ISO 8601 with an offset, or epoch ms. */ dueBefore?: string; /** Only jobs whose id begins with this text. Allowed: 1 to 255 characters. */ idPrefix?: string; /** Only jobs whose id contains this text. Case-sensitive. Allowed: 1 to 255 characters. */ idContains?: string; /** true: only jobs with active runs. */ active?: boolean; /** Allowed: 1 to 1,000. Default: 100. */ limit?: number; /** The cursor of the previous page. */ cursor?: string; /** true: if the owner of a partition does not answer, the copy of a standby is read, or the part that the owner has restored so far. The header Duelog-Stale then names each such partition and the number of records of the logs that its copy lacks: `3;behind=120`, or `behind=unknown` for an owner that may have been replaced. Such an answer has no ETag. */ stale?: boolean }): Promise<JobPage>
  /** Explain why a job fired or did not: the current state, then the last decisions, newest first. */
  explainJob(given: Call & { id: string; /** true: if the owner of a partition does not answer, the copy of a standby is read, or the part that the owner has restored so far. The header Duelog-Stale then names each such partition and the number of records of the logs that its copy lacks: `3;behind=120`, or `behind=unknown` for an owner that may have been replaced. Such an answer has no ETag. */ stale?: boolean }): Promise<JobExplanation>
  /** Start one run now, outside the schedule. */
  triggerJob(given: Call & { id: string; /** The answer waits until the run has ended, and has it; the status is then 200. It is 202 if that takes more than timeoutMs. */ wait?: 'ended'; /** With wait=ended: how long the answer waits. Unit: ms. Allowed: 1 to 45,000. Default: 30,000. */ timeoutMs?: number; idempotencyKey?: string; body?: TriggerRequest }): Promise<RunCommandResult>
  /** Pause a job: no occurrence fires until it is resumed. */
  pauseJob(given: Call & { id: string; idempotencyKey?: string }): Promise<CommandResult>
  /** Resume a paused job; its catchUp decides about occurrences that were due during the pause. */
  resumeJob(given: Call & { id: string; idempotencyKey?: string }): Promise<CommandResult>
  /** Cancel a job: its runs end, and it does not fire again until it gets a new definition. */
  cancelJob(given: Call & { id: string; idempotencyKey?: string }): Promise<CommandResult>
  /** Skip the next occurrence; the schedule goes on with the one after it. */
  skipNext(given: Call & { id: string; idempotencyKey?: string; body?: SkipRequest }): Promise<CommandResult>
  /** Create one run for each occurrence of a past range. */
  backfillJob(given: Call & { id: string; idempotencyKey?: string; body: BackfillRequest }): Promise<CommandResult>
  /** Count the runs that a backfill would create; nothing is written. */
  countBackfill(given: Call & { id: string; body: BackfillRequest }): Promise<BackfillCount>
  /** End the backfill in progress: it makes no further runs, and those that it has made go on. */
  cancelBackfill(given: Call & { id: string; idempotencyKey?: string }): Promise<CommandResult>
  /** Cancel one run; its handler is notified through its AbortSignal. */
  cancelRun(given: Call & { jobId: string; runNo: number; idempotencyKey?: string }): Promise<CommandResult>
  /** Retry a run now that waits for its next attempt. */
  retryRun(given: Call & { jobId: string; runNo: number; idempotencyKey?: string }): Promise<CommandResult>
  /** Redrive a dead run: a new run with the same payload and target. */
  redriveRun(given: Call & { jobId: string; runNo: number; /** The answer waits until the run has ended, and has it; the status is then 200. It is 202 if that takes more than timeoutMs. */ wait?: 'ended'; /** With wait=ended: how long the answer waits. Unit: ms. Allowed: 1 to 45,000. Default: 30,000. */ timeoutMs?: number; idempotencyKey?: string }): Promise<RunCommandResult>
  /** Active runs of all jobs, in the order of their jobs. */
  listActiveRuns(given?: Call & { /** Only runs in this state. */ state?: 'DISPATCHED' | 'RUNNING' | 'RETRY_WAIT' | 'WAITING'; /** One of the tags of the job. Allowed: 1 to 64 characters. */ tag?: string; /** Name of the handler of the job. Allowed: 1 to 128 characters. */ handler?: string; /** Maximum number of jobs, not runs. Allowed: 1 to 1,000. Default: 100. */ limit?: number; /** The cursor of the previous page. */ cursor?: string; /** true: if the owner of a partition does not answer, the copy of a standby is read, or the part that the owner has restored so far. The header Duelog-Stale then names each such partition and the number of records of the logs that its copy lacks: `3;behind=120`, or `behind=unknown` for an owner that may have been replaced. Such an answer has no ETag. */ stale?: boolean }): Promise<RunPage>
  /** Active runs of a job, then its last ended ones, newest first. */
  listRuns(given: Call & { id: string; /** true: if the owner of a partition does not answer, the copy of a standby is read, or the part that the owner has restored so far. The header Duelog-Stale then names each such partition and the number of records of the logs that its copy lacks: `3;behind=120`, or `behind=unknown` for an owner that may have been replaced. Such an answer has no ETag. */ stale?: boolean }): Promise<RunList>
  /** One run. */
  getRun(given: Call & { jobId: string; runNo: number; /** Whether the answer contains the input of the run, of up to 1 MiB. Default: false. */ input?: boolean; /** true: if the owner of a partition does not answer, the copy of a standby is read, or the part that the owner has restored so far. The header Duelog-Stale then names each such partition and the number of records of the logs that its copy lacks: `3;behind=120`, or `behind=unknown` for an owner that may have been replaced. Such an answer has no ETag. */ stale?: boolean }): Promise<RunDetail>
  /** Wait until a run of a job has ended. */
  awaitRun(given: Call & { id: string; /** This run. */ runNo?: number; /** The run that this command made, such as a trigger. Allowed: 1 to 512 characters. */ commandId?: string; /** The first run that ends of the definition with this ETag. A later definition of the job has runs of its own. */ etag?: string; /** How long the answer waits. Unit: ms. Allowed: 1 to 45,000. Default: 30,000. */ timeoutMs?: number }): Promise<AwaitedRun>
  /** Lines that the handler of a run wrote with run.log, in the order of their arrival. */
  getRunLogs(given: Call & { id: string; runNo: number; /** Maximum lines. Allowed: 1 to 1,000. Default: 500. */ limit?: number; /** The cursor of the previous answer. Allowed: 1 to 100 characters. */ cursor?: string; /** Only lines that arrived from then on. ISO 8601 with an offset, or epoch ms. Default: the start of the run. */ from?: string; /** Only lines that arrived before. ISO 8601 with an offset, or epoch ms. Default: a minute after the end of the run. */ to?: string; /** true: if the owner of a partition does not answer, the copy of a standby is read, or the part that the owner has restored so far. The header Duelog-Stale then names each such partition and the number of records of the logs that its copy lacks: `3;behind=120`, or `behind=unknown` for an owner that may have been replaced. Such an answer has no ETag. */ stale?: boolean }): Promise<RunLogPage>
  /** Dead runs that can be redriven, newest first. */
  listDeadLetters(given?: Call & { /** One of the tags of the job. Allowed: 1 to 64 characters. */ tag?: string; /** Name of the handler of the job. Allowed: 1 to 128 characters. */ handler?: string; /** Only dead runs that died at this time or later: a time in ISO 8601 with an offset, such as 2030-01-31T09:00:00Z, or epoch milliseconds Allowed: 1 to 64 characters. */ from?: string; /** Only dead runs that died before this time. Allowed: 1 to 64 characters. */ to?: string; /** Only dead runs whose last error has this type. Allowed: 1 to 255 characters. */ errorType?: string; /** Only dead runs whose last error is of this kind, as GET /v1/dead-letters lists them. Allowed: 1 to 120 characters. */ errorKind?: string; /** Only runs of jobs whose id begins with this. Allowed: 1 to 255 characters. */ idPrefix?: string; /** Maximum number of runs. Allowed: 1 to 1,000. Default: 100. */ limit?: number; /** The cursor of the previous page. */ cursor?: string; /** true: if the owner of a partition does not answer, the copy of a standby is read, or the part that the owner has restored so far. The header Duelog-Stale then names each such partition and the number of records of the logs that its copy lacks: `3;behind=120`, or `behind=unknown` for an owner that may have been replaced. Such an answer has no ETag. */ stale?: boolean }): Promise<DeadLetterPage>
  /** One dead run, with the Execution of its last attempt. */
  getDeadLetter(given: Call & { jobId: string; runNo: number }): Promise<DeadLetter>
  /** Change many jobs or dead runs as one operation, which goes on in the background. */
  createOperation(given: Call & { idempotencyKey?: string; body: OperationRequest }): Promise<Operation>
  /** Operations, newest first. */
  listOperations(given?: Call & { /** true: only operations that have not ended. */ active?: boolean; /** Allowed: 1 to 1,000. Default: 100. */ limit?: number }): Promise<OperationList>
  /** How many jobs or dead runs an operation would find; nothing is changed. */
  countOperation(given: Call & { body: OperationRequest }): Promise<OperationCount>
  /** One operation with its progress. */
  getOperation(given: Call & { id: string }): Promise<Operation>
  /** End an operation early; what it has changed stays changed. */
  cancelOperation(given: Call & { id: string }): Promise<Operation>
  /** Show what writing these definitions would change; nothing is written. */
  planJobs(given: Call & { body: PlanRequest }): Promise<Plan>
  /** Number of occurrences that will be due. */
  getForecast(given?: Call & { /** Start of the range, ISO 8601 with an offset, or epoch ms. Default: now. */ from?: string; /** Allowed: 1 to 315,619,200,000. Default: 3,600,000. */ horizonMs?: number; /** Number of steps of equal length. Allowed: 1 to 1,000. Default: 60. */ buckets?: number; /** Only jobs with this tag. Allowed: 1 to 64 characters. */ tag?: string; /** Only jobs with this handler. Allowed: 1 to 128 characters. */ handler?: string; /** Only jobs of this pool. Allowed: 1 to 64 characters. */ pool?: string; /** Only jobs whose next two occurrences are at least so far apart, and jobs with one occurrence. Allowed: 1 to 315,619,200,000. */ periodMsMin?: number }): Promise<Forecast>
  /** The jobs that will be due in a range. */
  listDueJobs(given: Call & { /** Start of the range, ISO 8601 with an offset, or epoch ms. */ from: string; /** Allowed: 1 to 315,619,200,000. Default: 3,600,000. */ horizonMs?: number; /** Allowed: 1 to 500. Default: 100. */ limit?: number; /** Only jobs with this tag. Allowed: 1 to 64 characters. */ tag?: string; /** Only jobs with this handler. Allowed: 1 to 128 characters. */ handler?: string; /** Only jobs of this pool. Allowed: 1 to 64 characters. */ pool?: string; /** Only jobs whose next two occurrences are at least so far apart, and jobs with one occurrence. Allowed: 1 to 315,619,200,000. */ periodMsMin?: number }): Promise<DueJobs>
  /** Requested changes with their callers, newest first. */
  listAudit(given?: Call & { /** Changes of this job, batches that name it, and changes of many that are among its last 32 commands. The last are left out while no owner answers, if they were by a filter. Allowed: 1 to 255 characters. */ jobId?: string; /** Allowed: 1 to 255 characters. */ actor?: string; /** Allowed: 1 to 64 characters. */ action?: string; /** Only changes at this time or later: ISO 8601 with an offset, or epoch ms. */ from?: string; /** Only changes before this time. */ to?: string; /** Allowed: 1 to 1,000. Default: 100. */ limit?: number; /** The cursor of the previous page. */ cursor?: string }): Promise<AuditPage>
  /** Next times of a schedule. */
  previewSchedule(given: Call & { body: PreviewRequest }): Promise<Preview>
  /** Settings of the answering process, without secrets. */
  getSettings(given?: Call): Promise<Settings>
  /** Partitions with their owners, phases and lag. */
  listPartitions(given?: Call): Promise<PartitionList>
  /** Metrics for Prometheus. */
  getMetrics(given?: Call): Promise<ReadableStream<Uint8Array>>
  /** Whether the process is live. */
  getLiveness(given?: Call): Promise<Health>
  /** Whether the process is ready for requests. */
  getReadiness(given?: Call): Promise<Health>
  /** Pools with their workers, their runs, and whether they are paused. */
  listPools(given?: Call): Promise<PoolList>
  /** Workers of all pools, and their runs. */
  listWorkers(given?: Call): Promise<WorkerList>
  /** Concurrency keys and rate limits in use, those with most waiting runs first. */
  listLimits(given?: Call): Promise<LimitList>
  /** Pause a pool: its runs wait. */
  pausePool(given: Call & { pool: string }): Promise<Pool>
  /** Pause a worker: it takes no runs. */
  pauseWorker(given: Call & { worker: string }): Promise<Worker>
  /** Drain a pool: what was dispatched is done, and further runs wait. */
  drainPool(given: Call & { pool: string }): Promise<Pool>
  /** Drain a worker: it takes no runs, and is DRAINED when its handlers have ended. */
  drainWorker(given: Call & { worker: string }): Promise<Worker>
  /** Resume a pool: the runs that wait are dispatched. */
  resumePool(given: Call & { pool: string }): Promise<Pool>
  /** Resume a worker: it takes runs again. */
  resumeWorker(given: Call & { worker: string }): Promise<Worker>
  /** What happened in the last hour or the last 24 h, for charts. */
  getSeries(given?: Call & { /** Default: day. */ range?: 'hour' | 'day' }): Promise<Series>
  /** Results of the auditors: how far they have judged, and the faults that they found. */
  getProof(given?: Call): Promise<Proof>
  /** Acknowledge faults that the auditors found, so that the alert ends. */
  acknowledgeFaults(given: Call & { body: AcknowledgeFaultsRequest }): Promise<AcknowledgedFaults>
  /** Ended runs, newest first. */
  listHistory(given?: Call & { /** Only runs that ended at this time or later: ISO 8601 with an offset, or epoch ms. */ from?: string; /** Only runs that ended before this time: ISO 8601 with an offset, or epoch ms. */ to?: string; /** Only runs of this job. Allowed: 1 to 255 characters. */ jobId?: string; /** Only runs of jobs whose id begins with this. Allowed: 1 to 255 characters. */ idPrefix?: string; /** Only runs whose job had this tag when they ended. Allowed: 1 to 64 characters. */ tag?: string; /** Only runs with this handler. Allowed: 1 to 128 characters. */ handler?: string; /** Only runs of this pool. Allowed: 1 to 64 characters. */ pool?: string; /** Only runs with this outcome: SUCCEEDED, DEAD, EXPIRED, CANCELLED, DISPATCHED or SKIPPED. Allowed: 1 to 64 characters. */ outcome?: string; /** Only runs whose last error has this type. Allowed: 1 to 255 characters. */ errorType?: string; /** Only runs whose last error message contains this. ASCII letters match in either case. For viewers, filters of errors match only runs whose texts hold no secrets. Allowed: 1 to 255 characters. */ errorText?: string; /** Only runs that took at least this long, from the start of the last attempt to the end of the run. Unit: ms. */ minDurationMs?: number; /** Only runs that took at most this long, from the start of the last attempt to the end of the run. Unit: ms. */ maxDurationMs?: number; /** Allowed: 1 to 1,000. Default: 100. */ limit?: number; /** The cursor of the previous page, with the same filter. */ cursor?: string }): Promise<HistoryPage>
  /** Number of ended runs by time and outcome. */
  countHistory(given?: Call & { /** Default: 24 h before `to`. */ from?: string; /** Default: now. */ to?: string; /** Only runs of this job. Allowed: 1 to 255 characters. */ jobId?: string; /** Only runs of jobs whose id begins with this. Allowed: 1 to 255 characters. */ idPrefix?: string; /** Only runs whose job had this tag when they ended. Allowed: 1 to 64 characters. */ tag?: string; /** Only runs with this handler. Allowed: 1 to 128 characters. */ handler?: string; /** Only runs of this pool. Allowed: 1 to 64 characters. */ pool?: string; /** Only runs with this outcome: SUCCEEDED, DEAD, EXPIRED, CANCELLED, DISPATCHED or SKIPPED. Allowed: 1 to 64 characters. */ outcome?: string; /** Only runs whose last error has this type. Allowed: 1 to 255 characters. */ errorType?: string; /** Only runs whose last error message contains this. ASCII letters match in either case. For viewers, filters of errors match only runs whose texts hold no secrets. Allowed: 1 to 255 characters. */ errorText?: string; /** Only runs that took at least this long, from the start of the last attempt to the end of the run. Unit: ms. */ minDurationMs?: number; /** Only runs that took at most this long, from the start of the last attempt to the end of the run. Unit: ms. */ maxDurationMs?: number; /** Length of a bucket, a multiple of a minute. Unit: ms. Allowed: 60,000 to 31,622,400,000. Default: 3,600,000. */ bucketMs?: number }): Promise<HistoryCounts>
  /** Ended runs by handler: how many, how many failed, how long they took, how late they started. */
  listHandlers(given?: Call & { /** Default: 24 h before `to`. */ from?: string; /** Default: now. */ to?: string }): Promise<HandlerList>
  /** Role and name of the caller. */
  getSession(given?: Call): Promise<Session>
  /** State of the system, as server-sent events. */
  listenEvents(given?: Call): Promise<ReadableStream<Uint8Array>>
  /** Create or replace many jobs. */
  writeJobs(given: Call & { /** The answer waits until the owners have applied the definitions, and ends with one more line: {"applied": true}, or false with a detail if that takes more than 5 s. Of the first 200 jobs, it lists those that became INVALID: {"applied": true, "invalid": [{"id": …, "reason": …}]}. */ wait?: 'applied'; body: Lines }): Promise<ReadableStream<Uint8Array>>
}
