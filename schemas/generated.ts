// Made by schemas/generate.ts from schemas/*.avsc: change those, then run `npm run generate`.

/** Who asked the API for a change, when, and what came of it. It holds no payload, header or token. Key: job id, or none where it is about many. */
export interface AuditEvent {
  /** When it was answered, by the clock of the API. Unit: epoch ms. */
  at: number
  /** Name of the token, or its role where it has none; the subject of a JWT; `local` without authentication. */
  actor: string
  /** Role of the actor; null without authentication. Default: null. */
  role: string | null
  /** What was asked for, such as PUT, DELETE or PAUSE. */
  action: string
  /** Id of the job; null where it is about many. Default: null. */
  jobId: string | null
  /** Number of the run. Default: null. */
  runNo: number | null
  /** DONE, or the code of the error. */
  outcome: string
  /** HTTP status of the answer. */
  status: number
  /** Place of the definition that was written, `<partition>.<offset>`. Default: null. */
  version: string | null
  /** Of a change of many: how many jobs or runs it reached. Default: null. */
  done: number | null
  /** Of a change of many: how many it did not reach. Default: null. */
  refused: number | null
  /** Names the request in the log of the server. Default: "". */
  requestId: string
  /** Network address that the request came from. Default: "". */
  address: string
  /** name@host:pid:boot of the API process. Default: "". */
  instance: string
}

/** AuditEvent as a writer may give it: fields with a default may be left out. */
export interface AuditEventInput {
  at: number
  actor: string
  role?: string | null | undefined
  action: string
  jobId?: string | null | undefined
  runNo?: number | null | undefined
  outcome: string
  status: number
  version?: string | null | undefined
  done?: number | null | undefined
  refused?: number | null | undefined
  requestId?: string | undefined
  address?: string | undefined
  instance?: string | undefined
}

/** AttemptError */
export interface AttemptError {
  /** Number of the attempt. */
  attempt: number
  /** When it ended. Unit: epoch ms. */
  at: number
  /** Who ran it. Default: null. */
  worker: string | null
  /** Name of the error's class, or a code. */
  type: string
  /** At most 1,000 characters. */
  message: string
}

/** AttemptError as a writer may give it: fields with a default may be left out. */
export interface AttemptErrorInput {
  attempt: number
  at: number
  worker?: string | null | undefined
  type: string
  message: string
}

/** A run that used up its attempts, or failed with an error that is not retried. Key: job id. */
export interface DeadLetter {
  /** The last attempt's Execution in the Confluent wire format. */
  execution: Buffer
  /** Id of the job. */
  jobId: string
  /** Number of the run. */
  runNo: number
  /** Attempts made. */
  attempts: number
  /** When the owner decided. Unit: epoch ms. */
  deadAt: number
  /** The last five failed attempts. Default: []. */
  errors: AttemptError[]
}

/** DeadLetter as a writer may give it: fields with a default may be left out. */
export interface DeadLetterInput {
  execution: Buffer
  jobId: string
  runNo: number
  attempts: number
  deadAt: number
  errors?: AttemptErrorInput[] | undefined
}

export type ExecutionEventType = 'STARTED' | 'HEARTBEAT' | 'SUCCEEDED' | 'FAILED' | 'RELEASED' | 'RETRY_DUE'

/** RunError */
export interface RunError {
  /** Name of the error's class, or a code. */
  type: string
  /** What it says. */
  message: string
  /** Where it was thrown; not kept. Default: null. */
  stack: string | null
  /** False dead-letters the run at once. Default: true. */
  retryable: boolean
  /** The handler's own delay before the next attempt; it takes the place of the backoff. Unit: ms. Default: null. */
  retryAfterMs: number | null
}

/** RunError as a writer may give it: fields with a default may be left out. */
export interface RunErrorInput {
  type: string
  message: string
  stack?: string | null | undefined
  retryable?: boolean | undefined
  retryAfterMs?: number | null | undefined
}

/** What a worker or the retry forwarder reports to the owner of the job's partition. Key: job id; partition: that of the execution. */
export interface ExecutionEvent {
  /** STARTED: accepted and running. HEARTBEAT: alive. SUCCEEDED, FAILED: the attempt ended. RELEASED: the worker gives an attempt back unfinished. RETRY_DUE: a delay topic's record has come of age. */
  type: ExecutionEventType
  /** As in the execution. */
  jobId: string
  /** As in the execution. */
  runNo: number
  /** As in the execution; for RETRY_DUE the attempt to be made. */
  attempt: number
  /** As in the execution. */
  specOffset: number
  /** The reporter's clock. Unit: epoch ms. */
  at: number
  /** name@host:pid:boot of the reporter. Default: "". */
  worker: string
  /** When the handler was started. Set on STARTED, SUCCEEDED and FAILED, because a quick run sends only its last event. Unit: epoch ms. Default: null. */
  startedAt: number | null
  /** With SUCCEEDED: what the handler returned, as JSON. A larger one is left out, and the run has succeeded all the same. Default: null. */
  result: Buffer | null
  /** With FAILED: why. Default: null. */
  error: RunError | null
  /** With HEARTBEAT: share that is done. Default: null. */
  progress: number | null
  /** With HEARTBEAT: what the handler says of its progress. Default: null. */
  message: string | null
}

/** ExecutionEvent as a writer may give it: fields with a default may be left out. */
export interface ExecutionEventInput {
  type: ExecutionEventType
  jobId: string
  runNo: number
  attempt: number
  specOffset: number
  at: number
  worker?: string | undefined
  startedAt?: number | null | undefined
  result?: Buffer | null | undefined
  error?: RunErrorInput | null | undefined
  progress?: number | null | undefined
  message?: string | null | undefined
}

export type Trigger = 'SCHEDULE' | 'MANUAL' | 'REDRIVE' | 'BACKFILL' | 'FOLLOW_UP'

export type Priority = 'HIGH' | 'NORMAL' | 'LOW'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** HttpTarget */
export interface HttpTarget {
  /** Where the request goes. User and password have no place in it; use headers. */
  url: string
  /** Method of the request. Default: "POST". */
  method: HttpMethod
  /** Headers of the request, besides those of the definition and our own. Default: {}. */
  headers: Record<string, string>
}

/** HttpTarget as a writer may give it: fields with a default may be left out. */
export interface HttpTargetInput {
  url: string
  method?: HttpMethod | undefined
  headers?: Record<string, string> | undefined
}

/** TopicTarget */
export interface TopicTarget {
  /** Name of the topic; it must be allowed by DUELOG_TARGET_TOPICS and exist. */
  name: string
  /** Key of the record. Without it the job id. Default: null. */
  key: Buffer | null
  /** Partition the record goes to. Without it the one that Kafka's default partitioner (murmur2) chooses for the key. Default: null. */
  partition: number | null
}

/** TopicTarget as a writer may give it: fields with a default may be left out. */
export interface TopicTargetInput {
  name: string
  key?: Buffer | null | undefined
  partition?: number | null | undefined
}

/** One attempt of one run, dispatched to a pool of workers. Key: job id. jobId, runNo and life are the run's identity, attempt its fencing token. */
export interface Execution {
  /** Id of the job. */
  jobId: string
  /** Number of the run, from 1, gap-free for each job. */
  runNo: number
  /** Number of the attempt, from 1. */
  attempt: number
  /** Tells the lives of a job apart that was deleted and defined anew, since run numbers begin anew with each. jobId/runNo@life is the run's identity, jobId/runNo where it is empty. Default: "". */
  life: string
  /** Offset in jobs of the definition that this run was made from; events must echo it. */
  specOffset: number
  /** Name of the handler. */
  handler: string
  /** Nominal time of the occurrence. Unit: epoch ms. */
  scheduledFor: number
  /** When this attempt must start: the nominal time, or the end of the backoff. A worker holds the record until then. Unit: epoch ms. */
  dueAt: number
  /** When the owner decided to dispatch. Unit: epoch ms. */
  dispatchedAt: number
  /** What made the run. Default: "SCHEDULE". */
  trigger: Trigger
  /** As in the definition. Default: null. */
  payload: Buffer | null
  /** As in the definition. Default: null. */
  contentType: string | null
  /** As in the definition. Default: {}. */
  headers: Record<string, Buffer>
  /** As in the definition. */
  pool: string
  /** As in the definition. Default: "NORMAL". */
  priority: Priority
  /** As in the definition. Unit: ms. */
  attemptTimeoutMs: number
  /** As in the definition. Unit: ms. */
  leaseMs: number
  /** A worker drops the attempt when it could not start by then; the owner records it as EXPIRED. Unit: epoch ms. */
  startDeadlineAt: number
  /** As in the definition. Set: the execution travels on worker-control, and only the worker of this name or host runs it. Default: null. */
  pinTo: string | null
  /** As trackRuns in the definition. False: the worker sends no events; the record's offset is done when its handler has settled, failed or not. Default: true. */
  tracked: boolean
  /** With an http target: the request that the handler http makes. Default: null. */
  httpTarget: HttpTarget | null
  /** Only in a snapshot: the topic that the owner itself writes to. Default: null. */
  topicTarget: TopicTarget | null
}

/** Execution as a writer may give it: fields with a default may be left out. */
export interface ExecutionInput {
  jobId: string
  runNo: number
  attempt: number
  life?: string | undefined
  specOffset: number
  handler: string
  scheduledFor: number
  dueAt: number
  dispatchedAt: number
  trigger?: Trigger | undefined
  payload?: Buffer | null | undefined
  contentType?: string | null | undefined
  headers?: Record<string, Buffer> | undefined
  pool: string
  priority?: Priority | undefined
  attemptTimeoutMs: number
  leaseMs: number
  startDeadlineAt: number
  pinTo?: string | null | undefined
  tracked?: boolean | undefined
  httpTarget?: HttpTargetInput | null | undefined
  topicTarget?: TopicTargetInput | null | undefined
}

export type JobCommandType = 'TRIGGER' | 'PAUSE' | 'RESUME' | 'CANCEL' | 'CANCEL_RUN' | 'REDRIVE' | 'BACKFILL'

/** What an operator asks of one job. Key: job id. A command that is refused says why at /v1/jobs/{id}/why, and to the reply topic that it names. */
export interface JobCommand {
  /** TRIGGER: one run now, besides the schedule. PAUSE: no occurrence fires. RESUME: fire again; what fell due meanwhile follows catchUp. CANCEL: ends all runs and the job. CANCEL_RUN: ends one run. REDRIVE: makes a dead run again, as a new run. BACKFILL: one run for each occurrence of a past range. */
  type: JobCommandType
  /** Chosen by the sender. A command with the commandId of one of the last 32 commands of the job, or of an active run or the last one, does nothing, whatever became of the first. */
  commandId: string
  /** The sender's clock. Unit: epoch ms. */
  at: number
  /** With TRIGGER: takes the place of the definition's payload in this run. Default: null. */
  payload: Buffer | null
  /** With TRIGGER: what the run is said to be made by, MANUAL or FOLLOW_UP. What the schedule makes, or another command, is not for a TRIGGER to say; it is refused. Default: "MANUAL". */
  trigger: Trigger
  /** With CANCEL_RUN and REDRIVE: which run. Default: null. */
  runNo: number | null
  /** With BACKFILL: first nominal time, inclusive. Unit: epoch ms. Default: null. */
  from: number | null
  /** With BACKFILL: end of the range, exclusive; at most the present. Unit: epoch ms. Default: null. */
  to: number | null
  /** With FOLLOW_UP: how many runs led to this one, each by onSuccess or onFailure of the one before. Default: 0. */
  chainDepth: number
  /** With FOLLOW_UP: how many runs may still follow from this one, those that follow from its followers included. Default: 5000. */
  chainLeft: number
  /** Who asked. Default: null. */
  actor: string | null
}

/** JobCommand as a writer may give it: fields with a default may be left out. */
export interface JobCommandInput {
  type: JobCommandType
  commandId: string
  at: number
  payload?: Buffer | null | undefined
  trigger?: Trigger | undefined
  runNo?: number | null | undefined
  from?: number | null | undefined
  to?: number | null | undefined
  chainDepth?: number | undefined
  chainLeft?: number | undefined
  actor?: string | null | undefined
}

export type IntervalFrom = 'START' | 'END'

export type DstGap = 'NEXT_VALID' | 'SKIP' | 'SHIFT'

export type DstOverlap = 'FIRST' | 'LAST' | 'BOTH'

/** Schedule */
export interface Schedule {
  /** One run at this instant. An instant in the past is due at once. Unit: epoch ms. Default: null. */
  at: number | null
  /** One run so long after the broker appended the definition, but not before startAt. Unit: ms. Default: null. */
  delayMs: number | null
  /** A run each so many milliseconds, counted from the anchor. Unit: ms. Default: null. */
  everyMs: number | null
  /** With everyMs: an instant that the runs are aligned to. Without it the broker's append time of the definition; the first run is one interval later. Unit: epoch ms. Default: null. */
  anchor: number | null
  /** With everyMs: START counts from the last nominal time, END from the end of the last run. Default: "START". */
  from: IntervalFrom
  /** A cron expression of 5 fields, or of 6 with seconds first; names, lists, ranges, steps, ?, L, W, # and @daily and its kin. Default: null. */
  cron: string | null
  /** With cron and rrule: the IANA time zone in which they are read. Default: "UTC". */
  timezone: string
  /** A recurrence rule of RFC 5545, such as FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1. INTERVAL is at most 100,000, COUNT at most 10,000; beyond, use UNTIL or maxRuns. Its first time must be found within 100,000 steps, each of which is a day that is looked at. Default: null. */
  rrule: string | null
  /** With rrule: where the rule begins, in whole seconds; its time of day and its day are those that the rule does not name itself. It is an occurrence only if the rule matches it. Without it startAt, rounded up to a second, else the broker's append time of the definition, rounded down. Unit: epoch ms. Default: null. */
  dtstart: number | null
  /** With rrule: instants, in whole seconds, at which it does not come true. COUNT counts them all the same. Unit: epoch ms. Default: []. */
  exdates: number[]
  /** With cron and rrule: what becomes of a wall-clock time that daylight saving leaves out. NEXT_VALID: it is due once at the first instant after the gap; SKIP: it is left out; SHIFT: it is due as long after the gap begins as it would have been. Default: "NEXT_VALID". */
  dstGap: DstGap
  /** With cron and rrule: at which of its two instants a wall-clock time that comes twice is due. Default: "FIRST". */
  dstOverlap: DstOverlap
}

/** Schedule as a writer may give it: fields with a default may be left out. */
export interface ScheduleInput {
  at?: number | null | undefined
  delayMs?: number | null | undefined
  everyMs?: number | null | undefined
  anchor?: number | null | undefined
  from?: IntervalFrom | undefined
  cron?: string | null | undefined
  timezone?: string | undefined
  rrule?: string | null | undefined
  dtstart?: number | null | undefined
  exdates?: number[] | undefined
  dstGap?: DstGap | undefined
  dstOverlap?: DstOverlap | undefined
}

/** Target */
export interface Target {
  /** Name of the handler that a worker registered. Default: null. */
  handler: string | null
  /** The owner writes payload and headers to this topic when the job is due, exactly once and with no worker; never before its time. While the topic is missing or not allowed the job is INVALID; that is looked at again after 5 s, then less and less often, and at least every 10 min. Default: null. */
  topic: TopicTarget | null
  /** A worker of the pool sends the payload in a request, at least once (built-in handler http). Default: null. */
  http: HttpTarget | null
  /** With handler and http: pool of workers that serve the run; each pool has its own executions topics. Default: "default". */
  pool: string
}

/** Target as a writer may give it: fields with a default may be left out. */
export interface TargetInput {
  handler?: string | null | undefined
  topic?: TopicTargetInput | null | undefined
  http?: HttpTargetInput | null | undefined
  pool?: string | undefined
}

/** FixedBackoff */
export interface FixedBackoff {
  /** The delay. Unit: ms. */
  delayMs: number
}

/** FixedBackoff as a writer may give it: fields with a default may be left out. */
export interface FixedBackoffInput {
  delayMs: number
}

/** LinearBackoff */
export interface LinearBackoff {
  /** One step. Unit: ms. */
  stepMs: number
}

/** LinearBackoff as a writer may give it: fields with a default may be left out. */
export interface LinearBackoffInput {
  stepMs: number
}

/** ExponentialBackoff */
export interface ExponentialBackoff {
  /** Delay of the first retry. Unit: ms. */
  baseMs: number
  /** Growth from one retry to the next. Default: 2. */
  factor: number
  /** Upper bound of the delay. Unit: ms. Default: 3600000. */
  maxMs: number
}

/** ExponentialBackoff as a writer may give it: fields with a default may be left out. */
export interface ExponentialBackoffInput {
  baseMs: number
  factor?: number | undefined
  maxMs?: number | undefined
}

/** Backoff */
export interface Backoff {
  /** One delay for each retry; the last repeats. Empty: not set. Unit: ms. Default: []. */
  list: number[]
  /** The same delay each time. Default: null. */
  fixed: FixedBackoff | null
  /** The n-th retry waits n steps. Default: null. */
  linear: LinearBackoff | null
  /** The n-th retry waits base × factor^(n−1), at most maxMs. Default: null. */
  exponential: ExponentialBackoff | null
}

/** Backoff as a writer may give it: fields with a default may be left out. */
export interface BackoffInput {
  list?: number[] | undefined
  fixed?: FixedBackoffInput | null | undefined
  linear?: LinearBackoffInput | null | undefined
  exponential?: ExponentialBackoffInput | null | undefined
}

/** Retry */
export interface Retry {
  /** Attempts of one run, the first included; then it is dead-lettered. Default: 5. */
  maxAttempts: number
  /** Delay before the next attempt. Exactly one of its fields is set. Default: {"list":[1000,5000,30000,120000,600000],"fixed":null,"linear":null,"exponential":null}. */
  backoff: Backoff
  /** A run is given up instead of retried when its next attempt would be due so long after its nominal time. Unit: ms. Default: null. */
  maxAgeMs: number | null
  /** Share of the delay that is spread, chosen from the hash of job id, run and attempt, so that a replay chooses the same. Default: 0. */
  jitter: number
  /** Error types that are dead-lettered at once. Default: []. */
  nonRetryable: string[]
}

/** Retry as a writer may give it: fields with a default may be left out. */
export interface RetryInput {
  maxAttempts?: number | undefined
  backoff?: BackoffInput | undefined
  maxAgeMs?: number | null | undefined
  jitter?: number | undefined
  nonRetryable?: string[] | undefined
}

export type CatchUp = 'SKIP' | 'LATEST' | 'ALL'

export type Overlap = 'ALLOW' | 'SKIP' | 'QUEUE_ONE' | 'CANCEL_PREVIOUS'

/** RateLimit */
export interface RateLimit {
  /** What the limit is for. At most 256 bytes, no control characters. */
  key: string
  /** The most attempts of the key that are given a start in any perMs. A further one is WAITING until its time; one whose time would be after its start deadline expires. */
  limit: number
  /** Length of the window, wherever it begins. Unit: ms. */
  perMs: number
}

/** RateLimit as a writer may give it: fields with a default may be left out. */
export interface RateLimitInput {
  key: string
  limit: number
  perMs: number
}

/** What a job is: when it is due, what runs, and what happens when that fails. The record's key is the job id; a null value deletes the job. */
export interface JobDefinition {
  /** When the job is due. Exactly one of at, delayMs, everyMs, cron and rrule is set. */
  schedule: Schedule
  /** Each run is due later than its nominal time by up to so much, and never as late as the next nominal time. How much is chosen from the hash of job id and nominal time, so that a replay chooses the same. scheduledFor stays nominal. Unit: ms. Default: 0. */
  jitterMs: number
  /** What runs. Exactly one of handler, topic and http is set. */
  target: Target
  /** Bytes handed to the handler as they are. Default: null. */
  payload: Buffer | null
  /** Media type of the payload. application/json is parsed for the handler. Default: null. */
  contentType: string | null
  /** Headers handed to the handler as they are. Default: {}. */
  headers: Record<string, Buffer>
  /** Which executions topic of the pool carries the run; a full worker reads higher ones first. Default: "NORMAL". */
  priority: Priority
  /** Only the worker of this name runs it, or one on the host of this name; while there is none, the run waits until its start deadline and expires. One that comes is told of it after as long as it was away, at most two minutes. Default: null. */
  pinTo: string | null
  /** False, for floods of cheap runs: a run has left Duelog once it is handed to the workers. Nothing is heard of it again, so it has no retries, no lease and no end that anything could follow; it stands as DISPATCHED. A worker runs it at least once: again if it dies before the handler has settled. Default: true. */
  trackRuns: boolean
  /** What happens when an attempt fails. Default: {"maxAttempts":5,"backoff":{"list":[1000,5000,30000,120000,600000],"fixed":null,"linear":null,"exponential":null},"maxAgeMs":null,"jitter":0,"nonRetryable":[]}. */
  retry: Retry
  /** Longest time of one attempt; then its signal is aborted and it counts as failed. Unit: ms. Default: 300000. */
  attemptTimeoutMs: number
  /** A running attempt that is silent for so long is lost and given to another worker. Unit: ms. Default: 30000. */
  leaseMs: number
  /** A run that no worker started so long after it was due, or dispatched if that was later, has expired; at the latest ten minutes before its executions topic may lose it, but not in the first hour (retention.ms, seven days unless you set it otherwise). Unit: ms. Default: 86400000. */
  startDeadlineMs: number
  /** What happens to occurrences that were missed by more than misfireThresholdMs: none of them runs, only the latest, or all up to catchUpMax. Default: "LATEST". */
  catchUp: CatchUp
  /** With catchUp ALL: the most missed occurrences that run; older ones are skipped and counted. Default: 100. */
  catchUpMax: number
  /** An occurrence fired later than this is a misfire. Unit: ms. Default: 1000. */
  misfireThresholdMs: number
  /** What happens when an occurrence is due while an earlier run is still active: both run; it is skipped; it waits, the first of those that fall due meanwhile, and runs when the other has ended; or the other is cancelled. Default: "ALLOW". */
  overlap: Overlap
  /** The most active runs of the job, whatever made them; one that waits for a slot or for a start of its rateLimit is active. A TRIGGER, a REDRIVE or a follow-up beyond it is refused and shown at /why. With overlap ALLOW a further occurrence is skipped and counted; with catchUp ALL it waits until one ends. Default: 16. */
  maxConcurrentRuns: number
  /** Jobs with the same key share concurrencyLimit. Exact among the jobs of one partition: give their ids one {tag}. At most 256 bytes, no control characters; for handlers and HTTP. Default: null. */
  concurrencyKey: string | null
  /** With concurrencyKey: the most runs of the key at once, dispatched and not ended. A further one is WAITING, and goes by priority, then by its due time. Default: 1. */
  concurrencyLimit: number
  /** Jobs with the same rateLimit.key share a rate of starts. Exact among the jobs of one partition: give their ids one {tag}. Default: null. */
  rateLimit: RateLimit | null
  /** No occurrence is due before it. Unit: epoch ms. Default: null. */
  startAt: number | null
  /** No occurrence is due after it; then the job is COMPLETED. Unit: epoch ms. Default: null. */
  endAt: number | null
  /** End of validity, exclusive: from this instant on no occurrence fires, also none that was due before, a run that has not started has expired, and TRIGGER, REDRIVE and BACKFILL are refused. Unit: epoch ms. Default: null. */
  expireAt: number | null
  /** Scheduled runs after which the job is COMPLETED. Default: null. */
  maxRuns: number | null
  /** True defines the job without letting it fire until it is resumed. Default: false. */
  paused: boolean
  /** Version token of the writer. A definition with a lower one than that in force is dropped; without one it is taken. Default: null. */
  version: number | null
  /** A definition of this job with the same key as the one in force, appended within dedupWindowMs of it, is acknowledged and dropped. Default: null. */
  dedupKey: string | null
  /** With dedupKey: how long. Unit: ms. Default: 0. */
  dedupWindowMs: number
  /** Ids of jobs that are triggered when a run of this job has succeeded, other than its own. From one run at most 5,000 follow, over at most 32 generations; what is beyond is not triggered, and /why of the job that would have says so. Default: []. */
  onSuccess: string[]
  /** Ids of jobs that are triggered when a run of this job is dead or has expired; as with onSuccess. Default: []. */
  onFailure: string[]
  /** Words to find the job by. Default: []. */
  tags: string[]
  /** A completed job whose last run succeeded is deleted after so long. Unit: ms. Default: 3600000. */
  retainCompletedMs: number
  /** A completed job whose last run failed, expired or is dead is deleted after so long. Unit: ms. Default: 259200000. */
  retainFailedMs: number
}

/** JobDefinition as a writer may give it: fields with a default may be left out. */
export interface JobDefinitionInput {
  schedule: ScheduleInput
  jitterMs?: number | undefined
  target: TargetInput
  payload?: Buffer | null | undefined
  contentType?: string | null | undefined
  headers?: Record<string, Buffer> | undefined
  priority?: Priority | undefined
  pinTo?: string | null | undefined
  trackRuns?: boolean | undefined
  retry?: RetryInput | undefined
  attemptTimeoutMs?: number | undefined
  leaseMs?: number | undefined
  startDeadlineMs?: number | undefined
  catchUp?: CatchUp | undefined
  catchUpMax?: number | undefined
  misfireThresholdMs?: number | undefined
  overlap?: Overlap | undefined
  maxConcurrentRuns?: number | undefined
  concurrencyKey?: string | null | undefined
  concurrencyLimit?: number | undefined
  rateLimit?: RateLimitInput | null | undefined
  startAt?: number | null | undefined
  endAt?: number | null | undefined
  expireAt?: number | null | undefined
  maxRuns?: number | null | undefined
  paused?: boolean | undefined
  version?: number | null | undefined
  dedupKey?: string | null | undefined
  dedupWindowMs?: number | undefined
  onSuccess?: string[] | undefined
  onFailure?: string[] | undefined
  tags?: string[] | undefined
  retainCompletedMs?: number | undefined
  retainFailedMs?: number | undefined
}

export type JobStatus = 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'INVALID'

/** DecidedTime */
export interface DecidedTime {
  /** The nominal time. Unit: epoch ms. */
  at: number
  /** Local time minus UTC then, by the rules it was decided under. Unit: ms. */
  offsetMs: number
}

/** DecidedTime as a writer may give it: fields with a default may be left out. */
export interface DecidedTimeInput {
  at: number
  offsetMs: number
}

/** Backfill */
export interface Backfill {
  /** The command. */
  commandId: string
  /** Nominal time of its next run. Unit: epoch ms. */
  nextAt: number
  /** End of the range, exclusive. Unit: epoch ms. */
  to: number
}

/** Backfill as a writer may give it: fields with a default may be left out. */
export interface BackfillInput {
  commandId: string
  nextAt: number
  to: number
}

export type RefusalKind = 'SKIPPED' | 'QUEUED' | 'WAITING' | 'EXPIRED' | 'CANCELLED' | 'DROPPED' | 'DEAD'

/** Refusal */
export interface Refusal {
  /** When it was decided. Unit: epoch ms. */
  at: number
  /** SKIPPED, QUEUED and WAITING: an occurrence. EXPIRED, CANCELLED and DEAD: a run. DROPPED: a definition or command. */
  what: RefusalKind
  /** A stable word, such as overlap or catch-up. */
  reason: string
  /** The occurrence, or the first of them. Unit: epoch ms. Default: null. */
  scheduledFor: number | null
  /** The run. Default: null. */
  runNo: number | null
  /** How many in a row, for the same reason. Default: 1. */
  count: number
  /** With DROPPED: the command, unless it was a follow-up. Default: null. */
  commandId: string | null
}

/** Refusal as a writer may give it: fields with a default may be left out. */
export interface RefusalInput {
  at: number
  what: RefusalKind
  reason: string
  scheduledFor?: number | null | undefined
  runNo?: number | null | undefined
  count?: number | undefined
  commandId?: string | null | undefined
}

export type RunStatus = 'DISPATCHED' | 'RUNNING' | 'RETRY_WAIT' | 'SUCCEEDED' | 'FAILED' | 'EXPIRED' | 'CANCELLED' | 'SKIPPED' | 'DEAD' | 'WAITING'

export type WaitReason = 'SLOT' | 'RATE'

/** RunLimits */
export interface RunLimits {
  /** The key whose slot it takes. Default: null. */
  concurrencyKey: string | null
  /** Slots of the key; while the definition has the same key, that of the definition counts. Default: 1. */
  concurrencyLimit: number
  /** The key of its rateLimit. Default: null. */
  rateKey: string | null
  /** As in the definition, which counts while it has the same key. Default: 1. */
  rateLimit: number
  /** As in the definition, which counts while it has the same key. Unit: ms. Default: 1. */
  ratePerMs: number
  /** Its place among those that wait: 0 is HIGH, 1 NORMAL, 2 LOW. Default: 1. */
  rank: number
  /** As in the definition: how long each attempt may take to start. Unit: ms. */
  startDeadlineMs: number
}

/** RunLimits as a writer may give it: fields with a default may be left out. */
export interface RunLimitsInput {
  concurrencyKey?: string | null | undefined
  concurrencyLimit?: number | undefined
  rateKey?: string | null | undefined
  rateLimit?: number | undefined
  ratePerMs?: number | undefined
  rank?: number | undefined
  startDeadlineMs: number
}

/** ActiveRun */
export interface ActiveRun {
  /** Number of the run. */
  runNo: number
  /** Definition it was made from. */
  specOffset: number
  /** Nominal time. Unit: epoch ms. */
  scheduledFor: number
  /** What made the run. Default: "SCHEDULE". */
  trigger: Trigger
  /** With MANUAL: the command. Default: null. */
  commandId: string | null
  /** Runs that led to this one, each by onSuccess or onFailure of the one before. Default: 0. */
  chainDepth: number
  /** Runs that may still follow from this one, those that follow from its followers included. Default: 5000. */
  chainLeft: number
  /** Where the run stands. WAITING: it has not been dispatched, because a limit does not let it go yet. */
  status: RunStatus
  /** Number of the current attempt. */
  attempt: number
  /** Attempts given back by a stopping worker; they do not count against maxAttempts. Default: 0. */
  releasedAttempts: number
  /** When the current attempt must start; while RETRY_WAIT the end of the backoff, while WAITING for RATE the time that was reserved. Unit: epoch ms. */
  dueAt: number
  /** While RETRY_WAIT: the rest of the backoff is in the time index, no longer in a retry topic. Default: false. */
  parked: boolean
  /** Of a pinned run that is DISPATCHED: when its worker is told of it again, as long as it has not started it. Unit: epoch ms. Default: null. */
  tellAt: number | null
  /** Whether key P holds the Execution that this run is dispatched from. Default: false. */
  snapshot: boolean
  /** With snapshot: the run number in key P, where several runs that were active while their definition was replaced share one. Null: its own. Default: null. */
  snapshotRunNo: number | null
  /** Until when the current attempt must have started. Unit: epoch ms. */
  startDeadlineAt: number
  /** As in the definition that made the run. Unit: ms. */
  leaseMs: number
  /** As in the definition that made the run. Unit: ms. */
  attemptTimeoutMs: number
  /** When the current attempt was dispatched. Unit: epoch ms. */
  dispatchedAt: number
  /** When the current attempt started. Unit: epoch ms. Default: null. */
  startedAt: number | null
  /** Who runs the current attempt. Default: null. */
  worker: string | null
  /** While WAITING: SLOT, for a run of its concurrencyKey to end; RATE, for the start that its rateLimit gave it, with its slot held. Default: null. */
  waitsFor: WaitReason | null
  /** The limits it was made with: a redefinition must not unbalance what is counted. Null without any. Default: null. */
  limits: RunLimits | null
  /** The last five failed attempts. Default: []. */
  errors: AttemptError[]
}

/** ActiveRun as a writer may give it: fields with a default may be left out. */
export interface ActiveRunInput {
  runNo: number
  specOffset: number
  scheduledFor: number
  trigger?: Trigger | undefined
  commandId?: string | null | undefined
  chainDepth?: number | undefined
  chainLeft?: number | undefined
  status: RunStatus
  attempt: number
  releasedAttempts?: number | undefined
  dueAt: number
  parked?: boolean | undefined
  tellAt?: number | null | undefined
  snapshot?: boolean | undefined
  snapshotRunNo?: number | null | undefined
  startDeadlineAt: number
  leaseMs: number
  attemptTimeoutMs: number
  dispatchedAt: number
  startedAt?: number | null | undefined
  worker?: string | null | undefined
  waitsFor?: WaitReason | null | undefined
  limits?: RunLimitsInput | null | undefined
  errors?: AttemptErrorInput[] | undefined
}

/** FinishedRun */
export interface FinishedRun {
  /** Number of the run. */
  runNo: number
  /** Nominal time. Unit: epoch ms. */
  scheduledFor: number
  /** What made the run. Default: "SCHEDULE". */
  trigger: Trigger
  /** With MANUAL: the command. Default: null. */
  commandId: string | null
  /** How it ended. DISPATCHED: nobody knows, its definition has trackRuns false. */
  status: RunStatus
  /** Attempts made. */
  attempts: number
  /** When the last attempt started. Unit: epoch ms. Default: null. */
  startedAt: number | null
  /** When the run ended; with DISPATCHED, when it was handed to the workers. Unit: epoch ms. */
  finishedAt: number
  /** Who ran the last attempt. Default: null. */
  worker: string | null
  /** What the handler returned, as JSON. Default: null. */
  result: Buffer | null
  /** What of its report was left out, and why. Default: null. */
  note: string | null
  /** The last five failed attempts. Default: []. */
  errors: AttemptError[]
  /** Hash of the headers and the http target of the definition that it was made with, 0 where it had neither: those who may only look are shown its words while the definition in force has the same. Null: not known. Default: null. */
  hiddenHash: number | null
}

/** FinishedRun as a writer may give it: fields with a default may be left out. */
export interface FinishedRunInput {
  runNo: number
  scheduledFor: number
  trigger?: Trigger | undefined
  commandId?: string | null | undefined
  status: RunStatus
  attempts: number
  startedAt?: number | null | undefined
  finishedAt: number
  worker?: string | null | undefined
  result?: Buffer | null | undefined
  note?: string | null | undefined
  errors?: AttemptErrorInput[] | undefined
  hiddenHash?: number | null | undefined
}

/** JobState */
export interface JobState {
  /** ACTIVE fires, PAUSED does not until resumed, COMPLETED has no further occurrence, INVALID was refused. */
  status: JobStatus
  /** Offset in jobs of the definition that this state has taken into account. */
  specOffset: number
  /** Tells the lives of a job apart that was deleted and defined anew: offset in jobs, and append time, of the definition in force when it was first decided about. Empty for a life that began under a version before. Default: "". */
  life: string
  /** Append time that delays and unanchored intervals count from. It outlives a replacement that leaves the schedule as it is. Unit: epoch ms. Default: 0. */
  anchorAt: number
  /** Hash of the schedule and its window, by which a replacement that leaves them as they are is known. Default: 0. */
  timesHash: number
  /** Nominal time of the next occurrence; null when there is none. Unit: epoch ms. Default: null. */
  nextFireAt: number | null
  /** With jitterMs: when the next occurrence is due, its jitter included; null when that is nextFireAt itself. Unit: epoch ms. Default: null. */
  nextDueAt: number | null
  /** Latest nominal time that has become a run, however that ended: no definition makes an occurrence up to it due again. Under a schedule of one instant, that instant. Unit: epoch ms. Default: null. */
  latestFiredFor: number | null
  /** Of a schedule by the clock of a time zone: the nominal time that was decided about last, which nextFireAt follows. By it nextFireAt is computed anew when the rules of the zone change (ADR 0040). Null: nextFireAt is the first of the schedule, or was computed by an earlier version. Default: null. */
  decidedFor: DecidedTime | null
  /** Number of the last run; the next has the next number. Default: 0. */
  runNo: number
  /** Runs made by the schedule; maxRuns counts these. Default: 0. */
  scheduledRuns: number
  /** Runs that succeeded. Default: 0. */
  succeeded: number
  /** Runs that are dead or expired. Default: 0. */
  failed: number
  /** Runs that were cancelled. Default: 0. */
  cancelled: number
  /** Occurrences that were skipped by catch-up or overlap. Default: 0. */
  skipped: number
  /** When the job became COMPLETED. Unit: epoch ms. Default: null. */
  finishedAt: number | null
  /** When the COMPLETED job is deleted: finishedAt plus the retention. Unit: epoch ms. Default: null. */
  deleteAt: number | null
  /** Why the job is INVALID, or why the last occurrence was skipped. Default: null. */
  reason: string | null
  /** While the job is INVALID because its topic cannot be written to: when that is looked at again. Unit: epoch ms. Default: null. */
  recheckAt: number | null
  /** With overlap QUEUE_ONE: nominal time of the occurrence that waits for the active run to end. Unit: epoch ms. Default: null. */
  queuedFor: number | null
  /** The range of the past that is being run. Default: null. */
  backfill: Backfill | null
  /** Dead runs that can be redriven: key P holds what they were. The last ten. Default: []. */
  deadRuns: number[]
  /** What was decided against, oldest first: why something did not fire, or not then. The last twelve, and beside them the refusals of recentCommands. Default: []. */
  decisions: Refusal[]
  /** Whether the next occurrence is due and waits for an active run to end, because all have to run and the job is full. Default: false. */
  waiting: boolean
  /** Whether a PAUSE is in force. It outlives new definitions, also ones that cannot be used, until a RESUME. Default: false. */
  pausedByCommand: boolean
  /** The last 32 commands that were taken, oldest first, each by a hash of its commandId (streams/state/recent-commands.ts): one that comes again does nothing. Default: []. */
  recentCommands: number[]
  /** Whether key P with run number 0 holds the definition, because a tombstone that must not win stands behind it in jobs. Default: false. */
  definitionKept: boolean
  /** Offset in jobs of the last definition that was dropped; -1: none since that in force. Default: -1. */
  droppedOffset: number
  /** Runs that have not ended. Default: []. */
  active: ActiveRun[]
  /** The run that ended last; older ones are in the R ring. Default: null. */
  lastRun: FinishedRun | null
}

/** JobState as a writer may give it: fields with a default may be left out. */
export interface JobStateInput {
  status: JobStatus
  specOffset: number
  life?: string | undefined
  anchorAt?: number | undefined
  timesHash?: number | undefined
  nextFireAt?: number | null | undefined
  nextDueAt?: number | null | undefined
  latestFiredFor?: number | null | undefined
  decidedFor?: DecidedTimeInput | null | undefined
  runNo?: number | undefined
  scheduledRuns?: number | undefined
  succeeded?: number | undefined
  failed?: number | undefined
  cancelled?: number | undefined
  skipped?: number | undefined
  finishedAt?: number | null | undefined
  deleteAt?: number | null | undefined
  reason?: string | null | undefined
  recheckAt?: number | null | undefined
  queuedFor?: number | null | undefined
  backfill?: BackfillInput | null | undefined
  deadRuns?: number[] | undefined
  decisions?: RefusalInput[] | undefined
  waiting?: boolean | undefined
  pausedByCommand?: boolean | undefined
  recentCommands?: number[] | undefined
  definitionKept?: boolean | undefined
  droppedOffset?: number | undefined
  active?: ActiveRunInput[] | undefined
  lastRun?: FinishedRunInput | null | undefined
}

/** KeySlots */
export interface KeySlots {
  /** Runs that hold a slot. */
  held: number
  /** Runs that wait for one. Default: 0. */
  waiting: number
  /** Slots that the key had when one was asked for last. Default: 1. */
  limit: number
}

/** KeySlots as a writer may give it: fields with a default may be left out. */
export interface KeySlotsInput {
  held: number
  waiting?: number | undefined
  limit?: number | undefined
}

/** KeyStarts */
export interface KeyStarts {
  /** The last of them. Unit: epoch ms. */
  lastAt: number
  /** How long before it the one before was, and so on backwards. Unit: ms. Default: []. */
  gaps: number[]
  /** The largest limit that was asked with: so many are kept. */
  limit: number
  /** The largest perMs that was asked with: none is kept longer. Unit: ms. */
  perMs: number
  /** The owner's clock when it gave the last of them; null in records of earlier versions. Unit: epoch ms. Default: null. */
  givenAt: number | null
}

/** KeyStarts as a writer may give it: fields with a default may be left out. */
export interface KeyStartsInput {
  lastAt: number
  gaps?: number[] | undefined
  limit: number
  perMs: number
  givenAt?: number | null | undefined
}

/** Position */
export interface Position {
  /** Offset of the claim of the owner that wrote this. */
  claimOffset: number
  /** Next offset of job-commands. */
  commandsOffset: number
  /** Next offset of execution-events. */
  eventsOffset: number
  /** Next offset of jobs. Records before it that belong to another partition were moved there. Default: 0. */
  jobsOffset: number
  /** The owner's clock; of one claim each is later than the one before. Unit: epoch ms. */
  committedAt: number
  /** Latest due time in the ahead lanes. They are read in offset order, so nothing due earlier may be appended there. Unit: epoch ms. Default: 0. */
  aheadUntil: number
  /** Version of the time zone rules, such as 2026a, that every next time in the partition stands by; empty while some may stand by others, until all were looked at. Default: "". */
  zoneRules: string
  /** Of the claim at claimOffset: with it a position tells one claim from another where the topic was made anew. 0: an earlier version of this program. Unit: epoch ms. Default: 0. */
  claimedAt: number
  /** Latest append time of the commands before commandsOffset, as far as the brokers give it; 0: not known, -1: what was decided was lost, -2: whether it was is not found out yet. Unit: epoch ms. Default: 0. */
  commandsUntil: number
  /** Where job-commands was truncated or made anew: its end when that was noticed. A command before it that was appended by commandsUntil was taken already. 0: there is none. Default: 0. */
  commandsAnewTo: number
}

/** Position as a writer may give it: fields with a default may be left out. */
export interface PositionInput {
  claimOffset: number
  commandsOffset: number
  eventsOffset: number
  jobsOffset?: number | undefined
  committedAt: number
  aheadUntil?: number | undefined
  zoneRules?: string | undefined
  claimedAt?: number | undefined
  commandsUntil?: number | undefined
  commandsAnewTo?: number | undefined
}

/** Owner */
export interface Owner {
  /** host:pid:boot of the owner. */
  instance: string
  /** The owner's clock; each claim is later than the one before. Unit: epoch ms. */
  claimedAt: number
  /** Version of the owner's time zone rules, such as 2026a; empty: an earlier version of this program. Default: "". */
  zoneRules: string
}

/** Owner as a writer may give it: fields with a default may be left out. */
export interface OwnerInput {
  instance: string
  claimedAt: number
  zoneRules?: string | undefined
}

/** A value of the changelog job-state. Exactly one field is set, by the key's prefix: S state, R run, P snapshot, C slots, W starts, M position or owner. */
export interface StateEntry {
  /** Key S: all that was decided about a job. Default: null. */
  state: JobState | null
  /** Key R: a finished run that is no longer the last. Default: null. */
  run: FinishedRun | null
  /** Key P: the framed Execution from which a run is dispatched again, kept while it is active when its definition was replaced or its payload overridden, and of a dead run for a redrive. Runs of one replaced definition share one. Default: null. */
  snapshot: Buffer | null
  /** Key C: what is taken of a concurrencyKey. Default: null. */
  slots: KeySlots | null
  /** Key W: the last starts that were given under a rateLimit. Default: null. */
  starts: KeyStarts | null
  /** Key M position: the inputs that are part of this state. Last record of each transaction. Default: null. */
  position: Position | null
  /** Key M owner: who claimed the partition. Default: null. */
  owner: Owner | null
}

/** StateEntry as a writer may give it: fields with a default may be left out. */
export interface StateEntryInput {
  state?: JobStateInput | null | undefined
  run?: FinishedRunInput | null | undefined
  snapshot?: Buffer | null | undefined
  slots?: KeySlotsInput | null | undefined
  starts?: KeyStartsInput | null | undefined
  position?: PositionInput | null | undefined
  owner?: OwnerInput | null | undefined
}

export type WorkerControlType = 'CANCEL' | 'RUN'

/** What an owner tells every worker of one attempt. Key: job id. Each worker reads all of them, in a group of its own. */
export interface WorkerControl {
  /** CANCEL: the attempt shall not run, or not go on. RUN: the attempt is for the worker that `instance` names. */
  type: WorkerControlType
  /** Id of the job. */
  jobId: string
  /** Number of the run. */
  runNo: number
  /** Number of the attempt; any other attempt of the run is left alone. */
  attempt: number
  /** As in the execution. A job that was deleted and defined anew numbers its runs from 1 again; this tells its attempts from the earlier ones. Default: null. */
  specOffset: number | null
  /** With CANCEL: why, for the handler and the worker's log. Default: "". */
  reason: string
  /** With RUN: name or host of the worker, as in pinTo. Default: null. */
  instance: string | null
  /** With RUN: the framed Execution. Default: null. */
  execution: Buffer | null
}

/** WorkerControl as a writer may give it: fields with a default may be left out. */
export interface WorkerControlInput {
  type: WorkerControlType
  jobId: string
  runNo: number
  attempt: number
  specOffset?: number | null | undefined
  reason?: string | undefined
  instance?: string | null | undefined
  execution?: Buffer | null | undefined
}

export const auditEventSchema = {
  "type": "record",
  "name": "AuditEvent",
  "namespace": "duelog",
  "doc": "Who asked the API for a change, when, and what came of it. It holds no payload, header or token. Key: job id, or none where it is about many.",
  "fields": [
    {
      "name": "at",
      "type": "long",
      "unit": "epoch ms",
      "doc": "When it was answered, by the clock of the API."
    },
    {
      "name": "actor",
      "type": "string",
      "doc": "Name of the token, or its role where it has none; the subject of a JWT; `local` without authentication."
    },
    {
      "name": "role",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "Role of the actor; null without authentication."
    },
    {
      "name": "action",
      "type": "string",
      "doc": "What was asked for, such as PUT, DELETE or PAUSE."
    },
    {
      "name": "jobId",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "Id of the job; null where it is about many."
    },
    {
      "name": "runNo",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "doc": "Number of the run."
    },
    {
      "name": "outcome",
      "type": "string",
      "doc": "DONE, or the code of the error."
    },
    {
      "name": "status",
      "type": "int",
      "doc": "HTTP status of the answer."
    },
    {
      "name": "version",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "Place of the definition that was written, `<partition>.<offset>`."
    },
    {
      "name": "done",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "doc": "Of a change of many: how many jobs or runs it reached."
    },
    {
      "name": "refused",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "doc": "Of a change of many: how many it did not reach."
    },
    {
      "name": "requestId",
      "type": "string",
      "default": "",
      "doc": "Names the request in the log of the server."
    },
    {
      "name": "address",
      "type": "string",
      "default": "",
      "doc": "Network address that the request came from."
    },
    {
      "name": "instance",
      "type": "string",
      "default": "",
      "doc": "name@host:pid:boot of the API process."
    }
  ]
} as const

export const deadLetterSchema = {
  "type": "record",
  "name": "DeadLetter",
  "namespace": "duelog",
  "doc": "A run that used up its attempts, or failed with an error that is not retried. Key: job id.",
  "fields": [
    {
      "name": "execution",
      "type": "bytes",
      "doc": "The last attempt's Execution in the Confluent wire format."
    },
    {
      "name": "jobId",
      "type": "string",
      "doc": "Id of the job."
    },
    {
      "name": "runNo",
      "type": "long",
      "doc": "Number of the run."
    },
    {
      "name": "attempts",
      "type": "int",
      "doc": "Attempts made."
    },
    {
      "name": "deadAt",
      "type": "long",
      "unit": "epoch ms",
      "doc": "When the owner decided."
    },
    {
      "name": "errors",
      "doc": "The last five failed attempts.",
      "default": [],
      "type": {
        "type": "array",
        "items": {
          "type": "record",
          "name": "AttemptError",
          "fields": [
            {
              "name": "attempt",
              "type": "int",
              "doc": "Number of the attempt."
            },
            {
              "name": "at",
              "type": "long",
              "unit": "epoch ms",
              "doc": "When it ended."
            },
            {
              "name": "worker",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Who ran it."
            },
            {
              "name": "type",
              "type": "string",
              "doc": "Name of the error's class, or a code."
            },
            {
              "name": "message",
              "type": "string",
              "doc": "At most 1,000 characters."
            }
          ]
        }
      }
    }
  ]
} as const

export const executionEventSchema = {
  "type": "record",
  "name": "ExecutionEvent",
  "namespace": "duelog",
  "doc": "What a worker or the retry forwarder reports to the owner of the job's partition. Key: job id; partition: that of the execution.",
  "fields": [
    {
      "name": "type",
      "type": {
        "type": "enum",
        "name": "ExecutionEventType",
        "symbols": [
          "STARTED",
          "HEARTBEAT",
          "SUCCEEDED",
          "FAILED",
          "RELEASED",
          "RETRY_DUE"
        ]
      },
      "doc": "STARTED: accepted and running. HEARTBEAT: alive. SUCCEEDED, FAILED: the attempt ended. RELEASED: the worker gives an attempt back unfinished. RETRY_DUE: a delay topic's record has come of age."
    },
    {
      "name": "jobId",
      "type": "string",
      "doc": "As in the execution."
    },
    {
      "name": "runNo",
      "type": "long",
      "minimum": 1,
      "maximum": 9007199254740991,
      "doc": "As in the execution."
    },
    {
      "name": "attempt",
      "type": "int",
      "minimum": 1,
      "maximum": 2147483647,
      "doc": "As in the execution; for RETRY_DUE the attempt to be made."
    },
    {
      "name": "specOffset",
      "type": "long",
      "minimum": 0,
      "maximum": 9007199254740991,
      "doc": "As in the execution."
    },
    {
      "name": "at",
      "type": "long",
      "unit": "epoch ms",
      "minimum": 0,
      "maximum": 8640000000000000,
      "doc": "The reporter's clock."
    },
    {
      "name": "worker",
      "type": "string",
      "default": "",
      "maxLength": 512,
      "doc": "name@host:pid:boot of the reporter."
    },
    {
      "name": "startedAt",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "unit": "epoch ms",
      "minimum": 0,
      "maximum": 8640000000000000,
      "doc": "When the handler was started. Set on STARTED, SUCCEEDED and FAILED, because a quick run sends only its last event."
    },
    {
      "name": "result",
      "type": [
        "null",
        "bytes"
      ],
      "default": null,
      "maxBytes": 65536,
      "doc": "With SUCCEEDED: what the handler returned, as JSON. A larger one is left out, and the run has succeeded all the same."
    },
    {
      "name": "error",
      "default": null,
      "doc": "With FAILED: why.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "RunError",
          "fields": [
            {
              "name": "type",
              "type": "string",
              "maxLength": 200,
              "doc": "Name of the error's class, or a code."
            },
            {
              "name": "message",
              "type": "string",
              "maxLength": 1000,
              "doc": "What it says."
            },
            {
              "name": "stack",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "maxLength": 4000,
              "doc": "Where it was thrown; not kept."
            },
            {
              "name": "retryable",
              "type": "boolean",
              "default": true,
              "doc": "False dead-letters the run at once."
            },
            {
              "name": "retryAfterMs",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "ms",
              "minimum": 0,
              "maximum": 9007199254740991,
              "doc": "The handler's own delay before the next attempt; it takes the place of the backoff."
            }
          ]
        }
      ]
    },
    {
      "name": "progress",
      "type": [
        "null",
        "double"
      ],
      "default": null,
      "minimum": 0,
      "maximum": 1,
      "doc": "With HEARTBEAT: share that is done."
    },
    {
      "name": "message",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "maxLength": 1000,
      "doc": "With HEARTBEAT: what the handler says of its progress."
    }
  ]
} as const

export const executionSchema = {
  "type": "record",
  "name": "Execution",
  "namespace": "duelog",
  "doc": "One attempt of one run, dispatched to a pool of workers. Key: job id. jobId, runNo and life are the run's identity, attempt its fencing token.",
  "fields": [
    {
      "name": "jobId",
      "type": "string",
      "doc": "Id of the job."
    },
    {
      "name": "runNo",
      "type": "long",
      "doc": "Number of the run, from 1, gap-free for each job."
    },
    {
      "name": "attempt",
      "type": "int",
      "doc": "Number of the attempt, from 1."
    },
    {
      "name": "life",
      "type": "string",
      "default": "",
      "doc": "Tells the lives of a job apart that was deleted and defined anew, since run numbers begin anew with each. jobId/runNo@life is the run's identity, jobId/runNo where it is empty."
    },
    {
      "name": "specOffset",
      "type": "long",
      "doc": "Offset in jobs of the definition that this run was made from; events must echo it."
    },
    {
      "name": "handler",
      "type": "string",
      "doc": "Name of the handler."
    },
    {
      "name": "scheduledFor",
      "type": "long",
      "unit": "epoch ms",
      "doc": "Nominal time of the occurrence."
    },
    {
      "name": "dueAt",
      "type": "long",
      "unit": "epoch ms",
      "doc": "When this attempt must start: the nominal time, or the end of the backoff. A worker holds the record until then."
    },
    {
      "name": "dispatchedAt",
      "type": "long",
      "unit": "epoch ms",
      "doc": "When the owner decided to dispatch."
    },
    {
      "name": "trigger",
      "type": {
        "type": "enum",
        "name": "Trigger",
        "symbols": [
          "SCHEDULE",
          "MANUAL",
          "REDRIVE",
          "BACKFILL",
          "FOLLOW_UP"
        ]
      },
      "default": "SCHEDULE",
      "doc": "What made the run."
    },
    {
      "name": "payload",
      "type": [
        "null",
        "bytes"
      ],
      "default": null,
      "doc": "As in the definition."
    },
    {
      "name": "contentType",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "As in the definition."
    },
    {
      "name": "headers",
      "type": {
        "type": "map",
        "values": "bytes"
      },
      "default": {},
      "doc": "As in the definition."
    },
    {
      "name": "pool",
      "type": "string",
      "doc": "As in the definition."
    },
    {
      "name": "priority",
      "type": {
        "type": "enum",
        "name": "Priority",
        "symbols": [
          "HIGH",
          "NORMAL",
          "LOW"
        ]
      },
      "default": "NORMAL",
      "doc": "As in the definition."
    },
    {
      "name": "attemptTimeoutMs",
      "type": "long",
      "unit": "ms",
      "doc": "As in the definition."
    },
    {
      "name": "leaseMs",
      "type": "long",
      "unit": "ms",
      "doc": "As in the definition."
    },
    {
      "name": "startDeadlineAt",
      "type": "long",
      "unit": "epoch ms",
      "doc": "A worker drops the attempt when it could not start by then; the owner records it as EXPIRED."
    },
    {
      "name": "pinTo",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "As in the definition. Set: the execution travels on worker-control, and only the worker of this name or host runs it."
    },
    {
      "name": "tracked",
      "type": "boolean",
      "default": true,
      "doc": "As trackRuns in the definition. False: the worker sends no events; the record's offset is done when its handler has settled, failed or not."
    },
    {
      "name": "httpTarget",
      "default": null,
      "doc": "With an http target: the request that the handler http makes.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "HttpTarget",
          "fields": [
            {
              "name": "url",
              "type": "string",
              "doc": "Where the request goes. User and password have no place in it; use headers."
            },
            {
              "name": "method",
              "type": {
                "type": "enum",
                "name": "HttpMethod",
                "symbols": [
                  "GET",
                  "POST",
                  "PUT",
                  "PATCH",
                  "DELETE"
                ]
              },
              "default": "POST",
              "doc": "Method of the request."
            },
            {
              "name": "headers",
              "type": {
                "type": "map",
                "values": "string"
              },
              "default": {},
              "doc": "Headers of the request, besides those of the definition and our own."
            }
          ]
        }
      ]
    },
    {
      "name": "topicTarget",
      "default": null,
      "doc": "Only in a snapshot: the topic that the owner itself writes to.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "TopicTarget",
          "fields": [
            {
              "name": "name",
              "type": "string",
              "doc": "Name of the topic; it must be allowed by DUELOG_TARGET_TOPICS and exist."
            },
            {
              "name": "key",
              "type": [
                "null",
                "bytes"
              ],
              "default": null,
              "doc": "Key of the record. Without it the job id."
            },
            {
              "name": "partition",
              "type": [
                "null",
                "int"
              ],
              "default": null,
              "doc": "Partition the record goes to. Without it the one that Kafka's default partitioner (murmur2) chooses for the key."
            }
          ]
        }
      ]
    }
  ]
} as const

export const jobCommandSchema = {
  "type": "record",
  "name": "JobCommand",
  "namespace": "duelog",
  "doc": "What an operator asks of one job. Key: job id. A command that is refused says why at /v1/jobs/{id}/why, and to the reply topic that it names.",
  "fields": [
    {
      "name": "type",
      "type": {
        "type": "enum",
        "name": "JobCommandType",
        "symbols": [
          "TRIGGER",
          "PAUSE",
          "RESUME",
          "CANCEL",
          "CANCEL_RUN",
          "REDRIVE",
          "BACKFILL"
        ]
      },
      "doc": "TRIGGER: one run now, besides the schedule. PAUSE: no occurrence fires. RESUME: fire again; what fell due meanwhile follows catchUp. CANCEL: ends all runs and the job. CANCEL_RUN: ends one run. REDRIVE: makes a dead run again, as a new run. BACKFILL: one run for each occurrence of a past range."
    },
    {
      "name": "commandId",
      "type": "string",
      "minLength": 1,
      "maxLength": 512,
      "doc": "Chosen by the sender. A command with the commandId of one of the last 32 commands of the job, or of an active run or the last one, does nothing, whatever became of the first."
    },
    {
      "name": "at",
      "type": "long",
      "unit": "epoch ms",
      "minimum": 0,
      "maximum": 8640000000000000,
      "doc": "The sender's clock."
    },
    {
      "name": "payload",
      "type": [
        "null",
        "bytes"
      ],
      "default": null,
      "maxBytes": 524288,
      "doc": "With TRIGGER: takes the place of the definition's payload in this run."
    },
    {
      "name": "trigger",
      "type": {
        "type": "enum",
        "name": "Trigger",
        "symbols": [
          "SCHEDULE",
          "MANUAL",
          "REDRIVE",
          "BACKFILL",
          "FOLLOW_UP"
        ]
      },
      "default": "MANUAL",
      "doc": "With TRIGGER: what the run is said to be made by, MANUAL or FOLLOW_UP. What the schedule makes, or another command, is not for a TRIGGER to say; it is refused."
    },
    {
      "name": "runNo",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "minimum": 1,
      "maximum": 9007199254740991,
      "doc": "With CANCEL_RUN and REDRIVE: which run."
    },
    {
      "name": "from",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "unit": "epoch ms",
      "minimum": 0,
      "maximum": 8640000000000000,
      "doc": "With BACKFILL: first nominal time, inclusive."
    },
    {
      "name": "to",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "unit": "epoch ms",
      "minimum": 0,
      "maximum": 8640000000000000,
      "doc": "With BACKFILL: end of the range, exclusive; at most the present."
    },
    {
      "name": "chainDepth",
      "type": "int",
      "default": 0,
      "minimum": 0,
      "maximum": 32,
      "doc": "With FOLLOW_UP: how many runs led to this one, each by onSuccess or onFailure of the one before."
    },
    {
      "name": "chainLeft",
      "type": "int",
      "default": 5000,
      "minimum": 0,
      "maximum": 5000,
      "doc": "With FOLLOW_UP: how many runs may still follow from this one, those that follow from its followers included."
    },
    {
      "name": "actor",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "maxLength": 1024,
      "doc": "Who asked."
    }
  ]
} as const

export const jobDefinitionSchema = {
  "type": "record",
  "name": "JobDefinition",
  "namespace": "duelog",
  "doc": "What a job is: when it is due, what runs, and what happens when that fails. The record's key is the job id; a null value deletes the job.",
  "fields": [
    {
      "name": "schedule",
      "doc": "When the job is due. Exactly one of at, delayMs, everyMs, cron and rrule is set.",
      "type": {
        "type": "record",
        "name": "Schedule",
        "fields": [
          {
            "name": "at",
            "type": [
              "null",
              "long"
            ],
            "default": null,
            "unit": "epoch ms",
            "minimum": 0,
            "maximum": 8640000000000000,
            "doc": "One run at this instant. An instant in the past is due at once."
          },
          {
            "name": "delayMs",
            "type": [
              "null",
              "long"
            ],
            "default": null,
            "unit": "ms",
            "minimum": 0,
            "maximum": 315360000000,
            "doc": "One run so long after the broker appended the definition, but not before startAt."
          },
          {
            "name": "everyMs",
            "type": [
              "null",
              "long"
            ],
            "default": null,
            "unit": "ms",
            "minimum": 100,
            "maximum": 315360000000,
            "doc": "A run each so many milliseconds, counted from the anchor."
          },
          {
            "name": "anchor",
            "type": [
              "null",
              "long"
            ],
            "default": null,
            "unit": "epoch ms",
            "minimum": 0,
            "maximum": 8640000000000000,
            "doc": "With everyMs: an instant that the runs are aligned to. Without it the broker's append time of the definition; the first run is one interval later."
          },
          {
            "name": "from",
            "type": {
              "type": "enum",
              "name": "IntervalFrom",
              "symbols": [
                "START",
                "END"
              ]
            },
            "default": "START",
            "doc": "With everyMs: START counts from the last nominal time, END from the end of the last run."
          },
          {
            "name": "cron",
            "type": [
              "null",
              "string"
            ],
            "default": null,
            "maxLength": 256,
            "doc": "A cron expression of 5 fields, or of 6 with seconds first; names, lists, ranges, steps, ?, L, W, # and @daily and its kin."
          },
          {
            "name": "timezone",
            "type": "string",
            "default": "UTC",
            "maxLength": 64,
            "doc": "With cron and rrule: the IANA time zone in which they are read."
          },
          {
            "name": "rrule",
            "type": [
              "null",
              "string"
            ],
            "default": null,
            "maxLength": 1024,
            "doc": "A recurrence rule of RFC 5545, such as FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1. INTERVAL is at most 100,000, COUNT at most 10,000; beyond, use UNTIL or maxRuns. Its first time must be found within 100,000 steps, each of which is a day that is looked at."
          },
          {
            "name": "dtstart",
            "type": [
              "null",
              "long"
            ],
            "default": null,
            "unit": "epoch ms",
            "minimum": 0,
            "maximum": 32503679999000,
            "doc": "With rrule: where the rule begins, in whole seconds; its time of day and its day are those that the rule does not name itself. It is an occurrence only if the rule matches it. Without it startAt, rounded up to a second, else the broker's append time of the definition, rounded down."
          },
          {
            "name": "exdates",
            "type": {
              "type": "array",
              "items": "long"
            },
            "default": [],
            "unit": "epoch ms",
            "minimum": 0,
            "maximum": 32503679999000,
            "maxEntries": 1000,
            "doc": "With rrule: instants, in whole seconds, at which it does not come true. COUNT counts them all the same."
          },
          {
            "name": "dstGap",
            "type": {
              "type": "enum",
              "name": "DstGap",
              "symbols": [
                "NEXT_VALID",
                "SKIP",
                "SHIFT"
              ]
            },
            "default": "NEXT_VALID",
            "doc": "With cron and rrule: what becomes of a wall-clock time that daylight saving leaves out. NEXT_VALID: it is due once at the first instant after the gap; SKIP: it is left out; SHIFT: it is due as long after the gap begins as it would have been."
          },
          {
            "name": "dstOverlap",
            "type": {
              "type": "enum",
              "name": "DstOverlap",
              "symbols": [
                "FIRST",
                "LAST",
                "BOTH"
              ]
            },
            "default": "FIRST",
            "doc": "With cron and rrule: at which of its two instants a wall-clock time that comes twice is due."
          }
        ]
      }
    },
    {
      "name": "jitterMs",
      "type": "long",
      "default": 0,
      "unit": "ms",
      "minimum": 0,
      "maximum": 86400000,
      "doc": "Each run is due later than its nominal time by up to so much, and never as late as the next nominal time. How much is chosen from the hash of job id and nominal time, so that a replay chooses the same. scheduledFor stays nominal."
    },
    {
      "name": "target",
      "doc": "What runs. Exactly one of handler, topic and http is set.",
      "type": {
        "type": "record",
        "name": "Target",
        "fields": [
          {
            "name": "handler",
            "type": [
              "null",
              "string"
            ],
            "default": null,
            "minLength": 1,
            "maxLength": 128,
            "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$",
            "doc": "Name of the handler that a worker registered."
          },
          {
            "name": "topic",
            "default": null,
            "doc": "The owner writes payload and headers to this topic when the job is due, exactly once and with no worker; never before its time. While the topic is missing or not allowed the job is INVALID; that is looked at again after 5 s, then less and less often, and at least every 10 min.",
            "type": [
              "null",
              {
                "type": "record",
                "name": "TopicTarget",
                "fields": [
                  {
                    "name": "name",
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 249,
                    "pattern": "^[A-Za-z0-9._-]+$",
                    "doc": "Name of the topic; it must be allowed by DUELOG_TARGET_TOPICS and exist."
                  },
                  {
                    "name": "key",
                    "type": [
                      "null",
                      "bytes"
                    ],
                    "default": null,
                    "maxBytes": 4096,
                    "doc": "Key of the record. Without it the job id."
                  },
                  {
                    "name": "partition",
                    "type": [
                      "null",
                      "int"
                    ],
                    "default": null,
                    "minimum": 0,
                    "maximum": 1000000,
                    "doc": "Partition the record goes to. Without it the one that Kafka's default partitioner (murmur2) chooses for the key."
                  }
                ]
              }
            ]
          },
          {
            "name": "http",
            "default": null,
            "doc": "A worker of the pool sends the payload in a request, at least once (built-in handler http).",
            "type": [
              "null",
              {
                "type": "record",
                "name": "HttpTarget",
                "fields": [
                  {
                    "name": "url",
                    "type": "string",
                    "minLength": 8,
                    "maxLength": 2048,
                    "pattern": "^https?://",
                    "doc": "Where the request goes. User and password have no place in it; use headers."
                  },
                  {
                    "name": "method",
                    "type": {
                      "type": "enum",
                      "name": "HttpMethod",
                      "symbols": [
                        "GET",
                        "POST",
                        "PUT",
                        "PATCH",
                        "DELETE"
                      ]
                    },
                    "default": "POST",
                    "doc": "Method of the request."
                  },
                  {
                    "name": "headers",
                    "type": {
                      "type": "map",
                      "values": "string"
                    },
                    "default": {},
                    "maxEntries": 32,
                    "maxLength": 4096,
                    "doc": "Headers of the request, besides those of the definition and our own."
                  }
                ]
              }
            ]
          },
          {
            "name": "pool",
            "type": "string",
            "default": "default",
            "minLength": 1,
            "maxLength": 64,
            "pattern": "^[a-z0-9][a-z0-9_-]*$",
            "doc": "With handler and http: pool of workers that serve the run; each pool has its own executions topics."
          }
        ]
      }
    },
    {
      "name": "payload",
      "type": [
        "null",
        "bytes"
      ],
      "default": null,
      "maxBytes": 524288,
      "doc": "Bytes handed to the handler as they are."
    },
    {
      "name": "contentType",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "maxLength": 128,
      "doc": "Media type of the payload. application/json is parsed for the handler."
    },
    {
      "name": "headers",
      "type": {
        "type": "map",
        "values": "bytes"
      },
      "default": {},
      "maxEntries": 32,
      "maxBytes": 16384,
      "doc": "Headers handed to the handler as they are."
    },
    {
      "name": "priority",
      "type": {
        "type": "enum",
        "name": "Priority",
        "symbols": [
          "HIGH",
          "NORMAL",
          "LOW"
        ]
      },
      "default": "NORMAL",
      "doc": "Which executions topic of the pool carries the run; a full worker reads higher ones first."
    },
    {
      "name": "pinTo",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "minLength": 1,
      "maxLength": 255,
      "pattern": "^[^@:\\s]+$",
      "doc": "Only the worker of this name runs it, or one on the host of this name; while there is none, the run waits until its start deadline and expires. One that comes is told of it after as long as it was away, at most two minutes."
    },
    {
      "name": "trackRuns",
      "type": "boolean",
      "default": true,
      "doc": "False, for floods of cheap runs: a run has left Duelog once it is handed to the workers. Nothing is heard of it again, so it has no retries, no lease and no end that anything could follow; it stands as DISPATCHED. A worker runs it at least once: again if it dies before the handler has settled."
    },
    {
      "name": "retry",
      "doc": "What happens when an attempt fails.",
      "default": {
        "maxAttempts": 5,
        "backoff": {
          "list": [
            1000,
            5000,
            30000,
            120000,
            600000
          ],
          "fixed": null,
          "linear": null,
          "exponential": null
        },
        "maxAgeMs": null,
        "jitter": 0,
        "nonRetryable": []
      },
      "type": {
        "type": "record",
        "name": "Retry",
        "fields": [
          {
            "name": "maxAttempts",
            "type": "int",
            "default": 5,
            "minimum": 1,
            "maximum": 1000,
            "doc": "Attempts of one run, the first included; then it is dead-lettered."
          },
          {
            "name": "backoff",
            "doc": "Delay before the next attempt. Exactly one of its fields is set.",
            "default": {
              "list": [
                1000,
                5000,
                30000,
                120000,
                600000
              ],
              "fixed": null,
              "linear": null,
              "exponential": null
            },
            "type": {
              "type": "record",
              "name": "Backoff",
              "fields": [
                {
                  "name": "list",
                  "type": {
                    "type": "array",
                    "items": "long"
                  },
                  "default": [],
                  "unit": "ms",
                  "minimum": 0,
                  "maximum": 86400000,
                  "maxEntries": 64,
                  "doc": "One delay for each retry; the last repeats. Empty: not set."
                },
                {
                  "name": "fixed",
                  "default": null,
                  "doc": "The same delay each time.",
                  "type": [
                    "null",
                    {
                      "type": "record",
                      "name": "FixedBackoff",
                      "fields": [
                        {
                          "name": "delayMs",
                          "type": "long",
                          "unit": "ms",
                          "minimum": 0,
                          "maximum": 86400000,
                          "doc": "The delay."
                        }
                      ]
                    }
                  ]
                },
                {
                  "name": "linear",
                  "default": null,
                  "doc": "The n-th retry waits n steps.",
                  "type": [
                    "null",
                    {
                      "type": "record",
                      "name": "LinearBackoff",
                      "fields": [
                        {
                          "name": "stepMs",
                          "type": "long",
                          "unit": "ms",
                          "minimum": 1,
                          "maximum": 86400000,
                          "doc": "One step."
                        }
                      ]
                    }
                  ]
                },
                {
                  "name": "exponential",
                  "default": null,
                  "doc": "The n-th retry waits base × factor^(n−1), at most maxMs.",
                  "type": [
                    "null",
                    {
                      "type": "record",
                      "name": "ExponentialBackoff",
                      "fields": [
                        {
                          "name": "baseMs",
                          "type": "long",
                          "unit": "ms",
                          "minimum": 1,
                          "maximum": 86400000,
                          "doc": "Delay of the first retry."
                        },
                        {
                          "name": "factor",
                          "type": "double",
                          "default": 2,
                          "minimum": 1,
                          "maximum": 100,
                          "doc": "Growth from one retry to the next."
                        },
                        {
                          "name": "maxMs",
                          "type": "long",
                          "default": 3600000,
                          "unit": "ms",
                          "minimum": 1,
                          "maximum": 86400000,
                          "doc": "Upper bound of the delay."
                        }
                      ]
                    }
                  ]
                }
              ]
            }
          },
          {
            "name": "maxAgeMs",
            "type": [
              "null",
              "long"
            ],
            "default": null,
            "unit": "ms",
            "minimum": 1,
            "maximum": 2592000000,
            "doc": "A run is given up instead of retried when its next attempt would be due so long after its nominal time."
          },
          {
            "name": "jitter",
            "type": "double",
            "default": 0,
            "minimum": 0,
            "maximum": 1,
            "doc": "Share of the delay that is spread, chosen from the hash of job id, run and attempt, so that a replay chooses the same."
          },
          {
            "name": "nonRetryable",
            "type": {
              "type": "array",
              "items": "string"
            },
            "default": [],
            "maxEntries": 32,
            "maxLength": 128,
            "doc": "Error types that are dead-lettered at once."
          }
        ]
      }
    },
    {
      "name": "attemptTimeoutMs",
      "type": "long",
      "default": 300000,
      "unit": "ms",
      "minimum": 100,
      "maximum": 604800000,
      "doc": "Longest time of one attempt; then its signal is aborted and it counts as failed."
    },
    {
      "name": "leaseMs",
      "type": "long",
      "default": 30000,
      "unit": "ms",
      "minimum": 1000,
      "maximum": 3600000,
      "doc": "A running attempt that is silent for so long is lost and given to another worker."
    },
    {
      "name": "startDeadlineMs",
      "type": "long",
      "default": 86400000,
      "unit": "ms",
      "minimum": 1000,
      "maximum": 2592000000,
      "doc": "A run that no worker started so long after it was due, or dispatched if that was later, has expired; at the latest ten minutes before its executions topic may lose it, but not in the first hour (retention.ms, seven days unless you set it otherwise)."
    },
    {
      "name": "catchUp",
      "type": {
        "type": "enum",
        "name": "CatchUp",
        "symbols": [
          "SKIP",
          "LATEST",
          "ALL"
        ]
      },
      "default": "LATEST",
      "doc": "What happens to occurrences that were missed by more than misfireThresholdMs: none of them runs, only the latest, or all up to catchUpMax."
    },
    {
      "name": "catchUpMax",
      "type": "int",
      "default": 100,
      "minimum": 1,
      "maximum": 100000,
      "doc": "With catchUp ALL: the most missed occurrences that run; older ones are skipped and counted."
    },
    {
      "name": "misfireThresholdMs",
      "type": "long",
      "default": 1000,
      "unit": "ms",
      "minimum": 0,
      "maximum": 86400000,
      "doc": "An occurrence fired later than this is a misfire."
    },
    {
      "name": "overlap",
      "type": {
        "type": "enum",
        "name": "Overlap",
        "symbols": [
          "ALLOW",
          "SKIP",
          "QUEUE_ONE",
          "CANCEL_PREVIOUS"
        ]
      },
      "default": "ALLOW",
      "doc": "What happens when an occurrence is due while an earlier run is still active: both run; it is skipped; it waits, the first of those that fall due meanwhile, and runs when the other has ended; or the other is cancelled."
    },
    {
      "name": "maxConcurrentRuns",
      "type": "int",
      "default": 16,
      "minimum": 1,
      "maximum": 100,
      "doc": "The most active runs of the job, whatever made them; one that waits for a slot or for a start of its rateLimit is active. A TRIGGER, a REDRIVE or a follow-up beyond it is refused and shown at /why. With overlap ALLOW a further occurrence is skipped and counted; with catchUp ALL it waits until one ends."
    },
    {
      "name": "concurrencyKey",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "minLength": 1,
      "maxLength": 256,
      "doc": "Jobs with the same key share concurrencyLimit. Exact among the jobs of one partition: give their ids one {tag}. At most 256 bytes, no control characters; for handlers and HTTP."
    },
    {
      "name": "concurrencyLimit",
      "type": "int",
      "default": 1,
      "minimum": 1,
      "maximum": 10000,
      "doc": "With concurrencyKey: the most runs of the key at once, dispatched and not ended. A further one is WAITING, and goes by priority, then by its due time."
    },
    {
      "name": "rateLimit",
      "default": null,
      "doc": "Jobs with the same rateLimit.key share a rate of starts. Exact among the jobs of one partition: give their ids one {tag}.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "RateLimit",
          "fields": [
            {
              "name": "key",
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "doc": "What the limit is for. At most 256 bytes, no control characters."
            },
            {
              "name": "limit",
              "type": "int",
              "minimum": 1,
              "maximum": 10000,
              "doc": "The most attempts of the key that are given a start in any perMs. A further one is WAITING until its time; one whose time would be after its start deadline expires."
            },
            {
              "name": "perMs",
              "type": "long",
              "unit": "ms",
              "minimum": 1,
              "maximum": 86400000,
              "doc": "Length of the window, wherever it begins."
            }
          ]
        }
      ]
    },
    {
      "name": "startAt",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "unit": "epoch ms",
      "minimum": 0,
      "maximum": 8640000000000000,
      "doc": "No occurrence is due before it."
    },
    {
      "name": "endAt",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "unit": "epoch ms",
      "minimum": 0,
      "maximum": 8640000000000000,
      "doc": "No occurrence is due after it; then the job is COMPLETED."
    },
    {
      "name": "expireAt",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "unit": "epoch ms",
      "minimum": 0,
      "maximum": 8640000000000000,
      "doc": "End of validity, exclusive: from this instant on no occurrence fires, also none that was due before, a run that has not started has expired, and TRIGGER, REDRIVE and BACKFILL are refused."
    },
    {
      "name": "maxRuns",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "minimum": 1,
      "maximum": 9007199254740991,
      "doc": "Scheduled runs after which the job is COMPLETED."
    },
    {
      "name": "paused",
      "type": "boolean",
      "default": false,
      "doc": "True defines the job without letting it fire until it is resumed."
    },
    {
      "name": "version",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "minimum": 0,
      "maximum": 9007199254740991,
      "doc": "Version token of the writer. A definition with a lower one than that in force is dropped; without one it is taken."
    },
    {
      "name": "dedupKey",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "minLength": 1,
      "maxLength": 255,
      "doc": "A definition of this job with the same key as the one in force, appended within dedupWindowMs of it, is acknowledged and dropped."
    },
    {
      "name": "dedupWindowMs",
      "type": "long",
      "default": 0,
      "unit": "ms",
      "minimum": 0,
      "maximum": 2592000000,
      "doc": "With dedupKey: how long."
    },
    {
      "name": "onSuccess",
      "type": {
        "type": "array",
        "items": "string"
      },
      "default": [],
      "maxEntries": 16,
      "maxLength": 255,
      "doc": "Ids of jobs that are triggered when a run of this job has succeeded, other than its own. From one run at most 5,000 follow, over at most 32 generations; what is beyond is not triggered, and /why of the job that would have says so."
    },
    {
      "name": "onFailure",
      "type": {
        "type": "array",
        "items": "string"
      },
      "default": [],
      "maxEntries": 16,
      "maxLength": 255,
      "doc": "Ids of jobs that are triggered when a run of this job is dead or has expired; as with onSuccess."
    },
    {
      "name": "tags",
      "type": {
        "type": "array",
        "items": "string"
      },
      "default": [],
      "maxEntries": 16,
      "maxLength": 64,
      "doc": "Words to find the job by."
    },
    {
      "name": "retainCompletedMs",
      "type": "long",
      "default": 3600000,
      "unit": "ms",
      "minimum": 0,
      "maximum": 2592000000,
      "doc": "A completed job whose last run succeeded is deleted after so long."
    },
    {
      "name": "retainFailedMs",
      "type": "long",
      "default": 259200000,
      "unit": "ms",
      "minimum": 0,
      "maximum": 2592000000,
      "doc": "A completed job whose last run failed, expired or is dead is deleted after so long."
    }
  ]
} as const

export const jobStateSchema = {
  "type": "record",
  "name": "StateEntry",
  "namespace": "duelog",
  "doc": "A value of the changelog job-state. Exactly one field is set, by the key's prefix: S state, R run, P snapshot, C slots, W starts, M position or owner.",
  "fields": [
    {
      "name": "state",
      "default": null,
      "doc": "Key S: all that was decided about a job.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "JobState",
          "fields": [
            {
              "name": "status",
              "type": {
                "type": "enum",
                "name": "JobStatus",
                "symbols": [
                  "ACTIVE",
                  "PAUSED",
                  "COMPLETED",
                  "INVALID"
                ]
              },
              "doc": "ACTIVE fires, PAUSED does not until resumed, COMPLETED has no further occurrence, INVALID was refused."
            },
            {
              "name": "specOffset",
              "type": "long",
              "doc": "Offset in jobs of the definition that this state has taken into account."
            },
            {
              "name": "life",
              "type": "string",
              "default": "",
              "maxLength": 40,
              "doc": "Tells the lives of a job apart that was deleted and defined anew: offset in jobs, and append time, of the definition in force when it was first decided about. Empty for a life that began under a version before."
            },
            {
              "name": "anchorAt",
              "type": "long",
              "default": 0,
              "unit": "epoch ms",
              "doc": "Append time that delays and unanchored intervals count from. It outlives a replacement that leaves the schedule as it is."
            },
            {
              "name": "timesHash",
              "type": "long",
              "default": 0,
              "doc": "Hash of the schedule and its window, by which a replacement that leaves them as they are is known."
            },
            {
              "name": "nextFireAt",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "Nominal time of the next occurrence; null when there is none."
            },
            {
              "name": "nextDueAt",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "With jitterMs: when the next occurrence is due, its jitter included; null when that is nextFireAt itself."
            },
            {
              "name": "latestFiredFor",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "Latest nominal time that has become a run, however that ended: no definition makes an occurrence up to it due again. Under a schedule of one instant, that instant."
            },
            {
              "name": "decidedFor",
              "default": null,
              "doc": "Of a schedule by the clock of a time zone: the nominal time that was decided about last, which nextFireAt follows. By it nextFireAt is computed anew when the rules of the zone change (ADR 0040). Null: nextFireAt is the first of the schedule, or was computed by an earlier version.",
              "type": [
                "null",
                {
                  "type": "record",
                  "name": "DecidedTime",
                  "fields": [
                    {
                      "name": "at",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "The nominal time."
                    },
                    {
                      "name": "offsetMs",
                      "type": "int",
                      "unit": "ms",
                      "doc": "Local time minus UTC then, by the rules it was decided under."
                    }
                  ]
                }
              ]
            },
            {
              "name": "runNo",
              "type": "long",
              "default": 0,
              "doc": "Number of the last run; the next has the next number."
            },
            {
              "name": "scheduledRuns",
              "type": "long",
              "default": 0,
              "doc": "Runs made by the schedule; maxRuns counts these."
            },
            {
              "name": "succeeded",
              "type": "long",
              "default": 0,
              "doc": "Runs that succeeded."
            },
            {
              "name": "failed",
              "type": "long",
              "default": 0,
              "doc": "Runs that are dead or expired."
            },
            {
              "name": "cancelled",
              "type": "long",
              "default": 0,
              "doc": "Runs that were cancelled."
            },
            {
              "name": "skipped",
              "type": "long",
              "default": 0,
              "doc": "Occurrences that were skipped by catch-up or overlap."
            },
            {
              "name": "finishedAt",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "When the job became COMPLETED."
            },
            {
              "name": "deleteAt",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "When the COMPLETED job is deleted: finishedAt plus the retention."
            },
            {
              "name": "reason",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Why the job is INVALID, or why the last occurrence was skipped."
            },
            {
              "name": "recheckAt",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "While the job is INVALID because its topic cannot be written to: when that is looked at again."
            },
            {
              "name": "queuedFor",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "With overlap QUEUE_ONE: nominal time of the occurrence that waits for the active run to end."
            },
            {
              "name": "backfill",
              "default": null,
              "doc": "The range of the past that is being run.",
              "type": [
                "null",
                {
                  "type": "record",
                  "name": "Backfill",
                  "fields": [
                    {
                      "name": "commandId",
                      "type": "string",
                      "doc": "The command."
                    },
                    {
                      "name": "nextAt",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "Nominal time of its next run."
                    },
                    {
                      "name": "to",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "End of the range, exclusive."
                    }
                  ]
                }
              ]
            },
            {
              "name": "deadRuns",
              "type": {
                "type": "array",
                "items": "long"
              },
              "default": [],
              "doc": "Dead runs that can be redriven: key P holds what they were. The last ten."
            },
            {
              "name": "decisions",
              "default": [],
              "doc": "What was decided against, oldest first: why something did not fire, or not then. The last twelve, and beside them the refusals of recentCommands.",
              "type": {
                "type": "array",
                "items": {
                  "type": "record",
                  "name": "Refusal",
                  "fields": [
                    {
                      "name": "at",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "When it was decided."
                    },
                    {
                      "name": "what",
                      "type": {
                        "type": "enum",
                        "name": "RefusalKind",
                        "symbols": [
                          "SKIPPED",
                          "QUEUED",
                          "WAITING",
                          "EXPIRED",
                          "CANCELLED",
                          "DROPPED",
                          "DEAD"
                        ]
                      },
                      "doc": "SKIPPED, QUEUED and WAITING: an occurrence. EXPIRED, CANCELLED and DEAD: a run. DROPPED: a definition or command."
                    },
                    {
                      "name": "reason",
                      "type": "string",
                      "doc": "A stable word, such as overlap or catch-up."
                    },
                    {
                      "name": "scheduledFor",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "unit": "epoch ms",
                      "doc": "The occurrence, or the first of them."
                    },
                    {
                      "name": "runNo",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "doc": "The run."
                    },
                    {
                      "name": "count",
                      "type": "long",
                      "default": 1,
                      "doc": "How many in a row, for the same reason."
                    },
                    {
                      "name": "commandId",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "With DROPPED: the command, unless it was a follow-up."
                    }
                  ]
                }
              }
            },
            {
              "name": "waiting",
              "type": "boolean",
              "default": false,
              "doc": "Whether the next occurrence is due and waits for an active run to end, because all have to run and the job is full."
            },
            {
              "name": "pausedByCommand",
              "type": "boolean",
              "default": false,
              "doc": "Whether a PAUSE is in force. It outlives new definitions, also ones that cannot be used, until a RESUME."
            },
            {
              "name": "recentCommands",
              "type": {
                "type": "array",
                "items": "long"
              },
              "default": [],
              "doc": "The last 32 commands that were taken, oldest first, each by a hash of its commandId (streams/state/recent-commands.ts): one that comes again does nothing."
            },
            {
              "name": "definitionKept",
              "type": "boolean",
              "default": false,
              "doc": "Whether key P with run number 0 holds the definition, because a tombstone that must not win stands behind it in jobs."
            },
            {
              "name": "droppedOffset",
              "type": "long",
              "default": -1,
              "doc": "Offset in jobs of the last definition that was dropped; -1: none since that in force."
            },
            {
              "name": "active",
              "doc": "Runs that have not ended.",
              "default": [],
              "type": {
                "type": "array",
                "items": {
                  "type": "record",
                  "name": "ActiveRun",
                  "fields": [
                    {
                      "name": "runNo",
                      "type": "long",
                      "doc": "Number of the run."
                    },
                    {
                      "name": "specOffset",
                      "type": "long",
                      "doc": "Definition it was made from."
                    },
                    {
                      "name": "scheduledFor",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "Nominal time."
                    },
                    {
                      "name": "trigger",
                      "type": {
                        "type": "enum",
                        "name": "Trigger",
                        "symbols": [
                          "SCHEDULE",
                          "MANUAL",
                          "REDRIVE",
                          "BACKFILL",
                          "FOLLOW_UP"
                        ]
                      },
                      "default": "SCHEDULE",
                      "doc": "What made the run."
                    },
                    {
                      "name": "commandId",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "With MANUAL: the command."
                    },
                    {
                      "name": "chainDepth",
                      "type": "int",
                      "default": 0,
                      "doc": "Runs that led to this one, each by onSuccess or onFailure of the one before."
                    },
                    {
                      "name": "chainLeft",
                      "type": "int",
                      "default": 5000,
                      "doc": "Runs that may still follow from this one, those that follow from its followers included."
                    },
                    {
                      "name": "status",
                      "type": {
                        "type": "enum",
                        "name": "RunStatus",
                        "symbols": [
                          "DISPATCHED",
                          "RUNNING",
                          "RETRY_WAIT",
                          "SUCCEEDED",
                          "FAILED",
                          "EXPIRED",
                          "CANCELLED",
                          "SKIPPED",
                          "DEAD",
                          "WAITING"
                        ]
                      },
                      "doc": "Where the run stands. WAITING: it has not been dispatched, because a limit does not let it go yet."
                    },
                    {
                      "name": "attempt",
                      "type": "int",
                      "doc": "Number of the current attempt."
                    },
                    {
                      "name": "releasedAttempts",
                      "type": "int",
                      "default": 0,
                      "doc": "Attempts given back by a stopping worker; they do not count against maxAttempts."
                    },
                    {
                      "name": "dueAt",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "When the current attempt must start; while RETRY_WAIT the end of the backoff, while WAITING for RATE the time that was reserved."
                    },
                    {
                      "name": "parked",
                      "type": "boolean",
                      "default": false,
                      "doc": "While RETRY_WAIT: the rest of the backoff is in the time index, no longer in a retry topic."
                    },
                    {
                      "name": "tellAt",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "unit": "epoch ms",
                      "doc": "Of a pinned run that is DISPATCHED: when its worker is told of it again, as long as it has not started it."
                    },
                    {
                      "name": "snapshot",
                      "type": "boolean",
                      "default": false,
                      "doc": "Whether key P holds the Execution that this run is dispatched from."
                    },
                    {
                      "name": "snapshotRunNo",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "doc": "With snapshot: the run number in key P, where several runs that were active while their definition was replaced share one. Null: its own."
                    },
                    {
                      "name": "startDeadlineAt",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "Until when the current attempt must have started."
                    },
                    {
                      "name": "leaseMs",
                      "type": "long",
                      "unit": "ms",
                      "doc": "As in the definition that made the run."
                    },
                    {
                      "name": "attemptTimeoutMs",
                      "type": "long",
                      "unit": "ms",
                      "doc": "As in the definition that made the run."
                    },
                    {
                      "name": "dispatchedAt",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "When the current attempt was dispatched."
                    },
                    {
                      "name": "startedAt",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "unit": "epoch ms",
                      "doc": "When the current attempt started."
                    },
                    {
                      "name": "worker",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "Who runs the current attempt."
                    },
                    {
                      "name": "waitsFor",
                      "default": null,
                      "doc": "While WAITING: SLOT, for a run of its concurrencyKey to end; RATE, for the start that its rateLimit gave it, with its slot held.",
                      "type": [
                        "null",
                        {
                          "type": "enum",
                          "name": "WaitReason",
                          "symbols": [
                            "SLOT",
                            "RATE"
                          ]
                        }
                      ]
                    },
                    {
                      "name": "limits",
                      "default": null,
                      "doc": "The limits it was made with: a redefinition must not unbalance what is counted. Null without any.",
                      "type": [
                        "null",
                        {
                          "type": "record",
                          "name": "RunLimits",
                          "fields": [
                            {
                              "name": "concurrencyKey",
                              "type": [
                                "null",
                                "string"
                              ],
                              "default": null,
                              "doc": "The key whose slot it takes."
                            },
                            {
                              "name": "concurrencyLimit",
                              "type": "int",
                              "default": 1,
                              "doc": "Slots of the key; while the definition has the same key, that of the definition counts."
                            },
                            {
                              "name": "rateKey",
                              "type": [
                                "null",
                                "string"
                              ],
                              "default": null,
                              "doc": "The key of its rateLimit."
                            },
                            {
                              "name": "rateLimit",
                              "type": "int",
                              "default": 1,
                              "doc": "As in the definition, which counts while it has the same key."
                            },
                            {
                              "name": "ratePerMs",
                              "type": "long",
                              "default": 1,
                              "unit": "ms",
                              "doc": "As in the definition, which counts while it has the same key."
                            },
                            {
                              "name": "rank",
                              "type": "int",
                              "default": 1,
                              "doc": "Its place among those that wait: 0 is HIGH, 1 NORMAL, 2 LOW."
                            },
                            {
                              "name": "startDeadlineMs",
                              "type": "long",
                              "unit": "ms",
                              "doc": "As in the definition: how long each attempt may take to start."
                            }
                          ]
                        }
                      ]
                    },
                    {
                      "name": "errors",
                      "default": [],
                      "doc": "The last five failed attempts.",
                      "type": {
                        "type": "array",
                        "items": {
                          "type": "record",
                          "name": "AttemptError",
                          "fields": [
                            {
                              "name": "attempt",
                              "type": "int",
                              "doc": "Number of the attempt."
                            },
                            {
                              "name": "at",
                              "type": "long",
                              "unit": "epoch ms",
                              "doc": "When it ended."
                            },
                            {
                              "name": "worker",
                              "type": [
                                "null",
                                "string"
                              ],
                              "default": null,
                              "doc": "Who ran it."
                            },
                            {
                              "name": "type",
                              "type": "string",
                              "doc": "Name of the error's class, or a code."
                            },
                            {
                              "name": "message",
                              "type": "string",
                              "doc": "At most 1,000 characters."
                            }
                          ]
                        }
                      }
                    }
                  ]
                }
              }
            },
            {
              "name": "lastRun",
              "default": null,
              "doc": "The run that ended last; older ones are in the R ring.",
              "type": [
                "null",
                {
                  "type": "record",
                  "name": "FinishedRun",
                  "fields": [
                    {
                      "name": "runNo",
                      "type": "long",
                      "doc": "Number of the run."
                    },
                    {
                      "name": "scheduledFor",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "Nominal time."
                    },
                    {
                      "name": "trigger",
                      "type": "Trigger",
                      "default": "SCHEDULE",
                      "doc": "What made the run."
                    },
                    {
                      "name": "commandId",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "With MANUAL: the command."
                    },
                    {
                      "name": "status",
                      "type": "RunStatus",
                      "doc": "How it ended. DISPATCHED: nobody knows, its definition has trackRuns false."
                    },
                    {
                      "name": "attempts",
                      "type": "int",
                      "doc": "Attempts made."
                    },
                    {
                      "name": "startedAt",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "unit": "epoch ms",
                      "doc": "When the last attempt started."
                    },
                    {
                      "name": "finishedAt",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "When the run ended; with DISPATCHED, when it was handed to the workers."
                    },
                    {
                      "name": "worker",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "Who ran the last attempt."
                    },
                    {
                      "name": "result",
                      "type": [
                        "null",
                        "bytes"
                      ],
                      "default": null,
                      "doc": "What the handler returned, as JSON."
                    },
                    {
                      "name": "note",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "What of its report was left out, and why."
                    },
                    {
                      "name": "errors",
                      "type": {
                        "type": "array",
                        "items": "AttemptError"
                      },
                      "default": [],
                      "doc": "The last five failed attempts."
                    },
                    {
                      "name": "hiddenHash",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "doc": "Hash of the headers and the http target of the definition that it was made with, 0 where it had neither: those who may only look are shown its words while the definition in force has the same. Null: not known."
                    }
                  ]
                }
              ]
            }
          ]
        }
      ]
    },
    {
      "name": "run",
      "type": [
        "null",
        "FinishedRun"
      ],
      "default": null,
      "doc": "Key R: a finished run that is no longer the last."
    },
    {
      "name": "snapshot",
      "type": [
        "null",
        "bytes"
      ],
      "default": null,
      "doc": "Key P: the framed Execution from which a run is dispatched again, kept while it is active when its definition was replaced or its payload overridden, and of a dead run for a redrive. Runs of one replaced definition share one."
    },
    {
      "name": "slots",
      "default": null,
      "doc": "Key C: what is taken of a concurrencyKey.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "KeySlots",
          "fields": [
            {
              "name": "held",
              "type": "int",
              "doc": "Runs that hold a slot."
            },
            {
              "name": "waiting",
              "type": "long",
              "default": 0,
              "doc": "Runs that wait for one."
            },
            {
              "name": "limit",
              "type": "int",
              "default": 1,
              "doc": "Slots that the key had when one was asked for last."
            }
          ]
        }
      ]
    },
    {
      "name": "starts",
      "default": null,
      "doc": "Key W: the last starts that were given under a rateLimit.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "KeyStarts",
          "fields": [
            {
              "name": "lastAt",
              "type": "long",
              "unit": "epoch ms",
              "doc": "The last of them."
            },
            {
              "name": "gaps",
              "type": {
                "type": "array",
                "items": "long"
              },
              "default": [],
              "unit": "ms",
              "doc": "How long before it the one before was, and so on backwards."
            },
            {
              "name": "limit",
              "type": "int",
              "doc": "The largest limit that was asked with: so many are kept."
            },
            {
              "name": "perMs",
              "type": "long",
              "unit": "ms",
              "doc": "The largest perMs that was asked with: none is kept longer."
            },
            {
              "name": "givenAt",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "The owner's clock when it gave the last of them; null in records of earlier versions."
            }
          ]
        }
      ]
    },
    {
      "name": "position",
      "default": null,
      "doc": "Key M position: the inputs that are part of this state. Last record of each transaction.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "Position",
          "fields": [
            {
              "name": "claimOffset",
              "type": "long",
              "doc": "Offset of the claim of the owner that wrote this."
            },
            {
              "name": "commandsOffset",
              "type": "long",
              "doc": "Next offset of job-commands."
            },
            {
              "name": "eventsOffset",
              "type": "long",
              "doc": "Next offset of execution-events."
            },
            {
              "name": "jobsOffset",
              "type": "long",
              "default": 0,
              "doc": "Next offset of jobs. Records before it that belong to another partition were moved there."
            },
            {
              "name": "committedAt",
              "type": "long",
              "unit": "epoch ms",
              "doc": "The owner's clock; of one claim each is later than the one before."
            },
            {
              "name": "aheadUntil",
              "type": "long",
              "default": 0,
              "unit": "epoch ms",
              "doc": "Latest due time in the ahead lanes. They are read in offset order, so nothing due earlier may be appended there."
            },
            {
              "name": "zoneRules",
              "type": "string",
              "default": "",
              "doc": "Version of the time zone rules, such as 2026a, that every next time in the partition stands by; empty while some may stand by others, until all were looked at."
            },
            {
              "name": "claimedAt",
              "type": "long",
              "default": 0,
              "unit": "epoch ms",
              "doc": "Of the claim at claimOffset: with it a position tells one claim from another where the topic was made anew. 0: an earlier version of this program."
            },
            {
              "name": "commandsUntil",
              "type": "long",
              "default": 0,
              "unit": "epoch ms",
              "doc": "Latest append time of the commands before commandsOffset, as far as the brokers give it; 0: not known, -1: what was decided was lost, -2: whether it was is not found out yet."
            },
            {
              "name": "commandsAnewTo",
              "type": "long",
              "default": 0,
              "doc": "Where job-commands was truncated or made anew: its end when that was noticed. A command before it that was appended by commandsUntil was taken already. 0: there is none."
            }
          ]
        }
      ]
    },
    {
      "name": "owner",
      "default": null,
      "doc": "Key M owner: who claimed the partition.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "Owner",
          "fields": [
            {
              "name": "instance",
              "type": "string",
              "doc": "host:pid:boot of the owner."
            },
            {
              "name": "claimedAt",
              "type": "long",
              "unit": "epoch ms",
              "doc": "The owner's clock; each claim is later than the one before."
            },
            {
              "name": "zoneRules",
              "type": "string",
              "default": "",
              "doc": "Version of the owner's time zone rules, such as 2026a; empty: an earlier version of this program."
            }
          ]
        }
      ]
    }
  ]
} as const

export const workerControlSchema = {
  "type": "record",
  "name": "WorkerControl",
  "namespace": "duelog",
  "doc": "What an owner tells every worker of one attempt. Key: job id. Each worker reads all of them, in a group of its own.",
  "fields": [
    {
      "name": "type",
      "type": {
        "type": "enum",
        "name": "WorkerControlType",
        "symbols": [
          "CANCEL",
          "RUN"
        ]
      },
      "doc": "CANCEL: the attempt shall not run, or not go on. RUN: the attempt is for the worker that `instance` names."
    },
    {
      "name": "jobId",
      "type": "string",
      "doc": "Id of the job."
    },
    {
      "name": "runNo",
      "type": "long",
      "doc": "Number of the run."
    },
    {
      "name": "attempt",
      "type": "int",
      "doc": "Number of the attempt; any other attempt of the run is left alone."
    },
    {
      "name": "specOffset",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "doc": "As in the execution. A job that was deleted and defined anew numbers its runs from 1 again; this tells its attempts from the earlier ones."
    },
    {
      "name": "reason",
      "type": "string",
      "default": "",
      "doc": "With CANCEL: why, for the handler and the worker's log."
    },
    {
      "name": "instance",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "With RUN: name or host of the worker, as in pinTo."
    },
    {
      "name": "execution",
      "type": [
        "null",
        "bytes"
      ],
      "default": null,
      "doc": "With RUN: the framed Execution."
    }
  ]
} as const
