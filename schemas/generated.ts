// Made by schemas/generate.ts from schemas/*.avsc: change those, then run `npm run generate`.

/** AuditChange */
export interface AuditChange {
  /** Path of the field, such as schedule.cron. */
  field: string
  /** Its value as JSON, with masks for credentials; null: it had its default, there was no job, or the write had no condition, so that nobody looked. Default: null. */
  before: string | null
  /** The new value; null: its default, or the job was deleted. Default: null. */
  after: string | null
}

/** AuditChange as a writer may give it: fields with a default may be left out. */
export interface AuditChangeInput {
  field: string
  before?: string | null | undefined
  after?: string | null | undefined
}

/** Who asked the API for a change, when, and its outcome. It holds no payload, credential or token. Key: the job id; none for a change of many jobs. */
export interface AuditEvent {
  /** When the API answered, by its clock. Unit: epoch ms. */
  at: number
  /** Name of the token, or its role if it has no name; the subject of a JWT; `local` without authentication. */
  actor: string
  /** Role of the actor; null without authentication. Default: null. */
  role: string | null
  /** The change that was asked for, such as PUT, DELETE or PAUSE. */
  action: string
  /** Id of the job; null for a change of many jobs. Default: null. */
  jobId: string | null
  /** Number of the run. Default: null. */
  runNo: number | null
  /** For a change of a pool or a worker: its name. For an operation: its id. Default: null. */
  target: string | null
  /** For a change of many: what chose its jobs or runs, as JSON. Null if their ids were given. Default: null. */
  filter: string | null
  /** For a change of many by ids, and for a batch: the first jobs, at most 1,000. Default: []. */
  jobIds: string[]
  /** What a definition changed, field by field, at most 50. Long values are cut. Default: []. */
  changes: AuditChange[]
  /** DONE, or the code of the error. */
  outcome: string
  /** HTTP status of the answer. */
  status: number
  /** Position of the definition that was written, `<partition>.<offset>`. Default: null. */
  version: string | null
  /** For a change of many: number of jobs or runs that were changed. Default: null. */
  done: number | null
  /** For a change of many: number of jobs or runs that were not changed. Default: null. */
  refused: number | null
  /** Id of the request in the log of the server. Default: "". */
  requestId: string
  /** Network address of the client. Default: "". */
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
  target?: string | null | undefined
  filter?: string | null | undefined
  jobIds?: string[] | undefined
  changes?: AuditChangeInput[] | undefined
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
  /** Worker that ran it. Default: null. */
  worker: string | null
  /** Name of the error's class, or a code. */
  type: string
  /** At most 1,000 characters. */
  message: string
  /** When the attempt was due. Unit: epoch ms. */
  dueAt: number
  /** When the attempt was dispatched. Unit: epoch ms. */
  dispatchedAt: number
  /** When the attempt started; null if it did not, or if it is unknown. Unit: epoch ms. Default: null. */
  startedAt: number | null
  /** Stack of the error, at most 2,000 characters. Only the last error of a run has one. Default: null. */
  stack: string | null
}

/** AttemptError as a writer may give it: fields with a default may be left out. */
export interface AttemptErrorInput {
  attempt: number
  at: number
  worker?: string | null | undefined
  type: string
  message: string
  dueAt: number
  dispatchedAt: number
  startedAt?: number | null | undefined
  stack?: string | null | undefined
}

/** A run that used up its attempts, or failed with an error that is not retried. Key: job id. */
export interface DeadLetter {
  /** The Execution of the last attempt in the Confluent wire format. */
  execution: Buffer
  /** Id of the job. */
  jobId: string
  /** Number of the run. */
  runNo: number
  /** Attempts that started. */
  attempts: number
  /** When the owner decided that the run is dead. Unit: epoch ms. */
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

/** A run that has ended, written in the transaction that ends it, once for each run; or occurrences that were skipped. Flat, so that ksqlDB, Connect and any Avro client can read it. It holds no payload and no header. Key: job id. */
export interface EndedRun {
  /** Id of the job. */
  jobId: string
  /** Number of the run; 0 for skipped occurrences, which have no run. */
  runNo: number
  /** Identifies the life of the job, as in Executions. jobId, life and runNo together identify the run. */
  life: string
  /** SUCCEEDED, DEAD, EXPIRED or CANCELLED. SKIPPED: occurrences that made no run, by the reason; scheduledFor is the first of them. Later versions may have others. */
  outcome: string
  /** A stable word if the outcome does not say why, such as attempts, overlap or deleted. Default: null. */
  reason: string | null
  /** Cause of the run: SCHEDULE, MANUAL, REDRIVE, BACKFILL or FOLLOW_UP. Default: "SCHEDULE". */
  trigger: string
  /** The command that asked for the run. Default: null. */
  commandId: string | null
  /** Handler of the run; `http` for an HTTP request. Null: its target is a topic, or the definition that made it is no longer known. Default: null. */
  handler: string | null
  /** Topic that the run wrote to, if its target is a topic. Default: null. */
  topic: string | null
  /** Pool of the workers; null if its target is a topic, or if it is unknown. Default: null. */
  pool: string | null
  /** Tags of the job when the run ended. Default: []. */
  tags: string[]
  /** Nominal time. Unit: epoch ms. */
  scheduledFor: number
  /** When the last attempt was due. Unit: epoch ms. Default: null. */
  dueAt: number | null
  /** When the last attempt started; null if it did not, or if it is unknown. Unit: epoch ms. Default: null. */
  startedAt: number | null
  /** When the run ended. With DISPATCHED: when it was dispatched. Unit: epoch ms. */
  finishedAt: number
  /** Attempts that started. */
  attempts: number
  /** Worker that ran the last attempt. Default: null. */
  worker: string | null
  /** Name of the last error's class, or a code; null for a run that succeeded or that never failed. Default: null. */
  errorType: string | null
  /** Message of that error, at most 1,000 characters. Default: null. */
  errorMessage: string | null
  /** Value that the handler returned, as JSON; null if it has more than 4,096 bytes. Default: null. */
  result: Buffer | null
  /** Length of the value that the handler returned; 0 if there is none. Unit: bytes. Default: 0. */
  resultBytes: number
  /** Parts of the report that were left out, and why. With SKIPPED: the number of occurrences if there are several, such as `60 occurrences`. Default: null. */
  note: string | null
  /** Whether the definition of the run had headers or an HTTP target, or is unknown. Then errorMessage, result and note may repeat credentials, which viewers of the API do not see. Default: true. */
  mayHoldSecrets: boolean
  /** W3C trace context of the run: that of its handler, or of its record for a target topic, if they were traced. Otherwise the header `traceparent` of the definition, if it is valid. Default: null. */
  traceparent: string | null
}

/** EndedRun as a writer may give it: fields with a default may be left out. */
export interface EndedRunInput {
  jobId: string
  runNo: number
  life: string
  outcome: string
  reason?: string | null | undefined
  trigger?: string | undefined
  commandId?: string | null | undefined
  handler?: string | null | undefined
  topic?: string | null | undefined
  pool?: string | null | undefined
  tags?: string[] | undefined
  scheduledFor: number
  dueAt?: number | null | undefined
  startedAt?: number | null | undefined
  finishedAt: number
  attempts: number
  worker?: string | null | undefined
  errorType?: string | null | undefined
  errorMessage?: string | null | undefined
  result?: Buffer | null | undefined
  resultBytes?: number | undefined
  note?: string | null | undefined
  mayHoldSecrets?: boolean | undefined
  traceparent?: string | null | undefined
}

export type ExecutionEventType = 'STARTED' | 'HEARTBEAT' | 'SUCCEEDED' | 'FAILED' | 'RELEASED' | 'RETRY_DUE'

/** RunError */
export interface RunError {
  /** Name of the error's class, or a code. */
  type: string
  /** Message of the error. */
  message: string
  /** Stack of the error. The state of the job keeps its first 2,000 characters. Default: null. */
  stack: string | null
  /** False: the run becomes a dead letter at once. Default: true. */
  retryable: boolean
  /** Delay before the next attempt, chosen by the handler. It replaces the backoff. Unit: ms. Default: null. */
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

/** A report of a worker or of the retry forwarder to the owner of the job's partition. Key: job id; partition: that of the execution. */
export interface ExecutionEvent {
  /** STARTED: accepted and running. HEARTBEAT: alive. SUCCEEDED, FAILED: the attempt ended. RELEASED: the worker gives an attempt back unfinished. RETRY_DUE: the delay of a record in a delay topic is over. */
  type: ExecutionEventType
  /** As in the execution. */
  jobId: string
  /** As in the execution. */
  runNo: number
  /** As in the execution. With RETRY_DUE: the next attempt. */
  attempt: number
  /** As in the execution. */
  specOffset: number
  /** Time of the report, by the reporter's clock. Unit: epoch ms. */
  at: number
  /** name@host:pid:boot of the reporter. Default: "". */
  worker: string
  /** When the handler was started. Set on STARTED, SUCCEEDED and FAILED, because a quick run sends only its last event. Unit: epoch ms. Default: null. */
  startedAt: number | null
  /** With SUCCEEDED: the value that the handler returned, as JSON. A value over the limit is left out; the run still succeeds. Default: null. */
  result: Buffer | null
  /** With FAILED: the error. Default: null. */
  error: RunError | null
  /** With STARTED and HEARTBEAT: share of the work that is done. Default: null. */
  progress: number | null
  /** With STARTED and HEARTBEAT: text of the handler about its progress. With SUCCEEDED: why its result was left out; the run keeps it as its note. Default: null. */
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
  /** URL of the request. It must not contain a user or password; use headers. */
  url: string
  /** Method of the request. Default: "POST". */
  method: HttpMethod
  /** Headers of the request, in addition to those of the definition and those of Duelog. Default: {}. */
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
  /** Key of the record. Default: the job id. Default: null. */
  key: Buffer | null
  /** Partition of the record. Default: the choice of Kafka's default partitioner (murmur2) for the key. Default: null. */
  partition: number | null
}

/** TopicTarget as a writer may give it: fields with a default may be left out. */
export interface TopicTargetInput {
  name: string
  key?: Buffer | null | undefined
  partition?: number | null | undefined
}

export type CauseOutcome = 'SUCCEEDED' | 'DEAD' | 'EXPIRED'

/** The run whose end triggered a follow-up. */
export interface Cause {
  /** Id of its job. */
  jobId: string
  /** Number of the run. */
  runNo: number
  /** Life of its job. */
  life: string
  /** How it ended. */
  outcome: CauseOutcome
  /** Its nominal time. Unit: epoch ms. */
  scheduledFor: number
  /** When it ended. Unit: epoch ms. */
  finishedAt: number
  /** Type of its last error; null if it has none. Default: null. */
  errorType: string | null
  /** Message of its last error, at most 1,000 characters. Default: null. */
  errorMessage: string | null
  /** Value that its handler returned, as JSON. Default: null. */
  result: Buffer | null
}

/** Cause as a writer may give it: fields with a default may be left out. */
export interface CauseInput {
  jobId: string
  runNo: number
  life: string
  outcome: CauseOutcome
  scheduledFor: number
  finishedAt: number
  errorType?: string | null | undefined
  errorMessage?: string | null | undefined
  result?: Buffer | null | undefined
}

/** One attempt of one run, dispatched to a pool of workers. Key: job id. jobId, runNo and life identify the run; attempt is its fencing token. */
export interface Execution {
  /** Id of the job. */
  jobId: string
  /** Number of the run; each job counts from 1 without gaps. */
  runNo: number
  /** Number of the attempt, from 1. */
  attempt: number
  /** Identifies the life of the job, because run numbers start at 1 again after a deletion. The identity of the run is jobId/runNo@life. */
  life: string
  /** Offset in jobs of the definition that made this run. Events must repeat it. */
  specOffset: number
  /** Name of the handler. */
  handler: string
  /** Nominal time of the occurrence. Unit: epoch ms. */
  scheduledFor: number
  /** When this attempt must start: the nominal time, or the end of the backoff. A worker holds the record until then. Unit: epoch ms. */
  dueAt: number
  /** When the owner decided to dispatch. Unit: epoch ms. */
  dispatchedAt: number
  /** Cause of the run. Default: "SCHEDULE". */
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
  /** A worker that cannot start the attempt by then drops it. The owner records it as EXPIRED. Unit: epoch ms. */
  startDeadlineAt: number
  /** As in the definition. If set, the execution is sent on worker-control, and only the worker with this name or on this host runs it. Default: null. */
  pinTo: string | null
  /** With an http target: the request that the handler `http` sends. Default: null. */
  httpTarget: HttpTarget | null
  /** Only in a snapshot: the topic to which the owner writes the run. Default: null. */
  topicTarget: TopicTarget | null
  /** The number of the priority, 0 to 9; 9 goes first. Null: HIGH is 8, NORMAL 4, LOW 1. Default: null. */
  priorityLevel: number | null
  /** With FOLLOW_UP: the run that it follows. Default: null. */
  cause: Cause | null
}

/** Execution as a writer may give it: fields with a default may be left out. */
export interface ExecutionInput {
  jobId: string
  runNo: number
  attempt: number
  life: string
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
  httpTarget?: HttpTargetInput | null | undefined
  topicTarget?: TopicTargetInput | null | undefined
  priorityLevel?: number | null | undefined
  cause?: CauseInput | null | undefined
}

export type JobCommandType = 'TRIGGER' | 'PAUSE' | 'RESUME' | 'CANCEL' | 'CANCEL_RUN' | 'REDRIVE' | 'BACKFILL'

/** A command of an operator for one job. Key: job id. If a command is refused, the reason is at /v1/jobs/{id}/why, and in the reply topic that the command names. */
export interface JobCommand {
  /** TRIGGER: one run now, in addition to the schedule. PAUSE: no occurrence fires. RESUME: occurrences fire again; catchUp applies to those that were due during the pause. CANCEL: ends all runs and the job. CANCEL_RUN: ends one run, or, with `from` in place of `runNo`, skips the next occurrence. REDRIVE: repeats a dead run as a new run; the next attempt of a run in RETRY_WAIT begins now. BACKFILL: one run for each occurrence of a past range; with `discard`, the end of the one that is in progress. */
  type: JobCommandType
  /** Chosen by the sender. A command does nothing if its commandId was that of one of the last 32 commands of the job, of an active run or of the last run. This holds also if the first command was refused. */
  commandId: string
  /** Time of the command, by the sender's clock. Unit: epoch ms. */
  at: number
  /** With TRIGGER: payload of this run, in place of the definition's payload. Default: null. */
  payload: Buffer | null
  /** With TRIGGER: the recorded cause of the run, MANUAL or FOLLOW_UP. Other values are refused. Default: "MANUAL". */
  trigger: Trigger
  /** With CANCEL_RUN and REDRIVE: number of the run. Default: null. */
  runNo: number | null
  /** With BACKFILL: first nominal time, inclusive. With CANCEL_RUN and without runNo: nominal time of the next occurrence, which is skipped. Unit: epoch ms. Default: null. */
  from: number | null
  /** With BACKFILL: end of the range, exclusive; not in the future. Unit: epoch ms. Default: null. */
  to: number | null
  /** With FOLLOW_UP: number of runs that led to this one, each by onSuccess or onFailure of the run before it. Default: 0. */
  chainDepth: number
  /** With FOLLOW_UP: number of runs that may still follow from this one, directly and indirectly. Default: 5000. */
  chainLeft: number
  /** With FOLLOW_UP: the run that it follows. Default: null. */
  cause: Cause | null
  /** Who sent the command. Default: null. */
  actor: string | null
  /** With CANCEL_RUN: the run is dead and is discarded. It keeps its record, and no longer counts as dead. With BACKFILL: the one in progress makes no further runs; those that it has made go on. Default: false. */
  discard: boolean
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
  cause?: CauseInput | null | undefined
  actor?: string | null | undefined
  discard?: boolean | undefined
}

export type IntervalFrom = 'START' | 'END'

export type DstGap = 'NEXT_VALID' | 'SKIP' | 'SHIFT'

export type DstOverlap = 'FIRST' | 'LAST' | 'BOTH'

/** Schedule */
export interface Schedule {
  /** One run at this instant. An instant in the past is due at once. Unit: epoch ms. Default: null. */
  at: number | null
  /** One run, this long after the broker appended the definition, but not before startAt. Unit: ms. Default: null. */
  delayMs: number | null
  /** A run every everyMs milliseconds, counted from the anchor. Unit: ms. Default: null. */
  everyMs: number | null
  /** With everyMs: an instant to which the runs are aligned. Default: the broker's append time of the definition; the first run is then one interval later. Unit: epoch ms. Default: null. */
  anchor: number | null
  /** With everyMs: START counts from the last nominal time, END from the end of the last run. Default: "START". */
  from: IntervalFrom
  /** A cron expression with 5 fields, or with 6 fields and seconds first. It may use names, lists, ranges, steps, ?, L, W, #, and @daily and the other @ names. Default: null. */
  cron: string | null
  /** With cron and rrule: the IANA time zone of the rule. Default: "UTC". */
  timezone: string
  /** A recurrence rule of RFC 5545, such as FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1. INTERVAL is at most 100,000 and COUNT at most 10,000; for more, use UNTIL or maxRuns. The search for its first time ends after 100,000 steps; a step looks at one day. Default: null. */
  rrule: string | null
  /** With rrule: start of the rule, in whole seconds. The day and the time of day that the rule does not name are taken from it. It is an occurrence only if it matches the rule. Default: startAt, rounded up to a second; without startAt the broker's append time of the definition, rounded down. Unit: epoch ms. Default: null. */
  dtstart: number | null
  /** With cron, rrule and everyMs (from START): instants at which the job does not fire, in whole seconds with cron and rrule. COUNT still counts them. Unit: epoch ms. Default: []. */
  exdates: number[]
  /** With cron and rrule: treatment of a local time that daylight saving leaves out. NEXT_VALID: it is due once, at the first instant after the gap. SKIP: it is not due. SHIFT: it is due as long after the start of the gap as it would be without the gap. Default: "NEXT_VALID". */
  dstGap: DstGap
  /** With cron and rrule: a local time that occurs twice is due at the FIRST, the LAST or BOTH of its instants. Default: "FIRST". */
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
  /** The owner writes payload and headers to this topic when the job is due: exactly once, without a worker, and never before its time. While the topic is missing or not allowed, the job is INVALID. The owner checks this again after 5 s, then at growing intervals up to 10 min. Default: null. */
  topic: TopicTarget | null
  /** A worker of the pool sends the payload in an HTTP request, at least once (built-in handler `http`). Default: null. */
  http: HttpTarget | null
  /** With handler and http: the pool of workers that runs it. Each pool has its own executions topics. Default: "default". */
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
  /** Length of one step. Unit: ms. */
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
  /** One delay for each retry; the last delay repeats. Empty: not set. Unit: ms. Default: []. */
  list: number[]
  /** The same delay for each retry. Default: null. */
  fixed: FixedBackoff | null
  /** The n-th retry waits n × stepMs. Default: null. */
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
  /** Attempts of one run, including the first. After the last failure the run becomes a dead letter. Default: 5. */
  maxAttempts: number
  /** Delay before the next attempt. Exactly one of its fields is set. Default: {"list":[1000,5000,30000,120000,600000],"fixed":null,"linear":null,"exponential":null}. */
  backoff: Backoff
  /** The run is not retried if its next attempt would be due more than maxAgeMs after its nominal time. What it has waited counts: for a limit, a paused pool, or as a follow-up. It does not apply to redriven runs and to those of a backfill. Unit: ms. Default: null. */
  maxAgeMs: number | null
  /** Share of the delay that is random. It is chosen from the hash of job id, run and attempt, so a replay chooses the same. Default: 0. */
  jitter: number
  /** Error types that are not retried: the run becomes a dead letter at once. Default: []. */
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
  /** Key of the limit. At most 256 bytes, no control characters. */
  key: string
  /** The largest number of attempts of the key that start within any perMs. A further attempt is WAITING until its time. It expires if its time is after its start deadline. */
  limit: number
  /** Length of the window, which may begin at any instant. Unit: ms. */
  perMs: number
}

/** RateLimit as a writer may give it: fields with a default may be left out. */
export interface RateLimitInput {
  key: string
  limit: number
  perMs: number
}

/** Definition of a job: when it is due, what runs, and what happens after a failure. The key of the record is the job id; a null value deletes the job. */
export interface JobDefinition {
  /** When the job is due. Exactly one of at, delayMs, everyMs, cron and rrule is set. */
  schedule: Schedule
  /** Each run is due later than its nominal time by up to jitterMs, and always before the next nominal time. The delay is chosen from the hash of job id and nominal time, so a replay chooses the same. scheduledFor stays nominal. Unit: ms. Default: 0. */
  jitterMs: number
  /** What runs. Exactly one of handler, topic and http is set. */
  target: Target
  /** Bytes that the handler receives unchanged. Default: null. */
  payload: Buffer | null
  /** Media type of the payload. application/json is parsed for the handler; the API and the library set it for a payload without one. Default: null. */
  contentType: string | null
  /** Headers that the handler receives unchanged. Default: {}. */
  headers: Record<string, Buffer>
  /** HIGH, NORMAL, LOW, or a number from 0 to 9. 9 goes first; HIGH is 8, NORMAL 4 and LOW 1. 7 to 9, 3 to 6 and 0 to 2 are dispatched in one topic each. A worker without free capacity starts runs of a higher priority first, then those with fewer attempts; every 16th start is of the run that has been due longest among the others. Default: "NORMAL". */
  priority: Priority
  /** Only the worker with this name, or one on the host with this name, runs the job. Without such a worker the run waits until its start deadline and expires. A worker that comes back receives the run within seconds. If the schedulers cannot see the workers, it takes as long as the worker was away, at most 10 min. Default: null. */
  pinTo: string | null
  /** What happens when an attempt fails. Default: {"maxAttempts":5,"backoff":{"list":[1000,5000,30000,120000,600000],"fixed":null,"linear":null,"exponential":null},"maxAgeMs":null,"jitter":0,"nonRetryable":[]}. */
  retry: Retry
  /** Longest duration of one attempt. Then its signal is aborted and the attempt counts as failed. Unit: ms. Default: 300000. */
  attemptTimeoutMs: number
  /** A running attempt that sends no report for leaseMs is lost. Another worker gets the next attempt. Unit: ms. Default: 30000. */
  leaseMs: number
  /** A run expires if no worker has started it within startDeadlineMs after its due time, or after its dispatch if that was later. It also expires ten minutes before retention may delete it from its executions topic (retention.ms, default 7 days), but not within the first hour. Unit: ms. Default: 86400000. */
  startDeadlineMs: number
  /** Occurrences that are late by more than misfireThresholdMs. SKIP: none of them runs. LATEST: the latest runs. ALL: all run, up to catchUpMax. Default: "LATEST". */
  catchUp: CatchUp
  /** With catchUp ALL: the largest number of missed occurrences that run. Older ones are skipped and counted. Default: 100. */
  catchUpMax: number
  /** An occurrence that fires later than this is a misfire. Unit: ms. Default: 1000. */
  misfireThresholdMs: number
  /** An occurrence is due while an earlier run is still active. ALLOW: both run. SKIP: the occurrence is skipped. QUEUE_ONE: the first such occurrence waits, and runs when the other run has ended. CANCEL_PREVIOUS: all active runs are cancelled, also follow-ups and those by command. Default: "ALLOW". */
  overlap: Overlap
  /** The largest number of active runs of the job, from any cause. A run that waits for a slot or for a start of its rateLimit is active. A TRIGGER or a REDRIVE above the limit is refused and shown at /why; follow-ups wait, at most 64 MiB of them. With overlap ALLOW a further occurrence is skipped and counted; with catchUp ALL it waits until a run ends. Default: 16. */
  maxConcurrentRuns: number
  /** Jobs with the same key share concurrencyLimit. The limit is exact among the jobs of one partition: give their ids one {tag}. At most 256 bytes, no control characters. For handlers and HTTP only. Default: null. */
  concurrencyKey: string | null
  /** With concurrencyKey: the largest number of runs of the key that are dispatched and have not ended. A further run is WAITING. Waiting runs are dispatched by priority, then by attempts, then by due time; every 16th because it has been due longest. Default: 1. */
  concurrencyLimit: number
  /** Jobs with the same rateLimit.key share a rate of starts. The rate holds among the jobs of one partition: give their ids one {tag}. Default: null. */
  rateLimit: RateLimit | null
  /** No occurrence is due before this instant. Unit: epoch ms. Default: null. */
  startAt: number | null
  /** No occurrence is due after this instant. Then the job is COMPLETED. Unit: epoch ms. Default: null. */
  endAt: number | null
  /** End of validity, exclusive. From this instant no occurrence fires, not even one that was due before. A run that has not started expires, and TRIGGER, REDRIVE and BACKFILL are refused. Unit: epoch ms. Default: null. */
  expireAt: number | null
  /** Number of scheduled runs after which the job is COMPLETED. Default: null. */
  maxRuns: number | null
  /** True: the job does not fire until it is resumed. Default: false. */
  paused: boolean
  /** Version chosen by the writer. A definition with a lower version than the one in force is dropped. A definition without a version is always accepted. Default: null. */
  version: number | null
  /** A definition of this job with the same key as the one in force is acknowledged and dropped if it was appended within dedupWindowMs after it. Default: null. */
  dedupKey: string | null
  /** With dedupKey: length of the window. Unit: ms. Default: 0. */
  dedupWindowMs: number
  /** Ids of other jobs that are triggered when a run of this job succeeds. At most 5,000 runs follow from one run, over at most 32 generations. Beyond that no job is triggered, and its /why says so. The run that follows has the id, outcome, error and result of this one as its cause. Default: []. */
  onSuccess: string[]
  /** Ids of other jobs that are triggered when a run of this job is dead or expires. The limits of onSuccess apply. Default: []. */
  onFailure: string[]
  /** Words by which the job can be found. Default: []. */
  tags: string[]
  /** A completed job whose last run succeeded is deleted after retainCompletedMs. Unit: ms. Default: 3600000. */
  retainCompletedMs: number
  /** A completed job whose last run failed, expired or is dead is deleted after retainFailedMs. Unit: ms. Default: 259200000. */
  retainFailedMs: number
  /** The number of the priority. Null: that of the word. In JSON it is priority. Default: null. */
  priorityLevel: number | null
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
  priorityLevel?: number | null | undefined
}

export type JobStatus = 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'INVALID'

/** DecidedTime */
export interface DecidedTime {
  /** The nominal time. Unit: epoch ms. */
  at: number
  /** Local time minus UTC at that time, by the zone rules at the decision. Unit: ms. */
  offsetMs: number
}

/** DecidedTime as a writer may give it: fields with a default may be left out. */
export interface DecidedTimeInput {
  at: number
  offsetMs: number
}

/** Backfill */
export interface Backfill {
  /** commandId of the BACKFILL. */
  commandId: string
  /** Nominal time of its next run. Unit: epoch ms. */
  nextAt: number
  /** End of the range, exclusive. Unit: epoch ms. */
  to: number
  /** Begin of the range, inclusive. Unit: epoch ms. Default: 0. */
  from: number
  /** Runs that it has made. Default: 0. */
  made: number
}

/** Backfill as a writer may give it: fields with a default may be left out. */
export interface BackfillInput {
  commandId: string
  nextAt: number
  to: number
  from?: number | undefined
  made?: number | undefined
}

/** FollowUpQueue */
export interface FollowUpQueue {
  /** Number of the page with the one that goes first. */
  firstPage: number
  /** Follow-ups of that page that have left the queue. */
  taken: number
  /** Number of the page that takes the next one. */
  lastPage: number
  /** Follow-ups that wait. */
  count: number
  /** Their size. */
  bytes: number
  /** Since when there is a place for the first one. Null: there is none. Unit: epoch ms. Default: null. */
  lookAt: number | null
}

/** FollowUpQueue as a writer may give it: fields with a default may be left out. */
export interface FollowUpQueueInput {
  firstPage: number
  taken: number
  lastPage: number
  count: number
  bytes: number
  lookAt?: number | null | undefined
}

export type RefusalKind = 'SKIPPED' | 'QUEUED' | 'WAITING' | 'EXPIRED' | 'CANCELLED' | 'DROPPED' | 'DEAD'

/** Refusal */
export interface Refusal {
  /** When the owner decided. Unit: epoch ms. */
  at: number
  /** SKIPPED, QUEUED and WAITING: an occurrence. EXPIRED, CANCELLED and DEAD: a run. DROPPED: a definition or command. */
  what: RefusalKind
  /** A stable word, such as overlap or catch-up. */
  reason: string
  /** Nominal time of the occurrence, or of the first one. Unit: epoch ms. Default: null. */
  scheduledFor: number | null
  /** Number of the run. Default: null. */
  runNo: number | null
  /** Number of consecutive decisions with the same reason. Default: 1. */
  count: number
  /** With DROPPED: the command; null if it was a follow-up. Default: null. */
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
  /** Key whose slot the run takes. Default: null. */
  concurrencyKey: string | null
  /** Slots of the key. The value of the definition applies while it has the same key. Default: 1. */
  concurrencyLimit: number
  /** Key of its rateLimit. Default: null. */
  rateKey: string | null
  /** As in the definition, whose value applies while it has the same key. Default: 1. */
  rateLimit: number
  /** As in the definition, whose value applies while it has the same key. Unit: ms. Default: 1. */
  ratePerMs: number
  /** Priority among waiting runs: 0 is HIGH, 1 NORMAL, 2 LOW. Default: 1. */
  rank: number
  /** As in the definition: longest wait of each attempt for its start. Unit: ms. */
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
  /** Offset in jobs of the definition that made the run. */
  specOffset: number
  /** Nominal time. Unit: epoch ms. */
  scheduledFor: number
  /** Cause of the run. Default: "SCHEDULE". */
  trigger: Trigger
  /** With MANUAL: the command. Default: null. */
  commandId: string | null
  /** Number of runs that led to this one, each by onSuccess or onFailure of the run before it. Default: 0. */
  chainDepth: number
  /** Number of runs that may still follow from this one, directly and indirectly. Default: 5000. */
  chainLeft: number
  /** Status of the run. WAITING: a limit delays its dispatch. */
  status: RunStatus
  /** Number of the current attempt. */
  attempt: number
  /** Attempts that stopping workers gave back. They do not count against maxAttempts. Default: 0. */
  releasedAttempts: number
  /** Attempts before the current one that did not start, because their worker stopped, their pool was paused or their handler was missing. Default: 0. */
  unstartedAttempts: number
  /** When the current attempt must start. In RETRY_WAIT: the end of the backoff. In WAITING with RATE: the reserved time. Unit: epoch ms. */
  dueAt: number
  /** In RETRY_WAIT: the time index ends the wait, at dueAt. Otherwise the retry topic does, and the time index only guards it. Default: false. */
  parked: boolean
  /** When a run that was sent to one worker is sent again if that worker has not started it. In RETRY_WAIT: when it is checked again whether a worker has the handler. Unit: epoch ms. Default: null. */
  tellAt: number | null
  /** In DISPATCHED: the worker that the run was sent to, because other workers of its pool do not have its handler. Null: any worker of the pool takes it, or the one of pinTo. Default: null. */
  routedTo: string | null
  /** Since when the run waits for a worker that has its handler. Null: it does not. Unit: epoch ms. Default: null. */
  handlerMissingAt: number | null
  /** Since when the run waits because its pool is paused or drained. Null: it does not. Unit: epoch ms. Default: null. */
  poolPausedAt: number | null
  /** Whether key P holds the Execution of this run. Default: false. */
  snapshot: boolean
  /** With snapshot: run number in key P if several runs share one snapshot, because their definition was replaced while they were active. Null: the run's own number. Default: null. */
  snapshotRunNo: number | null
  /** Latest start of the current attempt. Unit: epoch ms. */
  startDeadlineAt: number
  /** As in the definition that made the run. Unit: ms. */
  leaseMs: number
  /** As in the definition that made the run. Unit: ms. */
  attemptTimeoutMs: number
  /** When the current attempt was dispatched. Unit: epoch ms. */
  dispatchedAt: number
  /** When the current attempt started. Unit: epoch ms. Default: null. */
  startedAt: number | null
  /** Worker that runs the current attempt. Default: null. */
  worker: string | null
  /** In WAITING. SLOT: it waits until a run of its concurrencyKey ends. RATE: it holds its slot and waits for the start time that its rateLimit reserved. Default: null. */
  waitsFor: WaitReason | null
  /** Limits at the time the run was made, so a new definition does not change the counts. Null: no limits. Default: null. */
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
  unstartedAttempts?: number | undefined
  dueAt: number
  parked?: boolean | undefined
  tellAt?: number | null | undefined
  routedTo?: string | null | undefined
  handlerMissingAt?: number | null | undefined
  poolPausedAt?: number | null | undefined
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
  /** Cause of the run. Default: "SCHEDULE". */
  trigger: Trigger
  /** With MANUAL: the command. Default: null. */
  commandId: string | null
  /** How the run ended. */
  status: RunStatus
  /** Number of the last attempt. */
  attempts: number
  /** How many of these attempts did not start. Default: 0. */
  unstartedAttempts: number
  /** When the last attempt started. Unit: epoch ms. Default: null. */
  startedAt: number | null
  /** When the run ended. Unit: epoch ms. */
  finishedAt: number
  /** Worker that ran the last attempt. Default: null. */
  worker: string | null
  /** Value that the handler returned, as JSON. Default: null. */
  result: Buffer | null
  /** Parts of the report that were left out, and why. Default: null. */
  note: string | null
  /** The last five failed attempts. Default: []. */
  errors: AttemptError[]
  /** Hash of the headers and the http target of the run's definition; 0 without both. A viewer sees the texts of this run only while the definition in force has the same hash. Null: unknown. Default: null. */
  hiddenHash: number | null
  /** Offset in jobs of the definition that the run was made from. */
  specOffset: number
  /** When the last attempt was due. A wait for a limit counts as before it. Unit: epoch ms. */
  dueAt: number
  /** When the last attempt was dispatched. Unit: epoch ms. */
  dispatchedAt: number
  /** Whether its input was kept apart from its definition, such as the payload of a command or the input of a dead run. */
  hasOwnInput: boolean
}

/** FinishedRun as a writer may give it: fields with a default may be left out. */
export interface FinishedRunInput {
  runNo: number
  scheduledFor: number
  trigger?: Trigger | undefined
  commandId?: string | null | undefined
  status: RunStatus
  attempts: number
  unstartedAttempts?: number | undefined
  startedAt?: number | null | undefined
  finishedAt: number
  worker?: string | null | undefined
  result?: Buffer | null | undefined
  note?: string | null | undefined
  errors?: AttemptErrorInput[] | undefined
  hiddenHash?: number | null | undefined
  specOffset: number
  dueAt: number
  dispatchedAt: number
  hasOwnInput: boolean
}

/** JobState */
export interface JobState {
  /** ACTIVE: it fires. PAUSED: it does not fire until it is resumed. COMPLETED: it has no further occurrence. INVALID: its definition was refused. */
  status: JobStatus
  /** Offset in jobs of the last definition that is part of this state. */
  specOffset: number
  /** Identifies the life of the job: offset and append time of the definition in force at the first decision. A job that is deleted and defined again has another value. */
  life: string
  /** Append time from which delays and intervals without an anchor are counted. A new definition with the same schedule keeps it. Unit: epoch ms. Default: 0. */
  anchorAt: number
  /** Hash of the schedule and its window. A new definition with the same hash keeps the times. Default: 0. */
  timesHash: number
  /** Nominal time of the next occurrence; null if there is none. Unit: epoch ms. Default: null. */
  nextFireAt: number | null
  /** With jitterMs: due time of the next occurrence, including its jitter; null if it equals nextFireAt. Unit: epoch ms. Default: null. */
  nextDueAt: number | null
  /** Latest nominal time that became a run, however that run ended. No definition makes an occurrence up to this time due again. With a schedule of one instant: that instant. Unit: epoch ms. Default: null. */
  latestFiredFor: number | null
  /** With cron or rrule: the last nominal time that was decided. nextFireAt follows it, and is computed from it again when the rules of the time zone change (ADR 0040). Null: nextFireAt is the first time of the schedule. Default: null. */
  decidedFor: DecidedTime | null
  /** Number of the last run. Default: 0. */
  runNo: number
  /** Runs made by the schedule. maxRuns limits them. Default: 0. */
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
  /** While the job is INVALID because its topic cannot be written: time of the next check. Unit: epoch ms. Default: null. */
  recheckAt: number | null
  /** With overlap QUEUE_ONE: nominal time of the occurrence that waits for the active run to end. Unit: epoch ms. Default: null. */
  queuedFor: number | null
  /** The past range that is in progress. Default: null. */
  backfill: Backfill | null
  /** Follow-ups that wait until the job has fewer than maxConcurrentRuns active runs. Null: none waits. Default: null. */
  followUps: FollowUpQueue | null
  /** Dead runs that can be redriven, oldest first: the last ten, and up to 1,000 while their inputs and ends are at most about 4 MiB. Key P holds them. Default: []. */
  deadRuns: number[]
  /** Dead runs that can no longer be redriven, because deadRuns had no room for them. Default: 0. */
  deadRunsDropped: number
  /** Decisions not to fire, or not to fire yet, oldest first. The last twelve, in addition to the refusals of recentCommands. Default: []. */
  decisions: Refusal[]
  /** Whether the next occurrence is due and waits for an active run to end. This happens with catchUp ALL when the job has maxConcurrentRuns active runs, and when runs of a backfill or a redrive are in its place. Default: false. */
  waiting: boolean
  /** Whether a PAUSE is in force. It stays in force with new definitions, including invalid ones, until a RESUME. Default: false. */
  pausedByCommand: boolean
  /** Hashes of the commandIds of the last 32 accepted commands, oldest first (streams/state/refusals.ts). A repeated command does nothing. Default: []. */
  recentCommands: number[]
  /** Whether key P with run number 0 holds the definition, because a later tombstone in jobs must not delete the job. Default: false. */
  definitionKept: boolean
  /** Offset in jobs of the last definition that was dropped; -1: none since the one in force. Default: -1. */
  droppedOffset: number
  /** Runs that have not ended. Default: []. */
  active: ActiveRun[]
  /** The run that ended last. Older ones are under key R. Default: null. */
  lastRun: FinishedRun | null
}

/** JobState as a writer may give it: fields with a default may be left out. */
export interface JobStateInput {
  status: JobStatus
  specOffset: number
  life: string
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
  followUps?: FollowUpQueueInput | null | undefined
  deadRuns?: number[] | undefined
  deadRunsDropped?: number | undefined
  decisions?: RefusalInput[] | undefined
  waiting?: boolean | undefined
  pausedByCommand?: boolean | undefined
  recentCommands?: number[] | undefined
  definitionKept?: boolean | undefined
  droppedOffset?: number | undefined
  active?: ActiveRunInput[] | undefined
  lastRun?: FinishedRunInput | null | undefined
}

/** FollowUp */
export interface FollowUp {
  /** As in its command. */
  commandId: string
  /** When the owner read its command. Unit: epoch ms. */
  at: number
  /** As in its command. Default: null. */
  payload: Buffer | null
  /** As in its command. Default: 0. */
  chainDepth: number
  /** As in its command. Default: 5000. */
  chainLeft: number
  /** The run that it follows. Default: null. */
  cause: Cause | null
}

/** FollowUp as a writer may give it: fields with a default may be left out. */
export interface FollowUpInput {
  commandId: string
  at: number
  payload?: Buffer | null | undefined
  chainDepth?: number | undefined
  chainLeft?: number | undefined
  cause?: CauseInput | null | undefined
}

/** FollowUpPage */
export interface FollowUpPage {
  /** In their order. */
  items: FollowUp[]
}

/** FollowUpPage as a writer may give it: fields with a default may be left out. */
export interface FollowUpPageInput {
  items: FollowUpInput[]
}

/** KeySlots */
export interface KeySlots {
  /** Runs that hold a slot. */
  held: number
  /** Runs that wait for a slot. Default: 0. */
  waiting: number
  /** Slots of the key at the last request. Default: 1. */
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
  /** The latest start. Unit: epoch ms. */
  lastAt: number
  /** Intervals between consecutive starts, latest first. Unit: ms. Default: []. */
  gaps: number[]
  /** The largest limit of any request; this many starts are stored. */
  limit: number
  /** The largest perMs of any request; no start is stored longer. Unit: ms. */
  perMs: number
  /** The owner's clock at the latest reservation. Unit: epoch ms. */
  givenAt: number
}

/** KeyStarts as a writer may give it: fields with a default may be left out. */
export interface KeyStartsInput {
  lastAt: number
  gaps?: number[] | undefined
  limit: number
  perMs: number
  givenAt: number
}

/** Position */
export interface Position {
  /** Offset of the claim of the owner that wrote this. */
  claimOffset: number
  /** Next offset of job-commands. */
  commandsOffset: number
  /** Next offset of execution-events. */
  eventsOffset: number
  /** Next offset of jobs. Records before it that belong to another partition were moved to that partition. Default: 0. */
  jobsOffset: number
  /** The owner's clock. It increases within one claim. Unit: epoch ms. */
  committedAt: number
  /** Latest due time in the ahead topics. They are read in offset order, so no earlier due time may be appended to them. Unit: epoch ms. Default: 0. */
  aheadUntil: number
  /** Version of the time zone rules, such as 2026a, by which all next times of the partition were computed. Empty while some may be by other rules. Default: "". */
  zoneRules: string
  /** Append time of the claim at claimOffset. It distinguishes claims if the topic was recreated. 0: a restore wrote the position. Unit: epoch ms. Default: 0. */
  claimedAt: number
  /** Latest append time of the commands before commandsOffset, as the brokers report it. 0: unknown; -1: decisions were lost; -2: not yet known whether decisions were lost. Unit: epoch ms. Default: 0. */
  commandsUntil: number
  /** End of job-commands when its truncation or recreation was noticed. A command before it that was appended by commandsUntil was already applied. 0: none. Default: 0. */
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
  /** The owner's clock. Each claim is later than the one before. Unit: epoch ms. */
  claimedAt: number
  /** Version of the owner's time zone rules, such as 2026a. */
  zoneRules: string
}

/** Owner as a writer may give it: fields with a default may be left out. */
export interface OwnerInput {
  instance: string
  claimedAt: number
  zoneRules: string
}

/** A value of the changelog job-state. One field is set; the prefix of the key says which: S state, R run, P snapshot, F follow-ups, C slots, W starts, M position or owner. Key P of a dead run has `run` too. */
export interface StateEntry {
  /** Key S: all decisions about a job. Default: null. */
  state: JobState | null
  /** Key R: a finished run before the last one. Key P of a dead run: its end, without result and stack and with its last error only. Default: null. */
  run: FinishedRun | null
  /** Key P: the framed Execution from which a run is dispatched again. It is stored for an active run whose definition was replaced or whose payload was overridden, and for a dead run that may be redriven. Runs of one replaced definition share one snapshot. Default: null. */
  snapshot: Buffer | null
  /** Key F: a page of follow-ups that wait. Default: null. */
  followUps: FollowUpPage | null
  /** Key C: use of a concurrencyKey. Default: null. */
  slots: KeySlots | null
  /** Key W: the last starts under a rateLimit. Default: null. */
  starts: KeyStarts | null
  /** Key M position: the inputs that are part of this state. Last record of each transaction. Default: null. */
  position: Position | null
  /** Key M owner: the claim of the partition. Default: null. */
  owner: Owner | null
}

/** StateEntry as a writer may give it: fields with a default may be left out. */
export interface StateEntryInput {
  state?: JobStateInput | null | undefined
  run?: FinishedRunInput | null | undefined
  snapshot?: Buffer | null | undefined
  followUps?: FollowUpPageInput | null | undefined
  slots?: KeySlotsInput | null | undefined
  starts?: KeyStartsInput | null | undefined
  position?: PositionInput | null | undefined
  owner?: OwnerInput | null | undefined
}

/** OperationRequest */
export interface OperationRequest {
  /** PAUSE, RESUME, CANCEL, TRIGGER or DELETE of jobs; REDRIVE or DISCARD of dead runs; CANCEL_RUN of active runs. Later versions may have others, which this one leaves to them. */
  action: string
  /** The jobs. Null: the filter chooses them. Default: null. */
  jobIds: string[] | null
  /** The runs, as `<jobId>/<runNo>`. Null: all dead or active runs of the jobs. Default: null. */
  runIds: string[] | null
  /** Only jobs with this tag. Default: null. */
  tag: string | null
  /** Only jobs with this handler. Default: null. */
  handler: string | null
  /** Only jobs with this status. Default: null. */
  status: string | null
  /** Only jobs whose id begins with this. Default: null. */
  idPrefix: string | null
  /** Only jobs whose id contains this. Default: null. */
  idContains: string | null
  /** With CANCEL_RUN: only runs with this status. Default: null. */
  runStatus: string | null
  /** With REDRIVE and DISCARD: only runs that died at this time or later. Unit: epoch ms. Default: null. */
  diedFrom: number | null
  /** Only runs that died before this time. Unit: epoch ms. Default: null. */
  diedTo: number | null
  /** Only runs whose last error has this type. Default: null. */
  errorType: string | null
  /** Only runs whose last error is of this kind: its type and message with `#` for numbers and ids. Default: null. */
  errorKind: string | null
  /** Who asked for it. Each of its commands has the same actor. Default: null. */
  actor: string | null
  /** With TRIGGER: payload of each run, in place of the definition's payload. Default: null. */
  payload: Buffer | null
  /** True: the payload is JSON, and a job with another media type gets its text. False: all get these bytes. Default: false. */
  payloadIsJson: boolean
}

/** OperationRequest as a writer may give it: fields with a default may be left out. */
export interface OperationRequestInput {
  action: string
  jobIds?: string[] | null | undefined
  runIds?: string[] | null | undefined
  tag?: string | null | undefined
  handler?: string | null | undefined
  status?: string | null | undefined
  idPrefix?: string | null | undefined
  idContains?: string | null | undefined
  runStatus?: string | null | undefined
  diedFrom?: number | null | undefined
  diedTo?: number | null | undefined
  errorType?: string | null | undefined
  errorKind?: string | null | undefined
  actor?: string | null | undefined
  payload?: Buffer | null | undefined
  payloadIsJson?: boolean | undefined
}

/** OperationReason */
export interface OperationReason {
  /** A sentence about the first of them. */
  reason: string
  /** A stable word, such as max-concurrent-runs. */
  code: string
  /** Number of refusals with this code. */
  count: number
  /** The first job or run. */
  example: string
}

/** OperationReason as a writer may give it: fields with a default may be left out. */
export interface OperationReasonInput {
  reason: string
  code: string
  count: number
  example: string
}

/** OperationPart */
export interface OperationPart {
  /** The partition. */
  partition: number
  /** Jobs that were first defined at or after this offset of jobs are left alone. */
  jobsOffset: number
  /** Runs that died after this time of the owner are left alone. Unit: epoch ms. */
  startedAt: number
  /** All jobs up to this id are done. Null: none. Default: null. */
  after: string | null
  /** Changes up to this job may be written already. Null: none after the last done one. Default: null. */
  pendingTo: string | null
  /** Number of these changes. Default: 0. */
  pending: number
  /** Dead runs of this round whose jobs have no room for a further run. Default: 0. */
  left: number
  /** Whether the partition is done. Default: false. */
  ended: boolean
}

/** OperationPart as a writer may give it: fields with a default may be left out. */
export interface OperationPartInput {
  partition: number
  jobsOffset: number
  startedAt: number
  after?: string | null | undefined
  pendingTo?: string | null | undefined
  pending?: number | undefined
  left?: number | undefined
  ended?: boolean | undefined
}

/** OperationProgress */
export interface OperationProgress {
  /** RUNNING, DONE, CANCELLED or FAILED. */
  status: string
  /** Number of jobs or dead runs that it found at its start. Null: not counted yet. Default: null. */
  total: number | null
  /** Jobs or dead runs that were changed. Default: 0. */
  applied: number
  /** Jobs or dead runs whose change was refused. Default: 0. */
  refused: number
  /** Why changes were refused, most frequent first. Default: []. */
  reasons: OperationReason[]
  /** How far it is in each partition. Default: []. */
  parts: OperationPart[]
  /** When it was begun. Unit: epoch ms. */
  startedAt: number
  /** Since when it holds for all its jobs. PAUSE, CANCEL and DELETE by filter: when the last owner had made it known to its partition; a job that comes up is changed before it fires. Otherwise: when all were changed. Null before. Unit: epoch ms. Default: null. */
  effectiveAt: number | null
  /** When it ended; null before. Unit: epoch ms. Default: null. */
  endedAt: number | null
  /** Why it does not go on, or why it failed; null if it goes on. Default: null. */
  problem: string | null
  /** name@host:pid:boot of the process that carries it out. Default: "". */
  driver: string
}

/** OperationProgress as a writer may give it: fields with a default may be left out. */
export interface OperationProgressInput {
  status: string
  total?: number | null | undefined
  applied?: number | undefined
  refused?: number | undefined
  reasons?: OperationReasonInput[] | undefined
  parts?: OperationPartInput[] | undefined
  startedAt: number
  effectiveAt?: number | null | undefined
  endedAt?: number | null | undefined
  problem?: string | null | undefined
  driver?: string | undefined
}

/** OperationCancel */
export interface OperationCancel {
  /** Who cancelled it. Default: null. */
  actor: string | null
}

/** OperationCancel as a writer may give it: fields with a default may be left out. */
export interface OperationCancelInput {
  actor?: string | null | undefined
}

/** A part of an operation: a change of many jobs or dead runs. One of request, progress and cancel is set. Key: the operation's id and the name of the part, such as `<id>/progress`. The latest record of each key counts. */
export interface OperationRecord {
  /** Id of the operation. */
  id: string
  /** When the record was written, by the writer's clock. Unit: epoch ms. */
  at: number
  /** What was asked for. Written once, by the API. Default: null. */
  request: OperationRequest | null
  /** How far it is. Written by the process that carries it out. Default: null. */
  progress: OperationProgress | null
  /** That it shall end early. Written by the API. Default: null. */
  cancel: OperationCancel | null
}

/** OperationRecord as a writer may give it: fields with a default may be left out. */
export interface OperationRecordInput {
  id: string
  at: number
  request?: OperationRequestInput | null | undefined
  progress?: OperationProgressInput | null | undefined
  cancel?: OperationCancelInput | null | undefined
}

/** That a pool or a worker is paused or drained. Key: `pool/<name>` or `worker/<instance>`. The latest record of each key counts; a record without a value resumes it. */
export interface Pause {
  /** Name of the pool, or name@host:pid:boot of the worker. */
  name: string
  /** PAUSE or DRAIN. Later versions may have others; a process that does not know one treats it as PAUSE. */
  mode: string
  /** Since when, by the clock of the API process. Unit: epoch ms. */
  at: number
  /** Who asked for it. Default: null. */
  actor: string | null
  /** Of a worker: the pools that it served. It leaves their groups while it is paused. Default: []. */
  pools: string[]
}

/** Pause as a writer may give it: fields with a default may be left out. */
export interface PauseInput {
  name: string
  mode: string
  at: number
  actor?: string | null | undefined
  pools?: string[] | undefined
}

/** RunLogLine */
export interface RunLogLine {
  /** When the handler wrote the line, by the worker's clock. Unit: epoch ms. */
  at: number
  /** debug, info, warn or error. Default: "info". */
  level: string
  /** The line. The rest of a longer text is left out. */
  text: string
  /** JSON object whose values are texts, numbers, booleans or null. Fields beyond the limit are left out. Default: null. */
  fields: string | null
  /** Whether parts of the line or of its fields were left out. Default: false. */
  shortened: boolean
}

/** RunLogLine as a writer may give it: fields with a default may be left out. */
export interface RunLogLineInput {
  at: number
  level?: string | undefined
  text: string
  fields?: string | null | undefined
  shortened?: boolean | undefined
}

/** Lines that a handler wrote with run.log during one attempt, in their order. The worker writes them without a transaction, before its last report of the attempt. Key: job id. */
export interface RunLog {
  /** As in the execution. */
  jobId: string
  /** As in the execution. */
  runNo: number
  /** As in the execution. Default: "". */
  life: string
  /** As in the execution. */
  attempt: number
  /** name@host:pid:boot of the worker. Default: "". */
  worker: string
  /** Number of the first line. A worker counts the lines of an attempt from 1. A record that was written twice repeats the numbers; lost lines leave a gap. Default: 1. */
  firstNo: number
  /** The lines. Default: []. */
  lines: RunLogLine[]
}

/** RunLog as a writer may give it: fields with a default may be left out. */
export interface RunLogInput {
  jobId: string
  runNo: number
  life?: string | undefined
  attempt: number
  worker?: string | undefined
  firstNo?: number | undefined
  lines?: RunLogLineInput[] | undefined
}

export type WorkerControlType = 'CANCEL' | 'RUN'

/** A message of an owner to all workers about one attempt. Key: job id. Each worker reads all of them in its own consumer group. */
export interface WorkerControl {
  /** CANCEL: the attempt must not start, or must stop. RUN: the attempt is for the worker that `instance` names. */
  type: WorkerControlType
  /** Id of the job. */
  jobId: string
  /** Number of the run. */
  runNo: number
  /** Number of the attempt. Other attempts of the run are not affected. */
  attempt: number
  /** As in the execution. A job that was deleted and defined again numbers its runs from 1 again; specOffset distinguishes their attempts. Default: null. */
  specOffset: number | null
  /** With CANCEL: the reason, for the handler and the worker's log. Default: "". */
  reason: string
  /** With RUN: name or host of the worker, as in pinTo, or its whole name@host:pid:boot. Default: null. */
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
  "doc": "Who asked the API for a change, when, and its outcome. It holds no payload, credential or token. Key: the job id; none for a change of many jobs.",
  "fields": [
    {
      "name": "at",
      "type": "long",
      "unit": "epoch ms",
      "doc": "When the API answered, by its clock."
    },
    {
      "name": "actor",
      "type": "string",
      "doc": "Name of the token, or its role if it has no name; the subject of a JWT; `local` without authentication."
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
      "doc": "The change that was asked for, such as PUT, DELETE or PAUSE."
    },
    {
      "name": "jobId",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "Id of the job; null for a change of many jobs."
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
      "name": "target",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "For a change of a pool or a worker: its name. For an operation: its id."
    },
    {
      "name": "filter",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "For a change of many: what chose its jobs or runs, as JSON. Null if their ids were given."
    },
    {
      "name": "jobIds",
      "type": {
        "type": "array",
        "items": "string"
      },
      "default": [],
      "doc": "For a change of many by ids, and for a batch: the first jobs, at most 1,000."
    },
    {
      "name": "changes",
      "default": [],
      "doc": "What a definition changed, field by field, at most 50. Long values are cut.",
      "type": {
        "type": "array",
        "items": {
          "type": "record",
          "name": "AuditChange",
          "fields": [
            {
              "name": "field",
              "type": "string",
              "doc": "Path of the field, such as schedule.cron."
            },
            {
              "name": "before",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Its value as JSON, with masks for credentials; null: it had its default, there was no job, or the write had no condition, so that nobody looked."
            },
            {
              "name": "after",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "The new value; null: its default, or the job was deleted."
            }
          ]
        }
      }
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
      "doc": "Position of the definition that was written, `<partition>.<offset>`."
    },
    {
      "name": "done",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "doc": "For a change of many: number of jobs or runs that were changed."
    },
    {
      "name": "refused",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "doc": "For a change of many: number of jobs or runs that were not changed."
    },
    {
      "name": "requestId",
      "type": "string",
      "default": "",
      "doc": "Id of the request in the log of the server."
    },
    {
      "name": "address",
      "type": "string",
      "default": "",
      "doc": "Network address of the client."
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
      "doc": "The Execution of the last attempt in the Confluent wire format."
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
      "doc": "Attempts that started."
    },
    {
      "name": "deadAt",
      "type": "long",
      "unit": "epoch ms",
      "doc": "When the owner decided that the run is dead."
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
              "doc": "Worker that ran it."
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
            },
            {
              "name": "dueAt",
              "type": "long",
              "unit": "epoch ms",
              "doc": "When the attempt was due."
            },
            {
              "name": "dispatchedAt",
              "type": "long",
              "unit": "epoch ms",
              "doc": "When the attempt was dispatched."
            },
            {
              "name": "startedAt",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "When the attempt started; null if it did not, or if it is unknown."
            },
            {
              "name": "stack",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Stack of the error, at most 2,000 characters. Only the last error of a run has one."
            }
          ]
        }
      }
    }
  ]
} as const

export const endedRunSchema = {
  "type": "record",
  "name": "EndedRun",
  "namespace": "duelog",
  "doc": "A run that has ended, written in the transaction that ends it, once for each run; or occurrences that were skipped. Flat, so that ksqlDB, Connect and any Avro client can read it. It holds no payload and no header. Key: job id.",
  "fields": [
    {
      "name": "jobId",
      "type": "string",
      "doc": "Id of the job."
    },
    {
      "name": "runNo",
      "type": "long",
      "doc": "Number of the run; 0 for skipped occurrences, which have no run."
    },
    {
      "name": "life",
      "type": "string",
      "doc": "Identifies the life of the job, as in Executions. jobId, life and runNo together identify the run."
    },
    {
      "name": "outcome",
      "type": "string",
      "doc": "SUCCEEDED, DEAD, EXPIRED or CANCELLED. SKIPPED: occurrences that made no run, by the reason; scheduledFor is the first of them. Later versions may have others."
    },
    {
      "name": "reason",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "A stable word if the outcome does not say why, such as attempts, overlap or deleted."
    },
    {
      "name": "trigger",
      "type": "string",
      "default": "SCHEDULE",
      "doc": "Cause of the run: SCHEDULE, MANUAL, REDRIVE, BACKFILL or FOLLOW_UP."
    },
    {
      "name": "commandId",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "The command that asked for the run."
    },
    {
      "name": "handler",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "Handler of the run; `http` for an HTTP request. Null: its target is a topic, or the definition that made it is no longer known."
    },
    {
      "name": "topic",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "Topic that the run wrote to, if its target is a topic."
    },
    {
      "name": "pool",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "Pool of the workers; null if its target is a topic, or if it is unknown."
    },
    {
      "name": "tags",
      "type": {
        "type": "array",
        "items": "string"
      },
      "default": [],
      "doc": "Tags of the job when the run ended."
    },
    {
      "name": "scheduledFor",
      "type": "long",
      "unit": "epoch ms",
      "doc": "Nominal time."
    },
    {
      "name": "dueAt",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "unit": "epoch ms",
      "doc": "When the last attempt was due."
    },
    {
      "name": "startedAt",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "unit": "epoch ms",
      "doc": "When the last attempt started; null if it did not, or if it is unknown."
    },
    {
      "name": "finishedAt",
      "type": "long",
      "unit": "epoch ms",
      "doc": "When the run ended. With DISPATCHED: when it was dispatched."
    },
    {
      "name": "attempts",
      "type": "int",
      "doc": "Attempts that started."
    },
    {
      "name": "worker",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "Worker that ran the last attempt."
    },
    {
      "name": "errorType",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "Name of the last error's class, or a code; null for a run that succeeded or that never failed."
    },
    {
      "name": "errorMessage",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "Message of that error, at most 1,000 characters."
    },
    {
      "name": "result",
      "type": [
        "null",
        "bytes"
      ],
      "default": null,
      "doc": "Value that the handler returned, as JSON; null if it has more than 4,096 bytes."
    },
    {
      "name": "resultBytes",
      "type": "int",
      "default": 0,
      "unit": "bytes",
      "doc": "Length of the value that the handler returned; 0 if there is none."
    },
    {
      "name": "note",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "Parts of the report that were left out, and why. With SKIPPED: the number of occurrences if there are several, such as `60 occurrences`."
    },
    {
      "name": "mayHoldSecrets",
      "type": "boolean",
      "default": true,
      "doc": "Whether the definition of the run had headers or an HTTP target, or is unknown. Then errorMessage, result and note may repeat credentials, which viewers of the API do not see."
    },
    {
      "name": "traceparent",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "W3C trace context of the run: that of its handler, or of its record for a target topic, if they were traced. Otherwise the header `traceparent` of the definition, if it is valid."
    }
  ]
} as const

export const executionEventSchema = {
  "type": "record",
  "name": "ExecutionEvent",
  "namespace": "duelog",
  "doc": "A report of a worker or of the retry forwarder to the owner of the job's partition. Key: job id; partition: that of the execution.",
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
      "doc": "STARTED: accepted and running. HEARTBEAT: alive. SUCCEEDED, FAILED: the attempt ended. RELEASED: the worker gives an attempt back unfinished. RETRY_DUE: the delay of a record in a delay topic is over."
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
      "doc": "As in the execution. With RETRY_DUE: the next attempt."
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
      "doc": "Time of the report, by the reporter's clock."
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
      "doc": "With SUCCEEDED: the value that the handler returned, as JSON. A value over the limit is left out; the run still succeeds."
    },
    {
      "name": "error",
      "default": null,
      "doc": "With FAILED: the error.",
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
              "doc": "Message of the error."
            },
            {
              "name": "stack",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "maxLength": 4000,
              "doc": "Stack of the error. The state of the job keeps its first 2,000 characters."
            },
            {
              "name": "retryable",
              "type": "boolean",
              "default": true,
              "doc": "False: the run becomes a dead letter at once."
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
              "doc": "Delay before the next attempt, chosen by the handler. It replaces the backoff."
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
      "doc": "With STARTED and HEARTBEAT: share of the work that is done."
    },
    {
      "name": "message",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "maxLength": 1000,
      "doc": "With STARTED and HEARTBEAT: text of the handler about its progress. With SUCCEEDED: why its result was left out; the run keeps it as its note."
    }
  ]
} as const

export const executionSchema = {
  "type": "record",
  "name": "Execution",
  "namespace": "duelog",
  "doc": "One attempt of one run, dispatched to a pool of workers. Key: job id. jobId, runNo and life identify the run; attempt is its fencing token.",
  "fields": [
    {
      "name": "jobId",
      "type": "string",
      "doc": "Id of the job."
    },
    {
      "name": "runNo",
      "type": "long",
      "doc": "Number of the run; each job counts from 1 without gaps."
    },
    {
      "name": "attempt",
      "type": "int",
      "doc": "Number of the attempt, from 1."
    },
    {
      "name": "life",
      "type": "string",
      "doc": "Identifies the life of the job, because run numbers start at 1 again after a deletion. The identity of the run is jobId/runNo@life."
    },
    {
      "name": "specOffset",
      "type": "long",
      "doc": "Offset in jobs of the definition that made this run. Events must repeat it."
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
      "doc": "Cause of the run."
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
      "doc": "A worker that cannot start the attempt by then drops it. The owner records it as EXPIRED."
    },
    {
      "name": "pinTo",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "As in the definition. If set, the execution is sent on worker-control, and only the worker with this name or on this host runs it."
    },
    {
      "name": "httpTarget",
      "default": null,
      "doc": "With an http target: the request that the handler `http` sends.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "HttpTarget",
          "fields": [
            {
              "name": "url",
              "type": "string",
              "doc": "URL of the request. It must not contain a user or password; use headers."
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
              "doc": "Headers of the request, in addition to those of the definition and those of Duelog."
            }
          ]
        }
      ]
    },
    {
      "name": "topicTarget",
      "default": null,
      "doc": "Only in a snapshot: the topic to which the owner writes the run.",
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
              "doc": "Key of the record. Default: the job id."
            },
            {
              "name": "partition",
              "type": [
                "null",
                "int"
              ],
              "default": null,
              "doc": "Partition of the record. Default: the choice of Kafka's default partitioner (murmur2) for the key."
            }
          ]
        }
      ]
    },
    {
      "name": "priorityLevel",
      "type": [
        "null",
        "int"
      ],
      "default": null,
      "doc": "The number of the priority, 0 to 9; 9 goes first. Null: HIGH is 8, NORMAL 4, LOW 1."
    },
    {
      "name": "cause",
      "default": null,
      "doc": "With FOLLOW_UP: the run that it follows.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "Cause",
          "doc": "The run whose end triggered a follow-up.",
          "fields": [
            {
              "name": "jobId",
              "type": "string",
              "maxLength": 255,
              "doc": "Id of its job."
            },
            {
              "name": "runNo",
              "type": "long",
              "minimum": 0,
              "maximum": 9007199254740991,
              "doc": "Number of the run."
            },
            {
              "name": "life",
              "type": "string",
              "maxLength": 40,
              "doc": "Life of its job."
            },
            {
              "name": "outcome",
              "type": {
                "type": "enum",
                "name": "CauseOutcome",
                "symbols": [
                  "SUCCEEDED",
                  "DEAD",
                  "EXPIRED"
                ]
              },
              "doc": "How it ended."
            },
            {
              "name": "scheduledFor",
              "type": "long",
              "unit": "epoch ms",
              "doc": "Its nominal time."
            },
            {
              "name": "finishedAt",
              "type": "long",
              "unit": "epoch ms",
              "doc": "When it ended."
            },
            {
              "name": "errorType",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "maxLength": 1000,
              "doc": "Type of its last error; null if it has none."
            },
            {
              "name": "errorMessage",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "maxLength": 1000,
              "doc": "Message of its last error, at most 1,000 characters."
            },
            {
              "name": "result",
              "type": [
                "null",
                "bytes"
              ],
              "default": null,
              "maxBytes": 65536,
              "doc": "Value that its handler returned, as JSON."
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
  "doc": "A command of an operator for one job. Key: job id. If a command is refused, the reason is at /v1/jobs/{id}/why, and in the reply topic that the command names.",
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
      "doc": "TRIGGER: one run now, in addition to the schedule. PAUSE: no occurrence fires. RESUME: occurrences fire again; catchUp applies to those that were due during the pause. CANCEL: ends all runs and the job. CANCEL_RUN: ends one run, or, with `from` in place of `runNo`, skips the next occurrence. REDRIVE: repeats a dead run as a new run; the next attempt of a run in RETRY_WAIT begins now. BACKFILL: one run for each occurrence of a past range; with `discard`, the end of the one that is in progress."
    },
    {
      "name": "commandId",
      "type": "string",
      "minLength": 1,
      "maxLength": 512,
      "doc": "Chosen by the sender. A command does nothing if its commandId was that of one of the last 32 commands of the job, of an active run or of the last run. This holds also if the first command was refused."
    },
    {
      "name": "at",
      "type": "long",
      "unit": "epoch ms",
      "minimum": 0,
      "maximum": 8640000000000000,
      "doc": "Time of the command, by the sender's clock."
    },
    {
      "name": "payload",
      "type": [
        "null",
        "bytes"
      ],
      "default": null,
      "maxBytes": 524288,
      "doc": "With TRIGGER: payload of this run, in place of the definition's payload."
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
      "doc": "With TRIGGER: the recorded cause of the run, MANUAL or FOLLOW_UP. Other values are refused."
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
      "doc": "With CANCEL_RUN and REDRIVE: number of the run."
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
      "doc": "With BACKFILL: first nominal time, inclusive. With CANCEL_RUN and without runNo: nominal time of the next occurrence, which is skipped."
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
      "doc": "With BACKFILL: end of the range, exclusive; not in the future."
    },
    {
      "name": "chainDepth",
      "type": "int",
      "default": 0,
      "minimum": 0,
      "maximum": 32,
      "doc": "With FOLLOW_UP: number of runs that led to this one, each by onSuccess or onFailure of the run before it."
    },
    {
      "name": "chainLeft",
      "type": "int",
      "default": 5000,
      "minimum": 0,
      "maximum": 5000,
      "doc": "With FOLLOW_UP: number of runs that may still follow from this one, directly and indirectly."
    },
    {
      "name": "cause",
      "default": null,
      "doc": "With FOLLOW_UP: the run that it follows.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "Cause",
          "doc": "The run whose end triggered a follow-up.",
          "fields": [
            {
              "name": "jobId",
              "type": "string",
              "maxLength": 255,
              "doc": "Id of its job."
            },
            {
              "name": "runNo",
              "type": "long",
              "minimum": 0,
              "maximum": 9007199254740991,
              "doc": "Number of the run."
            },
            {
              "name": "life",
              "type": "string",
              "maxLength": 40,
              "doc": "Life of its job."
            },
            {
              "name": "outcome",
              "type": {
                "type": "enum",
                "name": "CauseOutcome",
                "symbols": [
                  "SUCCEEDED",
                  "DEAD",
                  "EXPIRED"
                ]
              },
              "doc": "How it ended."
            },
            {
              "name": "scheduledFor",
              "type": "long",
              "unit": "epoch ms",
              "doc": "Its nominal time."
            },
            {
              "name": "finishedAt",
              "type": "long",
              "unit": "epoch ms",
              "doc": "When it ended."
            },
            {
              "name": "errorType",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "maxLength": 1000,
              "doc": "Type of its last error; null if it has none."
            },
            {
              "name": "errorMessage",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "maxLength": 1000,
              "doc": "Message of its last error, at most 1,000 characters."
            },
            {
              "name": "result",
              "type": [
                "null",
                "bytes"
              ],
              "default": null,
              "maxBytes": 65536,
              "doc": "Value that its handler returned, as JSON."
            }
          ]
        }
      ]
    },
    {
      "name": "actor",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "maxLength": 1024,
      "doc": "Who sent the command."
    },
    {
      "name": "discard",
      "type": "boolean",
      "default": false,
      "doc": "With CANCEL_RUN: the run is dead and is discarded. It keeps its record, and no longer counts as dead. With BACKFILL: the one in progress makes no further runs; those that it has made go on."
    }
  ]
} as const

export const jobDefinitionSchema = {
  "type": "record",
  "name": "JobDefinition",
  "namespace": "duelog",
  "doc": "Definition of a job: when it is due, what runs, and what happens after a failure. The key of the record is the job id; a null value deletes the job.",
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
            "doc": "One run, this long after the broker appended the definition, but not before startAt."
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
            "doc": "A run every everyMs milliseconds, counted from the anchor."
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
            "doc": "With everyMs: an instant to which the runs are aligned. Default: the broker's append time of the definition; the first run is then one interval later."
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
            "doc": "A cron expression with 5 fields, or with 6 fields and seconds first. It may use names, lists, ranges, steps, ?, L, W, #, and @daily and the other @ names."
          },
          {
            "name": "timezone",
            "type": "string",
            "default": "UTC",
            "maxLength": 64,
            "doc": "With cron and rrule: the IANA time zone of the rule."
          },
          {
            "name": "rrule",
            "type": [
              "null",
              "string"
            ],
            "default": null,
            "maxLength": 1024,
            "doc": "A recurrence rule of RFC 5545, such as FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1. INTERVAL is at most 100,000 and COUNT at most 10,000; for more, use UNTIL or maxRuns. The search for its first time ends after 100,000 steps; a step looks at one day."
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
            "doc": "With rrule: start of the rule, in whole seconds. The day and the time of day that the rule does not name are taken from it. It is an occurrence only if it matches the rule. Default: startAt, rounded up to a second; without startAt the broker's append time of the definition, rounded down."
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
            "doc": "With cron, rrule and everyMs (from START): instants at which the job does not fire, in whole seconds with cron and rrule. COUNT still counts them."
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
            "doc": "With cron and rrule: treatment of a local time that daylight saving leaves out. NEXT_VALID: it is due once, at the first instant after the gap. SKIP: it is not due. SHIFT: it is due as long after the start of the gap as it would be without the gap."
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
            "doc": "With cron and rrule: a local time that occurs twice is due at the FIRST, the LAST or BOTH of its instants."
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
      "doc": "Each run is due later than its nominal time by up to jitterMs, and always before the next nominal time. The delay is chosen from the hash of job id and nominal time, so a replay chooses the same. scheduledFor stays nominal."
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
            "doc": "The owner writes payload and headers to this topic when the job is due: exactly once, without a worker, and never before its time. While the topic is missing or not allowed, the job is INVALID. The owner checks this again after 5 s, then at growing intervals up to 10 min.",
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
                    "doc": "Key of the record. Default: the job id."
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
                    "doc": "Partition of the record. Default: the choice of Kafka's default partitioner (murmur2) for the key."
                  }
                ]
              }
            ]
          },
          {
            "name": "http",
            "default": null,
            "doc": "A worker of the pool sends the payload in an HTTP request, at least once (built-in handler `http`).",
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
                    "doc": "URL of the request. It must not contain a user or password; use headers."
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
                    "doc": "Headers of the request, in addition to those of the definition and those of Duelog."
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
            "doc": "With handler and http: the pool of workers that runs it. Each pool has its own executions topics."
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
      "doc": "Bytes that the handler receives unchanged."
    },
    {
      "name": "contentType",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "maxLength": 128,
      "doc": "Media type of the payload. application/json is parsed for the handler; the API and the library set it for a payload without one."
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
      "doc": "Headers that the handler receives unchanged."
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
      "doc": "HIGH, NORMAL, LOW, or a number from 0 to 9. 9 goes first; HIGH is 8, NORMAL 4 and LOW 1. 7 to 9, 3 to 6 and 0 to 2 are dispatched in one topic each. A worker without free capacity starts runs of a higher priority first, then those with fewer attempts; every 16th start is of the run that has been due longest among the others."
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
      "doc": "Only the worker with this name, or one on the host with this name, runs the job. Without such a worker the run waits until its start deadline and expires. A worker that comes back receives the run within seconds. If the schedulers cannot see the workers, it takes as long as the worker was away, at most 10 min."
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
            "doc": "Attempts of one run, including the first. After the last failure the run becomes a dead letter."
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
                  "doc": "One delay for each retry; the last delay repeats. Empty: not set."
                },
                {
                  "name": "fixed",
                  "default": null,
                  "doc": "The same delay for each retry.",
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
                  "doc": "The n-th retry waits n × stepMs.",
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
                          "doc": "Length of one step."
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
            "doc": "The run is not retried if its next attempt would be due more than maxAgeMs after its nominal time. What it has waited counts: for a limit, a paused pool, or as a follow-up. It does not apply to redriven runs and to those of a backfill."
          },
          {
            "name": "jitter",
            "type": "double",
            "default": 0,
            "minimum": 0,
            "maximum": 1,
            "doc": "Share of the delay that is random. It is chosen from the hash of job id, run and attempt, so a replay chooses the same."
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
            "doc": "Error types that are not retried: the run becomes a dead letter at once."
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
      "doc": "Longest duration of one attempt. Then its signal is aborted and the attempt counts as failed."
    },
    {
      "name": "leaseMs",
      "type": "long",
      "default": 30000,
      "unit": "ms",
      "minimum": 1000,
      "maximum": 3600000,
      "doc": "A running attempt that sends no report for leaseMs is lost. Another worker gets the next attempt."
    },
    {
      "name": "startDeadlineMs",
      "type": "long",
      "default": 86400000,
      "unit": "ms",
      "minimum": 1000,
      "maximum": 2592000000,
      "doc": "A run expires if no worker has started it within startDeadlineMs after its due time, or after its dispatch if that was later. It also expires ten minutes before retention may delete it from its executions topic (retention.ms, default 7 days), but not within the first hour."
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
      "doc": "Occurrences that are late by more than misfireThresholdMs. SKIP: none of them runs. LATEST: the latest runs. ALL: all run, up to catchUpMax."
    },
    {
      "name": "catchUpMax",
      "type": "int",
      "default": 100,
      "minimum": 1,
      "maximum": 100000,
      "doc": "With catchUp ALL: the largest number of missed occurrences that run. Older ones are skipped and counted."
    },
    {
      "name": "misfireThresholdMs",
      "type": "long",
      "default": 1000,
      "unit": "ms",
      "minimum": 0,
      "maximum": 86400000,
      "doc": "An occurrence that fires later than this is a misfire."
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
      "doc": "An occurrence is due while an earlier run is still active. ALLOW: both run. SKIP: the occurrence is skipped. QUEUE_ONE: the first such occurrence waits, and runs when the other run has ended. CANCEL_PREVIOUS: all active runs are cancelled, also follow-ups and those by command."
    },
    {
      "name": "maxConcurrentRuns",
      "type": "int",
      "default": 16,
      "minimum": 1,
      "maximum": 100,
      "doc": "The largest number of active runs of the job, from any cause. A run that waits for a slot or for a start of its rateLimit is active. A TRIGGER or a REDRIVE above the limit is refused and shown at /why; follow-ups wait, at most 64 MiB of them. With overlap ALLOW a further occurrence is skipped and counted; with catchUp ALL it waits until a run ends."
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
      "doc": "Jobs with the same key share concurrencyLimit. The limit is exact among the jobs of one partition: give their ids one {tag}. At most 256 bytes, no control characters. For handlers and HTTP only."
    },
    {
      "name": "concurrencyLimit",
      "type": "int",
      "default": 1,
      "minimum": 1,
      "maximum": 10000,
      "doc": "With concurrencyKey: the largest number of runs of the key that are dispatched and have not ended. A further run is WAITING. Waiting runs are dispatched by priority, then by attempts, then by due time; every 16th because it has been due longest."
    },
    {
      "name": "rateLimit",
      "default": null,
      "doc": "Jobs with the same rateLimit.key share a rate of starts. The rate holds among the jobs of one partition: give their ids one {tag}.",
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
              "doc": "Key of the limit. At most 256 bytes, no control characters."
            },
            {
              "name": "limit",
              "type": "int",
              "minimum": 1,
              "maximum": 10000,
              "doc": "The largest number of attempts of the key that start within any perMs. A further attempt is WAITING until its time. It expires if its time is after its start deadline."
            },
            {
              "name": "perMs",
              "type": "long",
              "unit": "ms",
              "minimum": 1,
              "maximum": 86400000,
              "doc": "Length of the window, which may begin at any instant."
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
      "doc": "No occurrence is due before this instant."
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
      "doc": "No occurrence is due after this instant. Then the job is COMPLETED."
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
      "doc": "End of validity, exclusive. From this instant no occurrence fires, not even one that was due before. A run that has not started expires, and TRIGGER, REDRIVE and BACKFILL are refused."
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
      "doc": "Number of scheduled runs after which the job is COMPLETED."
    },
    {
      "name": "paused",
      "type": "boolean",
      "default": false,
      "doc": "True: the job does not fire until it is resumed."
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
      "doc": "Version chosen by the writer. A definition with a lower version than the one in force is dropped. A definition without a version is always accepted."
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
      "doc": "A definition of this job with the same key as the one in force is acknowledged and dropped if it was appended within dedupWindowMs after it."
    },
    {
      "name": "dedupWindowMs",
      "type": "long",
      "default": 0,
      "unit": "ms",
      "minimum": 0,
      "maximum": 2592000000,
      "doc": "With dedupKey: length of the window."
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
      "doc": "Ids of other jobs that are triggered when a run of this job succeeds. At most 5,000 runs follow from one run, over at most 32 generations. Beyond that no job is triggered, and its /why says so. The run that follows has the id, outcome, error and result of this one as its cause."
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
      "doc": "Ids of other jobs that are triggered when a run of this job is dead or expires. The limits of onSuccess apply."
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
      "doc": "Words by which the job can be found."
    },
    {
      "name": "retainCompletedMs",
      "type": "long",
      "default": 3600000,
      "unit": "ms",
      "minimum": 0,
      "maximum": 2592000000,
      "doc": "A completed job whose last run succeeded is deleted after retainCompletedMs."
    },
    {
      "name": "retainFailedMs",
      "type": "long",
      "default": 259200000,
      "unit": "ms",
      "minimum": 0,
      "maximum": 2592000000,
      "doc": "A completed job whose last run failed, expired or is dead is deleted after retainFailedMs."
    },
    {
      "name": "priorityLevel",
      "type": [
        "null",
        "int"
      ],
      "default": null,
      "minimum": 0,
      "maximum": 9,
      "doc": "The number of the priority. Null: that of the word. In JSON it is priority."
    }
  ]
} as const

export const jobStateSchema = {
  "type": "record",
  "name": "StateEntry",
  "namespace": "duelog",
  "doc": "A value of the changelog job-state. One field is set; the prefix of the key says which: S state, R run, P snapshot, F follow-ups, C slots, W starts, M position or owner. Key P of a dead run has `run` too.",
  "fields": [
    {
      "name": "state",
      "default": null,
      "doc": "Key S: all decisions about a job.",
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
              "doc": "ACTIVE: it fires. PAUSED: it does not fire until it is resumed. COMPLETED: it has no further occurrence. INVALID: its definition was refused."
            },
            {
              "name": "specOffset",
              "type": "long",
              "doc": "Offset in jobs of the last definition that is part of this state."
            },
            {
              "name": "life",
              "type": "string",
              "maxLength": 40,
              "doc": "Identifies the life of the job: offset and append time of the definition in force at the first decision. A job that is deleted and defined again has another value."
            },
            {
              "name": "anchorAt",
              "type": "long",
              "default": 0,
              "unit": "epoch ms",
              "doc": "Append time from which delays and intervals without an anchor are counted. A new definition with the same schedule keeps it."
            },
            {
              "name": "timesHash",
              "type": "long",
              "default": 0,
              "doc": "Hash of the schedule and its window. A new definition with the same hash keeps the times."
            },
            {
              "name": "nextFireAt",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "Nominal time of the next occurrence; null if there is none."
            },
            {
              "name": "nextDueAt",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "With jitterMs: due time of the next occurrence, including its jitter; null if it equals nextFireAt."
            },
            {
              "name": "latestFiredFor",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "Latest nominal time that became a run, however that run ended. No definition makes an occurrence up to this time due again. With a schedule of one instant: that instant."
            },
            {
              "name": "decidedFor",
              "default": null,
              "doc": "With cron or rrule: the last nominal time that was decided. nextFireAt follows it, and is computed from it again when the rules of the time zone change (ADR 0040). Null: nextFireAt is the first time of the schedule.",
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
                      "doc": "Local time minus UTC at that time, by the zone rules at the decision."
                    }
                  ]
                }
              ]
            },
            {
              "name": "runNo",
              "type": "long",
              "default": 0,
              "doc": "Number of the last run."
            },
            {
              "name": "scheduledRuns",
              "type": "long",
              "default": 0,
              "doc": "Runs made by the schedule. maxRuns limits them."
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
              "doc": "While the job is INVALID because its topic cannot be written: time of the next check."
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
              "doc": "The past range that is in progress.",
              "type": [
                "null",
                {
                  "type": "record",
                  "name": "Backfill",
                  "fields": [
                    {
                      "name": "commandId",
                      "type": "string",
                      "doc": "commandId of the BACKFILL."
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
                    },
                    {
                      "name": "from",
                      "type": "long",
                      "default": 0,
                      "unit": "epoch ms",
                      "doc": "Begin of the range, inclusive."
                    },
                    {
                      "name": "made",
                      "type": "long",
                      "default": 0,
                      "doc": "Runs that it has made."
                    }
                  ]
                }
              ]
            },
            {
              "name": "followUps",
              "default": null,
              "doc": "Follow-ups that wait until the job has fewer than maxConcurrentRuns active runs. Null: none waits.",
              "type": [
                "null",
                {
                  "type": "record",
                  "name": "FollowUpQueue",
                  "fields": [
                    {
                      "name": "firstPage",
                      "type": "long",
                      "doc": "Number of the page with the one that goes first."
                    },
                    {
                      "name": "taken",
                      "type": "int",
                      "doc": "Follow-ups of that page that have left the queue."
                    },
                    {
                      "name": "lastPage",
                      "type": "long",
                      "doc": "Number of the page that takes the next one."
                    },
                    {
                      "name": "count",
                      "type": "long",
                      "doc": "Follow-ups that wait."
                    },
                    {
                      "name": "bytes",
                      "type": "long",
                      "doc": "Their size."
                    },
                    {
                      "name": "lookAt",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "unit": "epoch ms",
                      "doc": "Since when there is a place for the first one. Null: there is none."
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
              "doc": "Dead runs that can be redriven, oldest first: the last ten, and up to 1,000 while their inputs and ends are at most about 4 MiB. Key P holds them."
            },
            {
              "name": "deadRunsDropped",
              "type": "long",
              "default": 0,
              "doc": "Dead runs that can no longer be redriven, because deadRuns had no room for them."
            },
            {
              "name": "decisions",
              "default": [],
              "doc": "Decisions not to fire, or not to fire yet, oldest first. The last twelve, in addition to the refusals of recentCommands.",
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
                      "doc": "When the owner decided."
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
                      "doc": "Nominal time of the occurrence, or of the first one."
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
                      "name": "count",
                      "type": "long",
                      "default": 1,
                      "doc": "Number of consecutive decisions with the same reason."
                    },
                    {
                      "name": "commandId",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "With DROPPED: the command; null if it was a follow-up."
                    }
                  ]
                }
              }
            },
            {
              "name": "waiting",
              "type": "boolean",
              "default": false,
              "doc": "Whether the next occurrence is due and waits for an active run to end. This happens with catchUp ALL when the job has maxConcurrentRuns active runs, and when runs of a backfill or a redrive are in its place."
            },
            {
              "name": "pausedByCommand",
              "type": "boolean",
              "default": false,
              "doc": "Whether a PAUSE is in force. It stays in force with new definitions, including invalid ones, until a RESUME."
            },
            {
              "name": "recentCommands",
              "type": {
                "type": "array",
                "items": "long"
              },
              "default": [],
              "doc": "Hashes of the commandIds of the last 32 accepted commands, oldest first (streams/state/refusals.ts). A repeated command does nothing."
            },
            {
              "name": "definitionKept",
              "type": "boolean",
              "default": false,
              "doc": "Whether key P with run number 0 holds the definition, because a later tombstone in jobs must not delete the job."
            },
            {
              "name": "droppedOffset",
              "type": "long",
              "default": -1,
              "doc": "Offset in jobs of the last definition that was dropped; -1: none since the one in force."
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
                      "doc": "Offset in jobs of the definition that made the run."
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
                      "doc": "Cause of the run."
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
                      "doc": "Number of runs that led to this one, each by onSuccess or onFailure of the run before it."
                    },
                    {
                      "name": "chainLeft",
                      "type": "int",
                      "default": 5000,
                      "doc": "Number of runs that may still follow from this one, directly and indirectly."
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
                      "doc": "Status of the run. WAITING: a limit delays its dispatch."
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
                      "doc": "Attempts that stopping workers gave back. They do not count against maxAttempts."
                    },
                    {
                      "name": "unstartedAttempts",
                      "type": "int",
                      "default": 0,
                      "doc": "Attempts before the current one that did not start, because their worker stopped, their pool was paused or their handler was missing."
                    },
                    {
                      "name": "dueAt",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "When the current attempt must start. In RETRY_WAIT: the end of the backoff. In WAITING with RATE: the reserved time."
                    },
                    {
                      "name": "parked",
                      "type": "boolean",
                      "default": false,
                      "doc": "In RETRY_WAIT: the time index ends the wait, at dueAt. Otherwise the retry topic does, and the time index only guards it."
                    },
                    {
                      "name": "tellAt",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "unit": "epoch ms",
                      "doc": "When a run that was sent to one worker is sent again if that worker has not started it. In RETRY_WAIT: when it is checked again whether a worker has the handler."
                    },
                    {
                      "name": "routedTo",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "In DISPATCHED: the worker that the run was sent to, because other workers of its pool do not have its handler. Null: any worker of the pool takes it, or the one of pinTo."
                    },
                    {
                      "name": "handlerMissingAt",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "unit": "epoch ms",
                      "doc": "Since when the run waits for a worker that has its handler. Null: it does not."
                    },
                    {
                      "name": "poolPausedAt",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "unit": "epoch ms",
                      "doc": "Since when the run waits because its pool is paused or drained. Null: it does not."
                    },
                    {
                      "name": "snapshot",
                      "type": "boolean",
                      "default": false,
                      "doc": "Whether key P holds the Execution of this run."
                    },
                    {
                      "name": "snapshotRunNo",
                      "type": [
                        "null",
                        "long"
                      ],
                      "default": null,
                      "doc": "With snapshot: run number in key P if several runs share one snapshot, because their definition was replaced while they were active. Null: the run's own number."
                    },
                    {
                      "name": "startDeadlineAt",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "Latest start of the current attempt."
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
                      "doc": "Worker that runs the current attempt."
                    },
                    {
                      "name": "waitsFor",
                      "default": null,
                      "doc": "In WAITING. SLOT: it waits until a run of its concurrencyKey ends. RATE: it holds its slot and waits for the start time that its rateLimit reserved.",
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
                      "doc": "Limits at the time the run was made, so a new definition does not change the counts. Null: no limits.",
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
                              "doc": "Key whose slot the run takes."
                            },
                            {
                              "name": "concurrencyLimit",
                              "type": "int",
                              "default": 1,
                              "doc": "Slots of the key. The value of the definition applies while it has the same key."
                            },
                            {
                              "name": "rateKey",
                              "type": [
                                "null",
                                "string"
                              ],
                              "default": null,
                              "doc": "Key of its rateLimit."
                            },
                            {
                              "name": "rateLimit",
                              "type": "int",
                              "default": 1,
                              "doc": "As in the definition, whose value applies while it has the same key."
                            },
                            {
                              "name": "ratePerMs",
                              "type": "long",
                              "default": 1,
                              "unit": "ms",
                              "doc": "As in the definition, whose value applies while it has the same key."
                            },
                            {
                              "name": "rank",
                              "type": "int",
                              "default": 1,
                              "doc": "Priority among waiting runs: 0 is HIGH, 1 NORMAL, 2 LOW."
                            },
                            {
                              "name": "startDeadlineMs",
                              "type": "long",
                              "unit": "ms",
                              "doc": "As in the definition: longest wait of each attempt for its start."
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
                              "doc": "Worker that ran it."
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
                            },
                            {
                              "name": "dueAt",
                              "type": "long",
                              "unit": "epoch ms",
                              "doc": "When the attempt was due."
                            },
                            {
                              "name": "dispatchedAt",
                              "type": "long",
                              "unit": "epoch ms",
                              "doc": "When the attempt was dispatched."
                            },
                            {
                              "name": "startedAt",
                              "type": [
                                "null",
                                "long"
                              ],
                              "default": null,
                              "unit": "epoch ms",
                              "doc": "When the attempt started; null if it did not, or if it is unknown."
                            },
                            {
                              "name": "stack",
                              "type": [
                                "null",
                                "string"
                              ],
                              "default": null,
                              "doc": "Stack of the error, at most 2,000 characters. Only the last error of a run has one."
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
              "doc": "The run that ended last. Older ones are under key R.",
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
                      "doc": "Cause of the run."
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
                      "doc": "How the run ended."
                    },
                    {
                      "name": "attempts",
                      "type": "int",
                      "doc": "Number of the last attempt."
                    },
                    {
                      "name": "unstartedAttempts",
                      "type": "int",
                      "default": 0,
                      "doc": "How many of these attempts did not start."
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
                      "doc": "When the run ended."
                    },
                    {
                      "name": "worker",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "Worker that ran the last attempt."
                    },
                    {
                      "name": "result",
                      "type": [
                        "null",
                        "bytes"
                      ],
                      "default": null,
                      "doc": "Value that the handler returned, as JSON."
                    },
                    {
                      "name": "note",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "Parts of the report that were left out, and why."
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
                      "doc": "Hash of the headers and the http target of the run's definition; 0 without both. A viewer sees the texts of this run only while the definition in force has the same hash. Null: unknown."
                    },
                    {
                      "name": "specOffset",
                      "type": "long",
                      "doc": "Offset in jobs of the definition that the run was made from."
                    },
                    {
                      "name": "dueAt",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "When the last attempt was due. A wait for a limit counts as before it."
                    },
                    {
                      "name": "dispatchedAt",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "When the last attempt was dispatched."
                    },
                    {
                      "name": "hasOwnInput",
                      "type": "boolean",
                      "doc": "Whether its input was kept apart from its definition, such as the payload of a command or the input of a dead run."
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
      "doc": "Key R: a finished run before the last one. Key P of a dead run: its end, without result and stack and with its last error only."
    },
    {
      "name": "snapshot",
      "type": [
        "null",
        "bytes"
      ],
      "default": null,
      "doc": "Key P: the framed Execution from which a run is dispatched again. It is stored for an active run whose definition was replaced or whose payload was overridden, and for a dead run that may be redriven. Runs of one replaced definition share one snapshot."
    },
    {
      "name": "followUps",
      "default": null,
      "doc": "Key F: a page of follow-ups that wait.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "FollowUpPage",
          "fields": [
            {
              "name": "items",
              "doc": "In their order.",
              "type": {
                "type": "array",
                "items": {
                  "type": "record",
                  "name": "FollowUp",
                  "fields": [
                    {
                      "name": "commandId",
                      "type": "string",
                      "doc": "As in its command."
                    },
                    {
                      "name": "at",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "When the owner read its command."
                    },
                    {
                      "name": "payload",
                      "type": [
                        "null",
                        "bytes"
                      ],
                      "default": null,
                      "doc": "As in its command."
                    },
                    {
                      "name": "chainDepth",
                      "type": "int",
                      "default": 0,
                      "doc": "As in its command."
                    },
                    {
                      "name": "chainLeft",
                      "type": "int",
                      "default": 5000,
                      "doc": "As in its command."
                    },
                    {
                      "name": "cause",
                      "default": null,
                      "doc": "The run that it follows.",
                      "type": [
                        "null",
                        {
                          "type": "record",
                          "name": "Cause",
                          "doc": "The run whose end triggered a follow-up.",
                          "fields": [
                            {
                              "name": "jobId",
                              "type": "string",
                              "maxLength": 255,
                              "doc": "Id of its job."
                            },
                            {
                              "name": "runNo",
                              "type": "long",
                              "minimum": 0,
                              "maximum": 9007199254740991,
                              "doc": "Number of the run."
                            },
                            {
                              "name": "life",
                              "type": "string",
                              "maxLength": 40,
                              "doc": "Life of its job."
                            },
                            {
                              "name": "outcome",
                              "type": {
                                "type": "enum",
                                "name": "CauseOutcome",
                                "symbols": [
                                  "SUCCEEDED",
                                  "DEAD",
                                  "EXPIRED"
                                ]
                              },
                              "doc": "How it ended."
                            },
                            {
                              "name": "scheduledFor",
                              "type": "long",
                              "unit": "epoch ms",
                              "doc": "Its nominal time."
                            },
                            {
                              "name": "finishedAt",
                              "type": "long",
                              "unit": "epoch ms",
                              "doc": "When it ended."
                            },
                            {
                              "name": "errorType",
                              "type": [
                                "null",
                                "string"
                              ],
                              "default": null,
                              "maxLength": 1000,
                              "doc": "Type of its last error; null if it has none."
                            },
                            {
                              "name": "errorMessage",
                              "type": [
                                "null",
                                "string"
                              ],
                              "default": null,
                              "maxLength": 1000,
                              "doc": "Message of its last error, at most 1,000 characters."
                            },
                            {
                              "name": "result",
                              "type": [
                                "null",
                                "bytes"
                              ],
                              "default": null,
                              "maxBytes": 65536,
                              "doc": "Value that its handler returned, as JSON."
                            }
                          ]
                        }
                      ]
                    }
                  ]
                }
              }
            }
          ]
        }
      ]
    },
    {
      "name": "slots",
      "default": null,
      "doc": "Key C: use of a concurrencyKey.",
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
              "doc": "Runs that wait for a slot."
            },
            {
              "name": "limit",
              "type": "int",
              "default": 1,
              "doc": "Slots of the key at the last request."
            }
          ]
        }
      ]
    },
    {
      "name": "starts",
      "default": null,
      "doc": "Key W: the last starts under a rateLimit.",
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
              "doc": "The latest start."
            },
            {
              "name": "gaps",
              "type": {
                "type": "array",
                "items": "long"
              },
              "default": [],
              "unit": "ms",
              "doc": "Intervals between consecutive starts, latest first."
            },
            {
              "name": "limit",
              "type": "int",
              "doc": "The largest limit of any request; this many starts are stored."
            },
            {
              "name": "perMs",
              "type": "long",
              "unit": "ms",
              "doc": "The largest perMs of any request; no start is stored longer."
            },
            {
              "name": "givenAt",
              "type": "long",
              "unit": "epoch ms",
              "doc": "The owner's clock at the latest reservation."
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
              "doc": "Next offset of jobs. Records before it that belong to another partition were moved to that partition."
            },
            {
              "name": "committedAt",
              "type": "long",
              "unit": "epoch ms",
              "doc": "The owner's clock. It increases within one claim."
            },
            {
              "name": "aheadUntil",
              "type": "long",
              "default": 0,
              "unit": "epoch ms",
              "doc": "Latest due time in the ahead topics. They are read in offset order, so no earlier due time may be appended to them."
            },
            {
              "name": "zoneRules",
              "type": "string",
              "default": "",
              "doc": "Version of the time zone rules, such as 2026a, by which all next times of the partition were computed. Empty while some may be by other rules."
            },
            {
              "name": "claimedAt",
              "type": "long",
              "default": 0,
              "unit": "epoch ms",
              "doc": "Append time of the claim at claimOffset. It distinguishes claims if the topic was recreated. 0: a restore wrote the position."
            },
            {
              "name": "commandsUntil",
              "type": "long",
              "default": 0,
              "unit": "epoch ms",
              "doc": "Latest append time of the commands before commandsOffset, as the brokers report it. 0: unknown; -1: decisions were lost; -2: not yet known whether decisions were lost."
            },
            {
              "name": "commandsAnewTo",
              "type": "long",
              "default": 0,
              "doc": "End of job-commands when its truncation or recreation was noticed. A command before it that was appended by commandsUntil was already applied. 0: none."
            }
          ]
        }
      ]
    },
    {
      "name": "owner",
      "default": null,
      "doc": "Key M owner: the claim of the partition.",
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
              "doc": "The owner's clock. Each claim is later than the one before."
            },
            {
              "name": "zoneRules",
              "type": "string",
              "doc": "Version of the owner's time zone rules, such as 2026a."
            }
          ]
        }
      ]
    }
  ]
} as const

export const operationSchema = {
  "type": "record",
  "name": "OperationRecord",
  "namespace": "duelog",
  "doc": "A part of an operation: a change of many jobs or dead runs. One of request, progress and cancel is set. Key: the operation's id and the name of the part, such as `<id>/progress`. The latest record of each key counts.",
  "fields": [
    {
      "name": "id",
      "type": "string",
      "minLength": 1,
      "maxLength": 64,
      "doc": "Id of the operation."
    },
    {
      "name": "at",
      "type": "long",
      "unit": "epoch ms",
      "minimum": 0,
      "maximum": 8640000000000000,
      "doc": "When the record was written, by the writer's clock."
    },
    {
      "name": "request",
      "default": null,
      "doc": "What was asked for. Written once, by the API.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "OperationRequest",
          "fields": [
            {
              "name": "action",
              "type": "string",
              "maxLength": 32,
              "doc": "PAUSE, RESUME, CANCEL, TRIGGER or DELETE of jobs; REDRIVE or DISCARD of dead runs; CANCEL_RUN of active runs. Later versions may have others, which this one leaves to them."
            },
            {
              "name": "jobIds",
              "type": [
                "null",
                {
                  "type": "array",
                  "items": "string"
                }
              ],
              "default": null,
              "doc": "The jobs. Null: the filter chooses them."
            },
            {
              "name": "runIds",
              "type": [
                "null",
                {
                  "type": "array",
                  "items": "string"
                }
              ],
              "default": null,
              "doc": "The runs, as `<jobId>/<runNo>`. Null: all dead or active runs of the jobs."
            },
            {
              "name": "tag",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Only jobs with this tag."
            },
            {
              "name": "handler",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Only jobs with this handler."
            },
            {
              "name": "status",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Only jobs with this status."
            },
            {
              "name": "idPrefix",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Only jobs whose id begins with this."
            },
            {
              "name": "idContains",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Only jobs whose id contains this."
            },
            {
              "name": "runStatus",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "With CANCEL_RUN: only runs with this status."
            },
            {
              "name": "diedFrom",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "With REDRIVE and DISCARD: only runs that died at this time or later."
            },
            {
              "name": "diedTo",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "Only runs that died before this time."
            },
            {
              "name": "errorType",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Only runs whose last error has this type."
            },
            {
              "name": "errorKind",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Only runs whose last error is of this kind: its type and message with `#` for numbers and ids."
            },
            {
              "name": "actor",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "maxLength": 1024,
              "doc": "Who asked for it. Each of its commands has the same actor."
            },
            {
              "name": "payload",
              "type": [
                "null",
                "bytes"
              ],
              "default": null,
              "doc": "With TRIGGER: payload of each run, in place of the definition's payload."
            },
            {
              "name": "payloadIsJson",
              "type": "boolean",
              "default": false,
              "doc": "True: the payload is JSON, and a job with another media type gets its text. False: all get these bytes."
            }
          ]
        }
      ]
    },
    {
      "name": "progress",
      "default": null,
      "doc": "How far it is. Written by the process that carries it out.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "OperationProgress",
          "fields": [
            {
              "name": "status",
              "type": "string",
              "doc": "RUNNING, DONE, CANCELLED or FAILED."
            },
            {
              "name": "total",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "doc": "Number of jobs or dead runs that it found at its start. Null: not counted yet."
            },
            {
              "name": "applied",
              "type": "long",
              "default": 0,
              "doc": "Jobs or dead runs that were changed."
            },
            {
              "name": "refused",
              "type": "long",
              "default": 0,
              "doc": "Jobs or dead runs whose change was refused."
            },
            {
              "name": "reasons",
              "default": [],
              "doc": "Why changes were refused, most frequent first.",
              "type": {
                "type": "array",
                "items": {
                  "type": "record",
                  "name": "OperationReason",
                  "fields": [
                    {
                      "name": "reason",
                      "type": "string",
                      "doc": "A sentence about the first of them."
                    },
                    {
                      "name": "code",
                      "type": "string",
                      "doc": "A stable word, such as max-concurrent-runs."
                    },
                    {
                      "name": "count",
                      "type": "long",
                      "doc": "Number of refusals with this code."
                    },
                    {
                      "name": "example",
                      "type": "string",
                      "doc": "The first job or run."
                    }
                  ]
                }
              }
            },
            {
              "name": "parts",
              "default": [],
              "doc": "How far it is in each partition.",
              "type": {
                "type": "array",
                "items": {
                  "type": "record",
                  "name": "OperationPart",
                  "fields": [
                    {
                      "name": "partition",
                      "type": "int",
                      "doc": "The partition."
                    },
                    {
                      "name": "jobsOffset",
                      "type": "long",
                      "doc": "Jobs that were first defined at or after this offset of jobs are left alone."
                    },
                    {
                      "name": "startedAt",
                      "type": "long",
                      "unit": "epoch ms",
                      "doc": "Runs that died after this time of the owner are left alone."
                    },
                    {
                      "name": "after",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "All jobs up to this id are done. Null: none."
                    },
                    {
                      "name": "pendingTo",
                      "type": [
                        "null",
                        "string"
                      ],
                      "default": null,
                      "doc": "Changes up to this job may be written already. Null: none after the last done one."
                    },
                    {
                      "name": "pending",
                      "type": "long",
                      "default": 0,
                      "doc": "Number of these changes."
                    },
                    {
                      "name": "left",
                      "type": "long",
                      "default": 0,
                      "doc": "Dead runs of this round whose jobs have no room for a further run."
                    },
                    {
                      "name": "ended",
                      "type": "boolean",
                      "default": false,
                      "doc": "Whether the partition is done."
                    }
                  ]
                }
              }
            },
            {
              "name": "startedAt",
              "type": "long",
              "unit": "epoch ms",
              "doc": "When it was begun."
            },
            {
              "name": "effectiveAt",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "Since when it holds for all its jobs. PAUSE, CANCEL and DELETE by filter: when the last owner had made it known to its partition; a job that comes up is changed before it fires. Otherwise: when all were changed. Null before."
            },
            {
              "name": "endedAt",
              "type": [
                "null",
                "long"
              ],
              "default": null,
              "unit": "epoch ms",
              "doc": "When it ended; null before."
            },
            {
              "name": "problem",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Why it does not go on, or why it failed; null if it goes on."
            },
            {
              "name": "driver",
              "type": "string",
              "default": "",
              "doc": "name@host:pid:boot of the process that carries it out."
            }
          ]
        }
      ]
    },
    {
      "name": "cancel",
      "default": null,
      "doc": "That it shall end early. Written by the API.",
      "type": [
        "null",
        {
          "type": "record",
          "name": "OperationCancel",
          "fields": [
            {
              "name": "actor",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "doc": "Who cancelled it."
            }
          ]
        }
      ]
    }
  ]
} as const

export const pauseSchema = {
  "type": "record",
  "name": "Pause",
  "namespace": "duelog",
  "doc": "That a pool or a worker is paused or drained. Key: `pool/<name>` or `worker/<instance>`. The latest record of each key counts; a record without a value resumes it.",
  "fields": [
    {
      "name": "name",
      "type": "string",
      "minLength": 1,
      "maxLength": 512,
      "doc": "Name of the pool, or name@host:pid:boot of the worker."
    },
    {
      "name": "mode",
      "type": "string",
      "maxLength": 32,
      "doc": "PAUSE or DRAIN. Later versions may have others; a process that does not know one treats it as PAUSE."
    },
    {
      "name": "at",
      "type": "long",
      "unit": "epoch ms",
      "minimum": 0,
      "maximum": 8640000000000000,
      "doc": "Since when, by the clock of the API process."
    },
    {
      "name": "actor",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "maxLength": 1024,
      "doc": "Who asked for it."
    },
    {
      "name": "pools",
      "type": {
        "type": "array",
        "items": "string"
      },
      "default": [],
      "doc": "Of a worker: the pools that it served. It leaves their groups while it is paused."
    }
  ]
} as const

export const runLogSchema = {
  "type": "record",
  "name": "RunLog",
  "namespace": "duelog",
  "doc": "Lines that a handler wrote with run.log during one attempt, in their order. The worker writes them without a transaction, before its last report of the attempt. Key: job id.",
  "fields": [
    {
      "name": "jobId",
      "type": "string",
      "doc": "As in the execution."
    },
    {
      "name": "runNo",
      "type": "long",
      "doc": "As in the execution."
    },
    {
      "name": "life",
      "type": "string",
      "default": "",
      "doc": "As in the execution."
    },
    {
      "name": "attempt",
      "type": "int",
      "doc": "As in the execution."
    },
    {
      "name": "worker",
      "type": "string",
      "default": "",
      "doc": "name@host:pid:boot of the worker."
    },
    {
      "name": "firstNo",
      "type": "long",
      "default": 1,
      "doc": "Number of the first line. A worker counts the lines of an attempt from 1. A record that was written twice repeats the numbers; lost lines leave a gap."
    },
    {
      "name": "lines",
      "default": [],
      "doc": "The lines.",
      "type": {
        "type": "array",
        "items": {
          "type": "record",
          "name": "RunLogLine",
          "fields": [
            {
              "name": "at",
              "type": "long",
              "unit": "epoch ms",
              "doc": "When the handler wrote the line, by the worker's clock."
            },
            {
              "name": "level",
              "type": "string",
              "default": "info",
              "doc": "debug, info, warn or error."
            },
            {
              "name": "text",
              "type": "string",
              "maxBytes": 4096,
              "doc": "The line. The rest of a longer text is left out."
            },
            {
              "name": "fields",
              "type": [
                "null",
                "string"
              ],
              "default": null,
              "maxBytes": 4096,
              "doc": "JSON object whose values are texts, numbers, booleans or null. Fields beyond the limit are left out."
            },
            {
              "name": "shortened",
              "type": "boolean",
              "default": false,
              "doc": "Whether parts of the line or of its fields were left out."
            }
          ]
        }
      }
    }
  ]
} as const

export const workerControlSchema = {
  "type": "record",
  "name": "WorkerControl",
  "namespace": "duelog",
  "doc": "A message of an owner to all workers about one attempt. Key: job id. Each worker reads all of them in its own consumer group.",
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
      "doc": "CANCEL: the attempt must not start, or must stop. RUN: the attempt is for the worker that `instance` names."
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
      "doc": "Number of the attempt. Other attempts of the run are not affected."
    },
    {
      "name": "specOffset",
      "type": [
        "null",
        "long"
      ],
      "default": null,
      "doc": "As in the execution. A job that was deleted and defined again numbers its runs from 1 again; specOffset distinguishes their attempts."
    },
    {
      "name": "reason",
      "type": "string",
      "default": "",
      "doc": "With CANCEL: the reason, for the handler and the worker's log."
    },
    {
      "name": "instance",
      "type": [
        "null",
        "string"
      ],
      "default": null,
      "doc": "With RUN: name or host of the worker, as in pinTo, or its whole name@host:pid:boot."
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

/** By the names of the schemas: a record as it is read, and as a writer may give it. */
export interface Records {
  'audit-event': { read: AuditEvent; written: AuditEventInput }
  'dead-letter': { read: DeadLetter; written: DeadLetterInput }
  'ended-run': { read: EndedRun; written: EndedRunInput }
  'execution-event': { read: ExecutionEvent; written: ExecutionEventInput }
  'execution': { read: Execution; written: ExecutionInput }
  'job-command': { read: JobCommand; written: JobCommandInput }
  'job-definition': { read: JobDefinition; written: JobDefinitionInput }
  'job-state': { read: StateEntry; written: StateEntryInput }
  'operation': { read: OperationRecord; written: OperationRecordInput }
  'pause': { read: Pause; written: PauseInput }
  'run-log': { read: RunLog; written: RunLogInput }
  'worker-control': { read: WorkerControl; written: WorkerControlInput }
}

export const recordSchemas = {
  'audit-event': auditEventSchema,
  'dead-letter': deadLetterSchema,
  'ended-run': endedRunSchema,
  'execution-event': executionEventSchema,
  'execution': executionSchema,
  'job-command': jobCommandSchema,
  'job-definition': jobDefinitionSchema,
  'job-state': jobStateSchema,
  'operation': operationSchema,
  'pause': pauseSchema,
  'run-log': runLogSchema,
  'worker-control': workerControlSchema,
} as const
