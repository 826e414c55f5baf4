/** A job as users write it: the JSON form of the contract. */
import type { CatchUp, HttpMethod, IntervalFrom, Overlap, Priority } from '../../schemas/generated.ts'

/** ISO 8601 with an offset, or epoch ms. */
export type Time = string | number

/** Text, or bytes in base64. */
export type Bytes = string | { base64: string }

export interface Job {
  /** 1 to 255 bytes of UTF-8 without control characters, other than `.` and `..`. A job with the same id is replaced. */
  id: string
  /** Exactly one of `at`, `delayMs`, `everyMs` and `cron`. */
  schedule: {
    at?: Time
    delayMs?: number
    everyMs?: number
    /** With everyMs. */
    anchor?: Time
    /** With everyMs. */
    from?: IntervalFrom
    cron?: string
    /** With cron; IANA name. Default: UTC. */
    timezone?: string
  }
  /** Exactly one of `handler`, `topic` and `http`. */
  target:
    | { handler: string; pool?: string }
    /** Written by the owner when it is due, exactly once. Without a key: the job id. */
    | { topic: { name: string; key?: Bytes; partition?: number } }
    | { http: { url: string; method?: HttpMethod; headers?: Record<string, string> }; pool?: string }
  /** Any JSON value, at most 512 KB; text when `contentType` says something else than JSON. */
  payload?: unknown
  /** Bytes, in place of `payload`. */
  payloadBase64?: string
  contentType?: string
  headers?: Record<string, Bytes>
  priority?: Priority
  /** Name or host of the one worker that may run it. */
  pinTo?: string
  /** Default: 5 attempts with 1 s, 5 s, 30 s, 2 min, 10 min between. */
  retry?: {
    maxAttempts?: number
    backoff?:
      | { list: number[] }
      | { fixed: { delayMs: number } }
      | { linear: { stepMs: number } }
      | { exponential: { baseMs: number; factor?: number; maxMs?: number } }
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
  startAt?: Time
  endAt?: Time
  maxRuns?: number
  paused?: boolean
  version?: number
  tags?: string[]
  retainCompletedMs?: number
  retainFailedMs?: number
}
