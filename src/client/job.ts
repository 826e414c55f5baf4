/** A job as users write it: the JSON form of the contract. */
import type { CatchUp, DstGap, DstOverlap, HttpMethod, IntervalFrom, Overlap, Priority } from '../../schemas/index.ts'

/** ISO 8601 with an offset, epoch ms, or a Date. */
export type Time = string | number | Date

/** Text, or bytes in base64. */
export type Bytes = string | { base64: string }

interface LocalTime {
  /** IANA name. Default: UTC. */
  timezone?: string
  /** Default: NEXT_VALID. */
  dstGap?: DstGap
  /** Default: FIRST. */
  dstOverlap?: DstOverlap
}

interface Kinds {
  at: { at: Time }
  delayMs: { delayMs: number }
  /** `from`: default START. */
  everyMs: { everyMs: number; anchor?: Time; from?: IntervalFrom }
  cron: { cron: string } & LocalTime
  rrule: {
    /** Of RFC 5545, without DTSTART. */
    rrule: string
    /** Where it begins, in whole seconds. */
    dtstart?: Time
    /** Times that are left out. */
    exdates?: Time[]
  } & LocalTime
}

type FieldOfSchedule = { [Kind in keyof Kinds]: keyof Kinds[Kind] }[keyof Kinds]

/** Exactly one of `at`, `delayMs`, `everyMs`, `cron` and `rrule`, with the fields that belong to it. */
export type Schedule = {
  [Kind in keyof Kinds]: Kinds[Kind] & { [Field in Exclude<FieldOfSchedule, keyof Kinds[Kind]>]?: undefined }
}[keyof Kinds]

export interface Job {
  /** 1 to 255 bytes of UTF-8 without control characters, other than `.` and `..`. A job with the same id is replaced. */
  id: string
  schedule: Schedule
  /** Each run is due up to this long after its nominal time. Default 0. */
  jitterMs?: number
  /** Exactly one of `handler`, `topic` and `http`. */
  target:
    | { handler: string; pool?: string }
    /** Written by the owner when it is due, exactly once. Without a key: the job id. */
    | { topic: { name: string; key?: Bytes; partition?: number } }
    | { http: { url: string; method?: HttpMethod; headers?: Record<string, string> }; pool?: string }
  /**
   * Any JSON value as JSON.stringify writes it, at most 512 KB; no NaN, Infinity, BigInt or lone surrogate. Text if
   * `contentType` is not JSON.
   */
  payload?: unknown
  /** Bytes, in place of `payload`. */
  payloadBase64?: string
  contentType?: string
  headers?: Record<string, Bytes>
  priority?: Priority
  /** Name or host of the one worker that may run it. */
  pinTo?: string
  /** False, for floods of cheap runs: no events, no retries, at least once. Default true. */
  trackRuns?: boolean
  /** Default: 5 attempts with 1 s, 5 s, 30 s, 2 min, 10 min between. */
  retry?: {
    maxAttempts?: number
    backoff?:
      | { list: number[] }
      | { fixed: { delayMs: number } }
      | { linear: { stepMs: number } }
      | { exponential: { baseMs: number; factor?: number; maxMs?: number } }
    /** No attempt is due this long after the nominal time. Default: no limit. */
    maxAgeMs?: number
    jitter?: number
    nonRetryable?: string[]
  }
  /** Default 300,000. */
  attemptTimeoutMs?: number
  /** Default 30,000. */
  leaseMs?: number
  /** Default 86,400,000. */
  startDeadlineMs?: number
  catchUp?: CatchUp
  catchUpMax?: number
  misfireThresholdMs?: number
  overlap?: Overlap
  maxConcurrentRuns?: number
  /** Jobs of one key share concurrencyLimit; exact among those of one partition. */
  concurrencyKey?: string
  /** Default 1. */
  concurrencyLimit?: number
  /** At most `limit` attempts of the jobs of one key start in any `perMs`; exact among those of one partition. */
  rateLimit?: { key: string; limit: number; perMs: number }
  startAt?: Time
  endAt?: Time
  /** Nothing fires after it, including occurrences that were due before. */
  expireAt?: Time
  maxRuns?: number
  paused?: boolean
  version?: number
  /** With dedupWindowMs: a definition of the same key within this time after the one in force is dropped. */
  dedupKey?: string
  dedupWindowMs?: number
  /** Ids of jobs that are triggered when a run has succeeded. */
  onSuccess?: string[]
  /** Ids of jobs that are triggered when a run is dead or has expired. */
  onFailure?: string[]
  tags?: string[]
  retainCompletedMs?: number
  retainFailedMs?: number
}
