// Made by docs/generate.ts from the OpenAPI document: change the schemas in src/server/api/schemas, then run `npm run generate`.

export type FieldProblem = {
  field: string
  value?: any
  limit: string
  message: string
}

export type Problem = {
  'type': string
  /** Meaning of the code. */
  title: string
  status: number
  /** What happened, where, and what to do. */
  detail: string
  /** Stable; programs may rely on it. */
  code: 'bad-config' | 'bad-request' | 'bad-definition' | 'bad-job-id' | 'bad-usage' | 'unauthorized' | 'forbidden' | 'unsupported-media-type' | 'too-many-requests' | 'identity-unavailable' | 'overloaded' | 'payload-too-large' | 'not-found' | 'method-not-allowed' | 'command-refused' | 'version-conflict' | 'wait-timeout' | 'run-failed' | 'not-ready' | 'peer-refused' | 'encode-failed' | 'record-refused' | 'undecodable' | 'registry-unavailable' | 'broker-unavailable' | 'unreachable' | 'fenced' | 'system-moved' | 'unsafe-topic' | 'log-shrunk' | 'changelog-cut' | 'kafka-denied' | 'foreign-data' | 'embedded-failed' | 'handler-missing' | 'internal'
  /** Whether the same request may succeed later. */
  retriable: boolean
  /** Identifies the request in the log of the server. */
  instance?: string
  problems?: FieldProblem[]
}

export type Instant = string | number

export type Schedule = {
  /** One run at this instant. An instant in the past is due at once. Unit: epoch ms. */
  at?: Instant | null
  /** One run, this long after the broker appended the definition, but not before startAt. Unit: ms. */
  delayMs?: number | null
  /** A run every everyMs milliseconds, counted from the anchor. Unit: ms. */
  everyMs?: number | null
  /** With everyMs: an instant to which the runs are aligned. Default: the broker's append time of the definition; the first run is then one interval later. Unit: epoch ms. */
  anchor?: Instant | null
  /** With everyMs: START counts from the last nominal time, END from the end of the last run. */
  'from'?: 'START' | 'END'
  /** A cron expression with 5 fields, or with 6 fields and seconds first. It may use names, lists, ranges, steps, ?, L, W, #, and @daily and the other @ names. */
  cron?: string | null
  /** With cron and rrule: the IANA time zone of the rule. */
  timezone?: string
  /** A recurrence rule of RFC 5545, such as FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1. INTERVAL is at most 100,000 and COUNT at most 10,000; for more, use UNTIL or maxRuns. The search for its first time ends after 100,000 steps; a step looks at one day. */
  rrule?: string | null
  /** With rrule: start of the rule, in whole seconds. The day and the time of day that the rule does not name are taken from it. It is an occurrence only if it matches the rule. Default: startAt, rounded up to a second; without startAt the broker's append time of the definition, rounded down. Unit: epoch ms. */
  dtstart?: Instant | null
  /** With cron, rrule and everyMs (from START): instants at which the job does not fire, in whole seconds with cron and rrule. COUNT still counts them. Unit: epoch ms. */
  exdates?: Instant[]
  /** With cron and rrule: treatment of a local time that daylight saving leaves out. NEXT_VALID: it is due once, at the first instant after the gap. SKIP: it is not due. SHIFT: it is due as long after the start of the gap as it would be without the gap. */
  dstGap?: 'NEXT_VALID' | 'SKIP' | 'SHIFT'
  /** With cron and rrule: a local time that occurs twice is due at the FIRST, the LAST or BOTH of its instants. */
  dstOverlap?: 'FIRST' | 'LAST' | 'BOTH'
}

export type Bytes = {
  base64: string
}

export type TextOrBytes = string | Bytes

export type TopicTarget = {
  /** Name of the topic; it must be allowed by DUELOG_TARGET_TOPICS and exist. */
  name: string
  /** Key of the record. Default: the job id. */
  key?: TextOrBytes | null
  /** Partition of the record. Default: the choice of Kafka's default partitioner (murmur2) for the key. */
  partition?: number | null
}

export type HttpTarget = {
  /** URL of the request. It must not contain a user or password; use headers. */
  url: string
  /** Method of the request. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Headers of the request, in addition to those of the definition and those of Duelog. */
  headers?: {
    [key: string]: string
  }
}

export type Target = {
  /** Name of the handler that a worker registered. */
  handler?: string | null
  /** The owner writes payload and headers to this topic when the job is due: exactly once, without a worker, and never before its time. While the topic is missing or not allowed, the job is INVALID. The owner checks this again after 5 s, then at growing intervals up to 10 min. */
  topic?: TopicTarget | null
  /** A worker of the pool sends the payload in an HTTP request, at least once (built-in handler `http`). */
  http?: HttpTarget | null
  /** With handler and http: the pool of workers that runs it. Each pool has its own executions topics. */
  pool?: string
}

export type FixedBackoff = {
  /** The delay. Unit: ms. Allowed: 0 to 86,400,000. */
  delayMs: number
}

export type LinearBackoff = {
  /** Length of one step. Unit: ms. Allowed: 1 to 86,400,000. */
  stepMs: number
}

export type ExponentialBackoff = {
  /** Delay of the first retry. Unit: ms. Allowed: 1 to 86,400,000. */
  baseMs: number
  /** Growth from one retry to the next. Allowed: 1 to 100. Default: 2. */
  factor?: number
  /** Upper bound of the delay. Unit: ms. Allowed: 1 to 86,400,000. Default: 3,600,000. */
  maxMs?: number
}

export type Backoff = {
  /** One delay for each retry; the last delay repeats. Empty: not set. Unit: ms. */
  list?: number[]
  /** The same delay for each retry. */
  fixed?: FixedBackoff | null
  /** The n-th retry waits n × stepMs. */
  linear?: LinearBackoff | null
  /** The n-th retry waits base × factor^(n−1), at most maxMs. */
  exponential?: ExponentialBackoff | null
}

export type Retry = {
  /** Attempts of one run, including the first. After the last failure the run becomes a dead letter. Allowed: 1 to 1,000. Default: 5. */
  maxAttempts?: number
  /** Delay before the next attempt. Exactly one of its fields is set. Default: `{'list':[1000,5000,30000,120000,600000]}`. */
  backoff?: Backoff
  /** The run is not retried if its next attempt would be due more than maxAgeMs after its nominal time. What it has waited counts: for a limit, a paused pool, or as a follow-up. It does not apply to redriven runs and to those of a backfill. Unit: ms. Allowed: 1 to 2,592,000,000. Default: none. */
  maxAgeMs?: number | null
  /** Share of the delay that is random. It is chosen from the hash of job id, run and attempt, so a replay chooses the same. Allowed: 0 to 1. Default: 0. */
  jitter?: number
  /** Error types that are not retried: the run becomes a dead letter at once. Allowed: at most 32. */
  nonRetryable?: string[]
}

export type RateLimit = {
  /** Key of the limit. At most 256 bytes, no control characters. Allowed: 1 to 256 characters. */
  key: string
  /** The largest number of attempts of the key that start within any perMs. A further attempt is WAITING until its time. It expires if its time is after its start deadline. Allowed: 1 to 10,000. */
  limit: number
  /** Length of the window, which may begin at any instant. Unit: ms. Allowed: 1 to 86,400,000. */
  perMs: number
}

export type Priority = ('HIGH' | 'NORMAL' | 'LOW') | number

export type JobDefinition = {
  /** Job id. Required in a batch; optional if the path has it. */
  id?: string
  schedule: Schedule
  /** Each run is due later than its nominal time by up to jitterMs, and always before the next nominal time. The delay is chosen from the hash of job id and nominal time, so a replay chooses the same. scheduledFor stays nominal. Unit: ms. Allowed: 0 to 86,400,000. Default: 0. */
  jitterMs?: number
  target: Target
  /** Media type of the payload. application/json is parsed for the handler; the API and the library set it for a payload without one. Allowed: 0 to 128 characters. Default: none. */
  contentType?: string | null
  /** Headers that the handler receives unchanged. Allowed: at most 32. */
  headers?: {
    [key: string]: TextOrBytes
  }
  /** Only the worker with this name, or one on the host with this name, runs the job. Without such a worker the run waits until its start deadline and expires. A worker that comes back receives the run within seconds. If the schedulers cannot see the workers, it takes as long as the worker was away, at most 10 min. Allowed: 1 to 255 characters. Default: none. */
  pinTo?: string | null
  /** What happens when an attempt fails. Default: `{'maxAttempts':5,'backoff':{'list':[1000,5000,30000,120000,600000]},'jitter':0}`. */
  retry?: Retry
  /** Longest duration of one attempt. Then its signal is aborted and the attempt counts as failed. Unit: ms. Allowed: 100 to 604,800,000. Default: 300,000. */
  attemptTimeoutMs?: number
  /** A running attempt that sends no report for leaseMs is lost. Another worker gets the next attempt. Unit: ms. Allowed: 1,000 to 3,600,000. Default: 30,000. */
  leaseMs?: number
  /** A run expires if no worker has started it within startDeadlineMs after its due time, or after its dispatch if that was later. It also expires ten minutes before retention may delete it from its executions topic (retention.ms, default 7 days), but not within the first hour. Unit: ms. Allowed: 1,000 to 2,592,000,000. Default: 86,400,000. */
  startDeadlineMs?: number
  /** Occurrences that are late by more than misfireThresholdMs. SKIP: none of them runs. LATEST: the latest runs. ALL: all run, up to catchUpMax. Default: LATEST. */
  catchUp?: 'SKIP' | 'LATEST' | 'ALL'
  /** With catchUp ALL: the largest number of missed occurrences that run. Older ones are skipped and counted. Allowed: 1 to 100,000. Default: 100. */
  catchUpMax?: number
  /** An occurrence that fires later than this is a misfire. Unit: ms. Allowed: 0 to 86,400,000. Default: 1,000. */
  misfireThresholdMs?: number
  /** An occurrence is due while an earlier run is still active. ALLOW: both run. SKIP: the occurrence is skipped. QUEUE_ONE: the first such occurrence waits, and runs when the other run has ended. CANCEL_PREVIOUS: all active runs are cancelled, also follow-ups and those by command. Default: ALLOW. */
  overlap?: 'ALLOW' | 'SKIP' | 'QUEUE_ONE' | 'CANCEL_PREVIOUS'
  /** The largest number of active runs of the job, from any cause. A run that waits for a slot or for a start of its rateLimit is active. A TRIGGER or a REDRIVE above the limit is refused and shown at /why; follow-ups wait, at most 64 MiB of them. With overlap ALLOW a further occurrence is skipped and counted; with catchUp ALL it waits until a run ends. Allowed: 1 to 100. Default: 16. */
  maxConcurrentRuns?: number
  /** Jobs with the same key share concurrencyLimit. The limit is exact among the jobs of one partition: give their ids one {tag}. At most 256 bytes, no control characters. For handlers and HTTP only. Allowed: 1 to 256 characters. Default: none. */
  concurrencyKey?: string | null
  /** With concurrencyKey: the largest number of runs of the key that are dispatched and have not ended. A further run is WAITING. Waiting runs are dispatched by priority, then by attempts, then by due time; every 16th because it has been due longest. Allowed: 1 to 10,000. Default: 1. */
  concurrencyLimit?: number
  /** Jobs with the same rateLimit.key share a rate of starts. The rate holds among the jobs of one partition: give their ids one {tag}. Default: none. */
  rateLimit?: RateLimit | null
  /** No occurrence is due before this instant. Unit: epoch ms. Default: none. */
  startAt?: Instant | null
  /** No occurrence is due after this instant. Then the job is COMPLETED. Unit: epoch ms. Default: none. */
  endAt?: Instant | null
  /** End of validity, exclusive. From this instant no occurrence fires, not even one that was due before. A run that has not started expires, and TRIGGER, REDRIVE and BACKFILL are refused. Unit: epoch ms. Default: none. */
  expireAt?: Instant | null
  /** Number of scheduled runs after which the job is COMPLETED. Default: none. */
  maxRuns?: number | null
  /** True: the job does not fire until it is resumed. Default: false. */
  paused?: boolean
  /** Version chosen by the writer. A definition with a lower version than the one in force is dropped. A definition without a version is always accepted. Default: none. */
  version?: number | null
  /** A definition of this job with the same key as the one in force is acknowledged and dropped if it was appended within dedupWindowMs after it. Allowed: 1 to 255 characters. Default: none. */
  dedupKey?: string | null
  /** With dedupKey: length of the window. Unit: ms. Allowed: 0 to 2,592,000,000. Default: 0. */
  dedupWindowMs?: number
  /** Ids of other jobs that are triggered when a run of this job succeeds. At most 5,000 runs follow from one run, over at most 32 generations. Beyond that no job is triggered, and its /why says so. The run that follows has the id, outcome, error and result of this one as its cause. Allowed: at most 16. */
  onSuccess?: string[]
  /** Ids of other jobs that are triggered when a run of this job is dead or expires. The limits of onSuccess apply. Allowed: at most 16. */
  onFailure?: string[]
  /** Words by which the job can be found. Allowed: at most 16. */
  tags?: string[]
  /** A completed job whose last run succeeded is deleted after retainCompletedMs. Unit: ms. Allowed: 0 to 2,592,000,000. Default: 3,600,000. */
  retainCompletedMs?: number
  /** A completed job whose last run failed, expired or is dead is deleted after retainFailedMs. Unit: ms. Allowed: 0 to 2,592,000,000. Default: 259,200,000. */
  retainFailedMs?: number
  /** HIGH, NORMAL, LOW, or a number from 0 to 9. 9 goes first; HIGH is 8, NORMAL 4 and LOW 1. 7 to 9, 3 to 6 and 0 to 2 are dispatched in one topic each. A worker without free capacity starts runs of a higher priority first, then those with fewer attempts; every 16th start is of the run that has been due longest among the others. Default: NORMAL. */
  priority?: Priority
  /** Any JSON value. Text if contentType is not JSON. */
  payload?: any
  /** The payload as bytes, instead of payload. */
  payloadBase64?: string
}

export type AttemptError = {
  attempt: number
  /** Time in ISO 8601, UTC. */
  at: string
  worker: string | null
  'type': string
  message: string
  /** When the attempt was due. */
  dueAt: string
  /** Time in ISO 8601, UTC. */
  dispatchedAt: string
  /** When the attempt started; null if it did not. */
  startedAt: string | null
  /** Only in the answer about one run: the stack of its last error, at most 2,000 characters. */
  stack?: string | null
}

export type Run = {
  /** <jobId>/<runNo> */
  runId: string
  jobId: string
  runNo: number
  status: 'DISPATCHED' | 'RUNNING' | 'RETRY_WAIT' | 'SUCCEEDED' | 'EXPIRED' | 'CANCELLED' | 'DEAD' | 'WAITING'
  trigger: 'SCHEDULE' | 'MANUAL' | 'REDRIVE' | 'BACKFILL' | 'FOLLOW_UP'
  commandId?: string | null
  /** Time in ISO 8601, UTC. */
  scheduledFor: string
  /** Attempts that started. */
  attempts: number
  /** Number of the current or last one, with those that did not start. */
  attempt?: number
  /** When the last attempt was due; a wait for a limit counts as before it. */
  dueAt?: string
  /** When the last attempt was dispatched. */
  dispatchedAt?: string
  /** While active: the current attempt must start before this time. */
  startDeadlineAt?: string
  /** While WAITING: SLOT for a slot of its concurrencyKey, RATE for the start that its rateLimit gave it, HANDLER for a worker that has its handler, POOL_PAUSED until its pool is resumed. */
  waitsFor?: ('SLOT' | 'RATE' | 'HANDLER' | 'POOL_PAUSED' | null) | ('SLOT' | 'RATE' | 'HANDLER' | 'POOL_PAUSED' | null)
  /** While it waits for SLOT or RATE: its concurrencyKey, or the key of its rateLimit. */
  limitKey?: string | null
  /** Time in ISO 8601, UTC; null if there is none. */
  startedAt: string | null
  /** Time in ISO 8601, UTC; null if there is none. */
  finishedAt: string | null
  worker: string | null
  /** Handler of the run. Absent for a topic, or if another definition made the run. */
  handler?: string
  /** Pool of its workers; absent like the handler. */
  pool?: string
  /** While it runs: the completed share that the handler reported last, from 0 to 1. */
  progress?: number | null
  /** While it runs: the last progress message of the handler. */
  message?: string | null
  /** While it runs: when the last heartbeat was read. */
  checkedAt?: string | null
  /** The return value of the handler. */
  result: any
  /** Which part of the final report was left out, and why. */
  note?: string | null
  /** The last five failed attempts. */
  errors: AttemptError[]
}

export type Written = {
  id: string
  /** Version of the definition, as in the ETag header. */
  etag: string
  partition: number
  offset: number
  applied: boolean
  /** With wait=applied: status of the job with this definition. INVALID: it does not fire, and reason says why. */
  status?: 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'INVALID'
  /** With status INVALID: why. */
  reason?: string
  /** With 202: the change is durable, but what the request waits for did not happen in time. */
  code?: 'wait-timeout'
  detail?: string
  /** Allowed but probably unintended, such as a cycle of onSuccess and onFailure, or a limit shared by jobs of several partitions. Absent: no warnings. */
  warnings?: string[]
  /** With wait=ended: the run that has ended. Null: there is none and will be none; reason says why. */
  run?: Run | null
}

export type Accepted = {
  id: string
  /** Version of the definition, as in the ETag header. */
  etag: string
  partition: number
  offset: number
  applied: boolean
  /** With wait=applied: status of the job with this definition. INVALID: it does not fire, and reason says why. */
  status?: 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'INVALID'
  /** With status INVALID: why. */
  reason?: string
  /** With 202: the change is durable, but what the request waits for did not happen in time. */
  code?: 'wait-timeout'
  detail?: string
  /** Allowed but probably unintended, such as a cycle of onSuccess and onFailure, or a limit shared by jobs of several partitions. Absent: no warnings. */
  warnings?: string[]
}

export type DecidedOccurrence = {
  /** Time in ISO 8601, UTC. */
  at: string
  /** Local time minus UTC at that time. */
  offsetMs: number
}

export type SchedulePlace = {
  /** Time in ISO 8601, UTC. */
  anchorAt: string
  /** The last occurrence that became a run or a skip. */
  decidedFor: DecidedOccurrence | null
  /** Time in ISO 8601, UTC; null if there is none. */
  latestFiredFor: string | null
}

export type BackfillProgress = {
  /** commandId of its runs. */
  id: string
  /** Time in ISO 8601, UTC. */
  'from': string
  /** End, exclusive. */
  to: string
  /** Nominal time of its next run. */
  nextAt: string
  /** Runs that it has made. */
  made: number
}

export type Job = {
  id: string
  etag: string
  status: 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'INVALID'
  /** Why the job is INVALID, or why its last occurrence was skipped. */
  reason: string | null
  /** Nominal time of the next occurrence. Null if there is none, and while a pause has let it pass. */
  nextFireAt: string | null
  /** Time at which it is due, with jitter. Null without jitterMs. */
  nextDueAt: string | null
  place?: SchedulePlace
  /** Number of the last run. */
  runNo: number
  scheduledRuns: number
  succeeded: number
  failed: number
  skipped: number
  cancelled: number
  /** Numbers of dead runs that can be redriven, at most 1,000. */
  deadRuns: number[]
  /** Older dead runs that can no longer be redriven, because there was no room to keep them. */
  deadRunsDropped: number
  /** The backfill in progress. Null: none makes runs now; those that one has made may be active. */
  backfill: BackfillProgress | null
  /** Follow-ups that wait until the job has fewer than maxConcurrentRuns active runs. */
  followUpsWaiting: number
  active: Run[]
  /** Null before the first run. */
  lastRun: Run | null
  /** Null while the job is INVALID because its bytes could not be read. */
  definition: JobDefinition | null
}

export type StaleCopy = {
  partition: number
  /** Null: not known. */
  behindRecords: number | null
}

export type JobPage = {
  jobs: Job[]
  /** Number of jobs that were searched for this page. */
  searched: number
  /** Cursor of the next page; null at the end. A page may be short, even empty, and still have one. */
  cursor: string | null
  /** With stale=true: partitions that were read from a copy, as in the header Duelog-Stale. Absent if all owners answered. */
  stale?: StaleCopy[]
}

export type Reason = {
  code: string
  text: string
  /** Time in ISO 8601, UTC; null if there is none. */
  at: string | null
  /** The refused command, if the reason is one. */
  commandId?: string
}

export type JobExplanation = {
  id: string
  status: 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'INVALID'
  why: Reason[]
}

export type TriggerRequest = {
  /** Replaces the payload of the definition; same form. */
  payload?: any
  /** The payload as base64. */
  payloadBase64?: string
}

export type RunCommandResult = {
  /** Derived from Idempotency-Key if the request had one. */
  commandId: string
  /** Whether the owner confirmed within 5 s that it applied the command. */
  applied: boolean
  /** The created run. Null: none was created, or it is no longer kept; see reason. */
  runId?: string | null
  reason?: string | null
  /** Status of the job after the command. */
  status?: string
  code?: 'wait-timeout'
  detail?: string
  /** With wait=ended: the run that has ended. Null: there is none and will be none; reason says why. */
  run?: Run | null
}

export type CommandResult = {
  /** Derived from Idempotency-Key if the request had one. */
  commandId: string
  /** Whether the owner confirmed within 5 s that it applied the command. */
  applied: boolean
  /** The created run. Null: none was created, or it is no longer kept; see reason. */
  runId?: string | null
  reason?: string | null
  /** Status of the job after the command. */
  status?: string
  code?: 'wait-timeout'
  detail?: string
}

export type SkipRequest = {
  /** Nominal time of the occurrence that you mean. If it is not the next one, nothing is skipped. Default: the next one. */
  at?: Instant
}

export type BackfillRequest = {
  /** First nominal time, inclusive. */
  'from': Instant
  /** End, exclusive; not after now. */
  to: Instant
}

export type BackfillCount = {
  /** At most 100000. */
  occurrences: number
  /** Whether the range has more than that. */
  isMore: boolean
  /** Nominal time of the first run. Null: there is none. */
  first: string | null
  /** Nominal time of the last run that was counted. */
  last: string | null
}

export type RunPage = {
  runs: Run[]
  /** Cursor of the next page; null at the end. */
  cursor: string | null
  /** With stale=true: partitions that were read from a copy, as in the header Duelog-Stale. Absent if all owners answered. */
  stale?: StaleCopy[]
}

export type RunList = {
  runs: Run[]
}

export type RunInput = {
  target: object
  /** HIGH, NORMAL or LOW, or a number from 0 to 9, as it was written. */
  priority: string | number
  attempt: number
  /** Offset in the topic jobs of the definition from which the run was created. */
  specOffset: number
  contentType?: string
  /** As in a definition. */
  payload?: any
  payloadBase64?: string
  /** Viewers see only the values of allowed headers; others are redacted. */
  headers: object
}

export type RunDetail = {
  /** <jobId>/<runNo> */
  runId: string
  jobId: string
  runNo: number
  status: 'DISPATCHED' | 'RUNNING' | 'RETRY_WAIT' | 'SUCCEEDED' | 'EXPIRED' | 'CANCELLED' | 'DEAD' | 'WAITING'
  trigger: 'SCHEDULE' | 'MANUAL' | 'REDRIVE' | 'BACKFILL' | 'FOLLOW_UP'
  commandId?: string | null
  /** Time in ISO 8601, UTC. */
  scheduledFor: string
  /** Attempts that started. */
  attempts: number
  /** Number of the current or last one, with those that did not start. */
  attempt?: number
  /** When the last attempt was due; a wait for a limit counts as before it. */
  dueAt?: string
  /** When the last attempt was dispatched. */
  dispatchedAt?: string
  /** While active: the current attempt must start before this time. */
  startDeadlineAt?: string
  /** While WAITING: SLOT for a slot of its concurrencyKey, RATE for the start that its rateLimit gave it, HANDLER for a worker that has its handler, POOL_PAUSED until its pool is resumed. */
  waitsFor?: ('SLOT' | 'RATE' | 'HANDLER' | 'POOL_PAUSED' | null) | ('SLOT' | 'RATE' | 'HANDLER' | 'POOL_PAUSED' | null)
  /** While it waits for SLOT or RATE: its concurrencyKey, or the key of its rateLimit. */
  limitKey?: string | null
  /** Time in ISO 8601, UTC; null if there is none. */
  startedAt: string | null
  /** Time in ISO 8601, UTC; null if there is none. */
  finishedAt: string | null
  worker: string | null
  /** Handler of the run. Absent for a topic, or if another definition made the run. */
  handler?: string
  /** Pool of its workers; absent like the handler. */
  pool?: string
  /** While it runs: the completed share that the handler reported last, from 0 to 1. */
  progress?: number | null
  /** While it runs: the last progress message of the handler. */
  message?: string | null
  /** While it runs: when the last heartbeat was read. */
  checkedAt?: string | null
  /** The return value of the handler. */
  result: any
  /** Which part of the final report was left out, and why. */
  note?: string | null
  /** The last five failed attempts. */
  errors: AttemptError[]
  /** Whether it is a dead run that can be redriven. */
  redrivable: boolean
  /** Number of the last run of the job. */
  lastRunNo: number
  /** Jobs that follow a success, by the definition in force. */
  onSuccess: string[]
  /** Jobs that follow a failure, by the definition in force. */
  onFailure: string[]
  /** With input=true: what the handler gets. Null: it is not kept, because the run has ended and its payload came with a command, or its definition was replaced. */
  input?: RunInput | null
}

export type AwaitedRun = {
  /** False: the run is still awaited. */
  ended: boolean
  /** The run that has ended. Null: it is still awaited, or reason says why it cannot come. */
  run: Run | null
  /** Why there is no such run, in a sentence. */
  reason: string | null
}

export type RunLogLine = {
  /** When the handler wrote the line, by the worker's clock. */
  at: string
  level: 'debug' | 'info' | 'warn' | 'error'
  text: string
  /** Values beside the text: texts, numbers, booleans and null. */
  fields: {
    [key: string]: any
  } | null
  /** Whether parts of the line were over a limit and left out. */
  shortened: boolean
  /** Number of the attempt. */
  attempt: number
  /** Number of the line; each worker counts the lines of an attempt from 1. */
  no: number
  /** name@host:pid:boot of the worker. */
  worker: string
}

export type RunLogPage = {
  lines: RunLogLine[]
  /** Where the next answer continues; null: no more lines will come. */
  cursor: string | null
  /** Whether all lines that have arrived were read. */
  caughtUp: boolean
  /** Records of the job in this part of the topic that are no lines. They were skipped. */
  unreadable: number
}

export type ErrorKind = {
  /** Type and message with # for numbers and ids. Empty: it may hold a secret. */
  kind: string
  'type': string
  /** Message of the newest. */
  message: string
  count: number
}

export type DeadLetterPage = {
  runs: Run[]
  /** Number of dead runs that match, on all pages. */
  total: number
  /** Older dead runs of jobs with dead runs that match: they are not kept, because there was no room for them. Their records are in the topic `executions.dlq`. */
  dropped: number
  /** Their last errors by kind, the most frequent first; at most 50. */
  kinds: ErrorKind[]
  /** Cursor of the next page; null at the end. */
  cursor: string | null
  /** With stale=true: partitions that were read from a copy, as in the header Duelog-Stale. Absent if all owners answered. */
  stale?: StaleCopy[]
}

export type DeadExecution = {
  target: object
  /** HIGH, NORMAL or LOW, or a number from 0 to 9, as it was written. */
  priority: string | number
  attempt: number
  /** Offset in the topic jobs of the definition from which the run was created. */
  specOffset: number
  contentType?: string
  /** As in a definition. */
  payload?: any
  payloadBase64?: string
  /** Viewers see only the values of allowed headers; others are redacted. */
  headers: object
}

export type DeadLetter = {
  run: Run
  execution: DeadExecution
}

export type OperationFilter = {
  /** One of the tags of the job. */
  tag?: string
  /** Name of the handler of the job. */
  handler?: string
  status?: 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'INVALID'
  idPrefix?: string
  idContains?: string
  /** Only dead runs that died at this time or later: a time in ISO 8601 with an offset, such as 2030-01-31T09:00:00Z, or epoch milliseconds */
  'from'?: string
  /** Only dead runs that died before this time. */
  to?: string
  /** Only dead runs whose last error has this type. */
  errorType?: string
  /** Only dead runs whose last error is of this kind, as GET /v1/dead-letters lists them. */
  errorKind?: string
  /** With CANCEL_RUN: only runs in this state. */
  state?: 'DISPATCHED' | 'RUNNING' | 'RETRY_WAIT' | 'WAITING'
}

export type OperationRequest = {
  /** PAUSE, RESUME, CANCEL, TRIGGER and DELETE change jobs as the commands to one job do. REDRIVE and DISCARD change dead runs, CANCEL_RUN ends active runs that had begun. A discarded run keeps its record, and no longer counts as dead. */
  action: 'PAUSE' | 'RESUME' | 'CANCEL' | 'TRIGGER' | 'DELETE' | 'REDRIVE' | 'DISCARD' | 'CANCEL_RUN'
  filter?: OperationFilter
  /** At most 10000 jobs. With REDRIVE and DISCARD: all their dead runs; with CANCEL_RUN: all their active runs. */
  jobIds?: string[]
  /** With REDRIVE and DISCARD: dead runs, with CANCEL_RUN: active runs, as `<jobId>/<runNo>`. */
  runIds?: string[]
  /** With TRIGGER: payload of each run, in place of that of the definition; at most 65536 bytes. A job whose contentType is not JSON takes a text only. */
  payload?: any
  /** The payload as base64. All jobs get these bytes. */
  payloadBase64?: string
}

export type OperationReason = {
  /** A stable word, such as max-concurrent-runs. */
  code: string
  /** A sentence about the first of them. */
  reason: string
  count: number
  /** The first job or run; empty if none is known. */
  example: string
}

export type Operation = {
  id: string
  /** As in the request. Later versions may have others. */
  action: string
  /** As in the request; null if it had a list. */
  filter: OperationFilter | null
  /** Number of jobs or dead runs in the list of the request; null without one. */
  listed: number | null
  /** Bytes of the payload in the request; null without one. */
  payloadBytes: number | null
  /** Who asked for it. */
  actor: string | null
  /** WAITING: no process has begun it. CANCELLING: it ends after the changes that have begun. */
  status: 'WAITING' | 'RUNNING' | 'CANCELLING' | 'DONE' | 'CANCELLED' | 'FAILED'
  /** Number of jobs or dead runs that it found at its start. Null: not counted yet. */
  total: number | null
  /** Jobs or dead runs that were changed. */
  applied: number
  /** Jobs or dead runs whose change was refused; see reasons. */
  refused: number
  reasons: OperationReason[]
  /** Why it does not go on, or why it failed; null otherwise. */
  problem: string | null
  /** Time in ISO 8601, UTC. */
  createdAt: string
  /** Time in ISO 8601, UTC; null if there is none. */
  startedAt: string | null
  /** Since when it holds for all its jobs; null before. With PAUSE, CANCEL and DELETE by filter this is long before all are changed: from then on, a job that comes due is changed before, and starts no run. Otherwise: when all were changed. */
  effectiveAt: string | null
  /** Time in ISO 8601, UTC; null if there is none. */
  endedAt: string | null
  /** The process that carries it out, or did. */
  driver: string | null
}

export type OperationList = {
  operations: Operation[]
}

export type OperationCount = {
  count: number
}

export type PlanRequest = {
  /** Definitions with their ids. Allowed: at most 1000. */
  jobs: JobDefinition[]
  /** Length of the compared time range, from now on. Allowed: 1 to 315,619,200,000. Default: 604,800,000. */
  horizonMs?: number
  /** Maximum number of times of each job that are compared, before and after the change. Allowed: 1 to 1,000. Default: 100. */
  maxFires?: number
}

export type MovedFire = {
  /** Time in ISO 8601, UTC. */
  'from': string
  /** Time in ISO 8601, UTC. */
  to: string
}

export type PlannedFires = {
  added: string[]
  removed: string[]
  /** Pairs of a removed time and the added time next to it. */
  moved: MovedFire[]
  /** Number of times that stay. */
  kept: number
  /** End of the comparison: the horizon, or earlier if there were too many times. */
  until: string
}

export type PlannedJob = {
  id: string | null
  /** Effect of writing the definition. UNCHANGED: the same definition is in force. DROPPED: its version or dedupKey prevents it. INVALID: see problems. */
  action: 'CREATE' | 'UPDATE' | 'UNCHANGED' | 'DROPPED' | 'INVALID'
  /** ETag of the definition in force, for If-Match; null if there is none. */
  etag?: string | null
  /** Fields that differ from the definition in force. */
  changed?: string[]
  /** Fields in force with values that are redacted for viewers. They were not compared. Absent: all fields were compared. */
  hidden?: string[]
  /** Why it would be DROPPED, or the job INVALID. */
  reason?: string | null
  fires?: PlannedFires
  /** Allowed but probably unintended: a limit shared by jobs of several partitions, a pool or topic that does not exist, or a cycle of onSuccess and onFailure through this plan and the existing jobs. At most 1,000 jobs outside the plan are searched. */
  warnings?: string[]
  problems?: FieldProblem[]
}

export type PlanTotals = {
  create: number
  update: number
  unchanged: number
  dropped: number
  invalid: number
  added: number
  removed: number
  moved: number
  kept: number
}

export type Plan = {
  /** Time in ISO 8601, UTC. */
  'from': string
  /** Time in ISO 8601, UTC. */
  to: string
  jobs: PlannedJob[]
  totals: PlanTotals
}

export type ForecastBucket = {
  /** Start of the step. */
  at: string
  /** Jobs whose next occurrence is due in it. Exact, up to until; with a filter an estimate, if estimate is true. */
  next: number
  /** Occurrences of the same jobs after their next one. Rounded; estimated if estimate is true. */
  later: number
}

export type Forecast = {
  /** Time in ISO 8601, UTC. */
  'from': string
  /** Time in ISO 8601, UTC. */
  to: string
  bucketMs: number
  buckets: ForecastBucket[]
  /** Occurrences of all jobs that were due before from and have not fired yet. */
  overdue: number
  /** Jobs whose next occurrence is in the range. */
  jobs: number
  /** Jobs among these whose later occurrences were computed; they represent the others. */
  sampled: number
  /** Whether later is an estimate: from a sample, or because jobs recur too often. */
  estimate: boolean
  /** End of the counted range: to, or earlier if there are too many occurrences. */
  until: string
}

export type DueJob = {
  id: string
  /** Its first occurrence in the range. */
  at: string
  /** Its occurrences in the range. */
  count: number
}

export type DueJobs = {
  /** Time in ISO 8601, UTC. */
  'from': string
  /** Time in ISO 8601, UTC. */
  to: string
  /** The rarest first: those with the fewest occurrences in the range, then with the earliest ones. */
  jobs: DueJob[]
  /** Number of jobs that were found, also of those beyond limit. */
  found: number
  /** False: there were too many jobs to look at each, so some may be missing. */
  complete: boolean
}

export type AuditChange = {
  /** Path of the field, such as schedule.cron. */
  field: string
  /** Its value as JSON, at most 200 characters, with masks for credentials, and the size of a payload. Null: its default, there was no job, or the write had no condition, so that nobody looked. */
  before: string | null
  /** The new value. Null: its default, or the job was deleted. */
  after: string | null
}

export type AuditRecord = {
  /** Time in ISO 8601, UTC. */
  at: string
  /** Name of the token, or its role; the subject of a JWT; local without authentication. */
  actor: string
  role: string | null
  /** The requested change, such as PUT, DELETE or PAUSE. */
  action: string
  jobId: string | null
  runNo: number | null
  /** The pool or the worker that was paused, drained or resumed; the id of an operation. */
  target?: string | null
  /** What chose the jobs or runs of a change of many, as JSON. */
  filter?: string | null
  /** The jobs of a batch, and of a change of many by ids: the first 1000. */
  jobIds: string[]
  /** The fields of a definition that were changed, at most 50. */
  changes: AuditChange[]
  /** DONE, or the code of the error. */
  outcome: string
  /** HTTP status of the answer. */
  status: number
  /** Version of the written definition: its partition and offset. */
  version?: string | null
  /** For a change of many jobs or runs: the number that was changed. */
  done?: number | null
  /** The number that was not changed. */
  refused?: number | null
  requestId: string
  address: string
  /** The API process. */
  instance: string
}

export type AuditPage = {
  records: AuditRecord[]
  /** Cursor of the next page; null at the end. */
  cursor: string | null
}

export type PreviewRequest = {
  schedule: Schedule
  /** Only times after this one. Default: now. */
  'from'?: Instant
  count?: number
}

export type DueTime = {
  /** Time in ISO 8601, UTC. */
  at: string
  /** Epoch ms. */
  atMs: number
  /** How daylight saving moved this time. */
  note?: string
}

export type Preview = {
  fires: DueTime[]
  /** Allowed but probably unintended, such as weekdays as Quartz numbers them. Absent: no warnings. */
  warnings?: string[]
}

export type EffectiveSetting = {
  name: string
  /** Null if it is absent or secret. */
  value: string | null
  /** Whether it was set. False: the default applies. */
  given: boolean
  secret: boolean
  unit: string | null
  description: string
}

export type TopicPlan = {
  topic: string
  /** Name of the schema of its record values. */
  schema: string
  config: {
    [key: string]: string
  }
}

export type Settings = {
  settings: EffectiveSetting[]
  topics: TopicPlan[]
  /** Number of partitions of every topic. */
  partitions: number
}

export type StartLateness = {
  /** Handlers that started, as their workers reported to this owner. */
  starts: number
  /** Half of them started later than this after their due time, to 25%. */
  p50Ms: number
  /** 1% of them started later than this, to 25%. */
  p99Ms: number
  maxMs: number
}

export type OwnerLag = {
  jobs: number
  commands: number
  events: number
}

export type UnderWay = {
  dispatched?: number
  running?: number
  waiting?: number
  /** Those of the waiting runs whose handler no worker of their pool has. */
  withoutHandler?: number
  /** Those of the waiting runs whose pool is paused or drained. */
  inPausedPools?: number
}

export type Standing = {
  /** Dead letters: runs that can be redriven. */
  deadRuns: number
  /** Jobs that have dead letters. */
  deadJobs: number
  /** INVALID jobs. */
  invalid: number
  /** PAUSED jobs. */
  paused: number
}

export type PositionReset = {
  topic: string
  'from': number
  to: number
  reason: 'beyond-end' | 'expired' | 'lost'
  /** Time in ISO 8601, UTC. */
  at: string
}

export type OpenTransaction = {
  topic: string
  offset: number
  records: number
  /** Time in ISO 8601, UTC. */
  since: string
}

export type ZoneWalk = {
  checked: number
  moved: number
}

export type Standby = {
  /** name@host:pid:boot */
  instance: string | null
  /** Null for the process that answers. */
  url: string | null
  /** following: it keeps up with the logs. restoring: it still reads them. */
  phase: 'restoring' | 'following' | 'claiming' | 'closed'
  /** Number of records that its copy lacks, as far as it knows; null while its store cannot be read. */
  behindRecords: number | null
  /** Version of its time zone rules; null if not known. */
  zoneRules: string | null
}

export type Partition = {
  partition: number
  /** active: it fires. restoring: its owner reads the logs. claiming: its owner takes it over. closed: no owner answers for it. */
  phase: 'restoring' | 'claiming' | 'active' | 'closed'
  /** Time in ms that the oldest due timer has waited; 0 if none is overdue. */
  overdueMs: number
  /** Start lateness of the last five minutes. Null: nothing started, or the owner does not tell. */
  lateness: StartLateness | null
  /** Why its owner decides nothing at the moment, in any phase: its clock is not trusted. Null: no problem. */
  problem?: string | null
  /** Offsets of each log that the owner has not applied yet; null while it is not active. */
  lag: OwnerLag | null
  /** Records read and not yet applied. */
  mailboxDepth: number
  jobsOffset: number
  underWay: UnderWay
  /** Records that remain to be read in the restore. */
  restoreRemaining: number
  /** All records of the restore. */
  restoreTotal: number
  /** Completed share of the restore, from 0 to 1; null without an owner. */
  restoreShare: number | null
  instance: string | null
  /** Null for the process that answers. */
  url: string | null
  /** Version of the time zone rules of its owner, such as 2026a; null if not known. */
  zoneRules: string | null
  /** Whether a standby has other rules than the owner. The rules of the owner apply. */
  zoneRulesDiffer: boolean
  /** What needs attention until somebody acts. Its owner counts it from its store, so a restart does not change it. Null while it is being counted, or if the owner does not tell. */
  standing: Standing | null
  /** The last position of the owner that was outside its log. The log was read from `to` on instead. beyond-end: the topic was truncated, or deleted and created again. expired: records expired before they were read. lost: job-state has no decided states, and jobs begins again. Null: none since the process of the owner started. */
  lastReset: PositionReset | null
  /** A transaction that a client has left open for a minute or longer. Until it ends, the `records` from `offset` on cannot be read. `since`: when the owner of the partition first saw it. Null: none is known. */
  openTransaction: OpenTransaction | null
  /** While its jobs are checked after a change of these rules: the number checked, and the number whose next time moved. Otherwise null. */
  zoneWalk: ZoneWalk | null
  /** Processes that keep a copy of the partition for a takeover. */
  standbys: Standby[]
}

export type PartitionList = {
  partitions: Partition[]
}

export type Health = {
  status: 'ok'
}

export type WorkersWanted = {
  /** Workers that the pool needs for its load, from 0 on, as the metric `duelog_pool_workers_wanted`. */
  workers: number
  /** What asks for so many: handlers at work, runs that wait, that come due, or that come now; that runs have waited too long; or that an owner does not answer, so that no worker is given up. */
  reason: 'idle' | 'running' | 'backlog' | 'forecast' | 'arrivals' | 'lateness' | 'owners-unknown'
  /** Runs that wait for a worker. */
  backlog: number
  /** Runs that come due within 30 s. */
  forecast: number
  /** How long the oldest of the backlog has waited at least, in ms. */
  lateMs: number
}

export type Pool = {
  pool: string
  /** PAUSED: nothing starts, and running handlers go on. DRAINING: nothing is dispatched, and its workers still start what was. DRAINED: that is done. */
  state: 'ACTIVE' | 'PAUSED' | 'DRAINING' | 'DRAINED'
  /** When it was paused or drained; null while it is active. */
  stateSince: string | null
  /** Who paused or drained it. */
  pausedBy: string | null
  /** Members of its group. Paused workers have left it. */
  workers: number
  /** Null if it could not be measured. */
  wanted: WorkersWanted | null
  /** Handlers that its workers run at once; null if one does not say. */
  slots: number | null
  /** Handlers that its workers announce, at most 1,000. */
  handlers: string[]
  /** Runs that were dispatched and have not started. */
  dispatched: number
  /** Runs whose handler runs. */
  running: number
  /** Runs that wait for a retry, a limit, a handler or the pool. */
  waiting: number
  /** Those of `waiting` whose handler no worker of the pool has. */
  withoutHandler: number
  /** Those of `waiting` that wait until the pool is resumed. */
  inPausedPool: number
}

export type PoolList = {
  pools: Pool[]
}

export type WorkerPool = {
  pool: string
  /** Maximum number of concurrent handlers. */
  slots: number | null
  /** Number of partitions of executions topics that it reads. */
  partitions: number
  /** Names of its handlers; null if it does not announce them, as a worker of another program. */
  handlers: string[] | null
}

export type Worker = {
  /** name@host:pid:boot */
  instance: string
  name: string | null
  host: string | null
  pid: number | null
  /** Release of Duelog; null for a worker that is not from Duelog. */
  version: string | null
  /** Whether it is a member of a group. False: it has left, but a run of it has not ended yet. */
  connected: boolean
  pools: WorkerPool[]
  /** Number of started attempts that have not ended. */
  running: number
  /** Some of these runs. */
  runIds: string[]
  /** PAUSED: it takes no runs. DRAINING: it takes none, and its handlers have not ended. DRAINED: they have. */
  state: 'ACTIVE' | 'PAUSED' | 'DRAINING' | 'DRAINED'
  /** When it was paused or drained; null while it is active. */
  stateSince: string | null
  /** Who paused or drained it. */
  pausedBy: string | null
  /** When an owner last read a report of this worker; null if none has. */
  lastHeardAt: string | null
}

export type ExecutorProcesses = {
  /** name@host:pid:boot of the process that keeps them, by DUELOG_EXECUTOR_PROCESSES. */
  parent: string
  name: string | null
  host: string | null
  pid: number | null
  pools: string[]
  /** Those that are members of a pool. One that starts is not yet; one that stops is until its handlers have ended. */
  running: number
  /** As many as the parent keeps by its last decision. */
  wanted: number
  min: number
  /** The same as `min`: their number is fixed. */
  max: number
  /** Why there are so many: start, cool-down, or a reason of `wanted` of a pool, such as backlog. */
  reason: string
  /** The pool whose load decided. */
  reasonPool: string | null
  /** When it was decided. */
  since: string
  /** A process ends when fewer have been enough for this time. */
  coolDownMs: number
}

export type WorkerList = {
  workers: Worker[]
  executors: ExecutorProcesses[]
}

export type Limit = {
  partition: number
  /** The `concurrencyKey`, or the key of the `rateLimit`. */
  key: string
  /** Its slots, as of the last request; of a `rateLimit` the starts in `perMs`. */
  limit: number
  /** Slots in use; of a `rateLimit` the starts of the last `perMs`. */
  held: number
  /** Runs that wait for a slot; of a `rateLimit` the starts that were given for a later time. */
  waiting: number
  /** Of a `rateLimit`. Absent: a `concurrencyKey`. */
  perMs?: number
  /** Of a `rateLimit`: the earliest start that it would give now. ISO 8601, UTC. */
  nextAt?: string
}

export type LimitList = {
  limits: Limit[]
  /** Partitions whose owner does not answer. */
  missing: number[]
}

export type SeriesColumns = {
  /** Attempts handed to workers, and records written to topic targets. */
  dispatched: (number | null)[]
  /** Starts that workers reported, and records written to topic targets. */
  started: (number | null)[]
  /** Runs that ended, with any status. */
  ended: (number | null)[]
  /** Of these, runs that ended as FAILED or DEAD. */
  failed: (number | null)[]
  /** Failed attempts that are retried. */
  retried: (number | null)[]
  /** Skipped occurrences. */
  skipped: (number | null)[]
  /** Largest number of dispatched and running runs. */
  active: (number | null)[]
  /** Largest number of runs that waited for a retry or a limit. */
  waiting: (number | null)[]
  /** Largest number of undelivered attempts and unprocessed records. */
  backlog: (number | null)[]
  /** Longest time in ms that a due timer had waited. */
  overdueMs: (number | null)[]
  /** Dead letters that stood at the end of the step. */
  deadLetters: (number | null)[]
  /** Start lateness in ms that half of the starts did not exceed. Null if none was reported. */
  p50Ms: (number | null)[]
  /** The same for 99 of 100 starts. */
  p99Ms: (number | null)[]
  /** Bound in ms of the latest start. The classes of lateness are 25% wide. */
  maxMs: (number | null)[]
}

export type SeriesMark = {
  /** Time in ISO 8601, UTC. */
  at: string
  kind: 'start' | 'takeover' | 'deploy'
  text: string
  /** The versions that ran from then on, where they became known. */
  version: string | null
}

export type Series = {
  range: 'hour' | 'day'
  rangeMs: number
  stepMs: number
  /** Begin of the first step; null if there is none yet. */
  'from': string | null
  columns: SeriesColumns
  /** Processes that started, partitions that moved to another owner, and versions that changed. Oldest first. */
  marks: SeriesMark[]
}

export type FaultAcknowledgement = {
  by: string
  /** Time in ISO 8601, UTC. */
  at: string
  reason: string
}

export type Finding = {
  /** To acknowledge it. */
  id: string
  /** When it was found. */
  at: string
  kind: string
  /** Job id, or run as jobId/runNo. */
  what: string
  detail: string
  /** Null: nobody has. */
  acknowledged: FaultAcknowledgement | null
}

export type Proof = {
  /** Number of partitions that an auditor reads and reports about. */
  audited: number
  /** Number of all partitions. */
  partitions: number
  /** When the audit of the last of these partitions began; null if none is audited. */
  since: string | null
  /** In every partition, everything that was due up to this time is judged. Null: not yet. */
  judgedUntil: string | null
  /** Records of the log that remain to be read. */
  behindRecords: number
  /** Number of records read. */
  records: number
  /** Records that are broken or not from Duelog. */
  unreadable: number
  /** Number of judged runs. */
  runs: number
  /** Nominal times that were compared with the schedule. */
  occurrences: number
  /** Faults of all kinds. */
  found: number
  /** Those that nobody has acknowledged. */
  unacknowledged: number
  /** Faults by kind: lost, missed, duplicate, early, overdue, undispatched, gap, ended-twice. */
  findings: {
    [key: string]: number
  }
  /** Number of runs and times that could not be judged, by reason: runs, definition, calendar. */
  unjudged: {
    [key: string]: number
  }
  /** The last faults, newest first. */
  recent: Finding[]
}

export type AcknowledgeFaultsRequest = {
  /** Ids of faults, as GET /v1/proof lists them. */
  ids?: string[]
  /** All faults that were found by this time, with those that are no longer listed. */
  upTo?: string
  /** What is known about them. */
  reason: string
}

export type AcknowledgedFaults = {
  /** Faults that were not acknowledged before. */
  acknowledged: number
  /** Faults of the system that still are not. */
  unacknowledged: number
  /** Those of `ids` that no auditor lists. Absent: there are none. */
  'unknown'?: string[]
}

export type HistoryRun = {
  /** <jobId>/<runNo>; the number is 0 for skipped occurrences. */
  runId: string
  jobId: string
  runNo: number
  /** Identifies the life of the job: a deleted job and a later one with its id have different ones. */
  life: string
  /** SUCCEEDED, DEAD, EXPIRED, CANCELLED, or SKIPPED for occurrences without a run. */
  outcome: string
  /** A stable word if the outcome does not say why, such as attempts, overlap or deleted. */
  reason: string | null
  /** SCHEDULE, MANUAL, REDRIVE, BACKFILL or FOLLOW_UP. */
  trigger: string
  /** The command that asked for the run. */
  commandId: string | null
  /** Null: its target is a topic, or its definition is no longer known. */
  handler: string | null
  /** Topic that the run wrote to. */
  topic: string | null
  /** Pool of the workers. */
  pool: string | null
  /** Tags of the job when the run ended. */
  tags: string[]
  /** Time in ISO 8601, UTC. */
  scheduledFor: string
  /** When the last attempt was due. */
  dueAt: string | null
  /** When the last attempt started. */
  startedAt: string | null
  /** Time in ISO 8601, UTC. */
  finishedAt: string
  /** Time from the start of the last attempt to the end of the run. Unit: ms. Null: unknown. */
  durationMs: number | null
  attempts: number
  /** Worker that ran the last attempt. */
  worker: string | null
  /** Class or code of the last error. */
  errorType: string | null
  /** Message of the last error, at most 1,000 characters. */
  errorMessage: string | null
  /** The return value of the handler; null if it has more than 4,096 bytes. */
  result: any
  /** Length of the return value; 0 if there is none. */
  resultBytes: number
  /** Which part of the final report was left out, and why. */
  note: string | null
  /** W3C trace context of the run if it was traced, otherwise of the definition. */
  traceparent: string | null
}

export type HistoryPage = {
  runs: HistoryRun[]
  /** Cursor of the next page; null at the end. */
  cursor: string | null
  /** All runs that ended after this time were searched. Null at the end. */
  searchedTo: string | null
  /** Why the newest runs are missing. Absent: the history is written. */
  problem?: string
}

export type HistoryBucket = {
  /** Start of the bucket. */
  at: string
  /** Number of runs by outcome. */
  outcomes: {
    [key: string]: number
  }
}

export type HistoryCounts = {
  /** Time in ISO 8601, UTC. */
  'from': string
  /** Time in ISO 8601, UTC. */
  to: string
  bucketMs: number
  /** Buckets with runs, oldest first. */
  buckets: HistoryBucket[]
  /** Number of runs by outcome. */
  total: {
    [key: string]: number
  }
  /** Runs that ended before this time were not counted, because the time was over. Null: all were counted. */
  countedFrom: string | null
}

export type HandlerDuration = {
  /** Half of them are above. */
  p50Ms: number
  /** 5% of them are above. */
  p95Ms: number
}

export type HandlerLateness = {
  /** Half of them are above. */
  p50Ms: number
  /** 5% of them are above. */
  p95Ms: number
}

export type Handler = {
  handler: string
  runs: number
  /** Those of them that are DEAD or EXPIRED. */
  failed: number
  /** Number of runs by outcome. */
  outcomes: {
    [key: string]: number
  }
  /** From the start of the last attempt to the end of the run. Exact to 25%. Null: unknown. */
  duration: HandlerDuration | null
  /** From the due time of the last attempt to its start. Exact to 25%. Null: unknown. */
  lateness: HandlerLateness | null
}

export type HandlerList = {
  /** Time in ISO 8601, UTC. */
  'from': string
  /** Time in ISO 8601, UTC. */
  to: string
  handlers: Handler[]
}

export type Session = {
  role: 'viewer' | 'operator' | 'admin'
  /** False: this system requires no token. */
  authentication: boolean
  /** Name of the token, or its role; the subject of a JWT. Null without authentication. */
  name: string | null
}

export type Counts = {
  /** Definitions that were applied. */
  definitions: number
  /** Attempts handed to workers. */
  dispatched: number
  /** Records written to topic targets. */
  written: number
  /** Failed attempts that are retried. */
  retries: number
  leasesLost: number
  /** Runs that ended, by status. */
  ended: {
    [key: string]: number
  }
  /** Skipped occurrences, by reason. */
  skipped: {
    [key: string]: number
  }
  /** Reported starts by lateness, as pairs: upper bound in ms (null: none), and the number of starts between the previous bound and this one. */
  lateness: any[][]
}

export type OwnerStartLateness = {
  /** Handlers that started, as their workers reported to this owner. */
  starts: number
  /** Half of them started later than this after their due time, to 25%. */
  p50Ms: number
  /** 1% of them started later than this, to 25%. */
  p99Ms: number
  maxMs: number
}

export type OwnerZoneWalk = {
  checked: number
  moved: number
}

export type OwnerPositionReset = {
  topic: string
  'from': number
  to: number
  reason: 'beyond-end' | 'expired' | 'lost'
  /** Epoch ms. */
  at: number
}

export type OwnerOpenTransaction = {
  topic: string
  offset: number
  records: number
  /** Epoch ms. */
  since: number
}

export type OwnerActiveRuns = {
  dispatched: number
  running: number
  waiting: number
  withoutHandler: number
  inPausedPools: number
}

export type OwnerPoolRuns = {
  pool: string
  dispatched: number
  running: number
  waiting: number
  withoutHandler: number
  inPausedPools: number
}

export type OwnerStanding = {
  /** Dead letters: runs that can be redriven. */
  deadRuns: number
  /** Jobs that have dead letters. */
  deadJobs: number
  /** INVALID jobs. */
  invalid: number
  /** PAUSED jobs. */
  paused: number
}

export type OwnerState = {
  partition: number
  phase: 'restoring' | 'following' | 'claiming' | 'active' | 'closed'
  /** Records that remain to be read in the restore. */
  restoreRemaining: number
  /** All records of the restore. */
  restoreTotal: number
  /** Records read and not yet applied. */
  mailboxDepth: number
  jobsOffset: number
  /** Time in ms that the oldest due timer has waited; 0 if none is overdue. */
  overdueMs: number
  /** Start lateness of the last five minutes. Null: nothing started, or the owner does not tell. */
  lateness?: OwnerStartLateness | null
  /** Version of the time zone rules of the owner, such as 2026a. */
  zoneRules?: string
  /** While its jobs are checked after a change of these rules. */
  zoneWalk?: OwnerZoneWalk | null
  /** Why the owner decides nothing at the moment. */
  problem?: string | null
  /** The last position that was outside its log. */
  lastReset?: OwnerPositionReset | null
  /** A transaction that blocks one of its topics. */
  openTransaction?: OwnerOpenTransaction | null
  underWay: OwnerActiveRuns
  /** The same by pool: that of the definition in force. At most 1,000 pools. */
  pools?: OwnerPoolRuns[]
  /** What needs attention until somebody acts. Its owner counts it from its store, so a restart does not change it. Null while it is being counted, or if the owner does not tell. */
  standing?: OwnerStanding | null
  /** name@host:pid:boot; null if no member is assigned or it does not answer. */
  instance: string | null
  /** Null for the process that answers, and without an owner. */
  url: string | null
}

export type ProofSummary = {
  found: number
  unacknowledged: number
  audited: number
  /** Epoch ms. */
  judgedUntil: number | null
}

export type StatsMessage = {
  /** Epoch ms. */
  at: number
  counts: Counts
  partitions: OwnerState[]
  /** Findings of the auditors, and the time up to which they have judged; null if unknown. */
  proof?: ProofSummary | null
}
