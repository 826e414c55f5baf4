/** A job as users write it: the JSON form of the contract. */
import type { CatchUp, DstGap, DstOverlap, HttpMethod, IntervalFrom, Overlap, Priority } from '../../schemas/index.ts'

/** ISO 8601 with an offset, epoch ms, or a Date. */
export type Time = string | number | Date

/** Text, or bytes in base64. */
export type Bytes = string | { base64: string }

interface Exclusions {
  /** Times that are left out. */
  exdates?: Time[] | undefined
}

interface LocalTime {
  /** IANA name. Default: UTC. */
  timezone?: string | undefined
  /** Default: NEXT_VALID. */
  dstGap?: DstGap | undefined
  /** Default: FIRST. */
  dstOverlap?: DstOverlap | undefined
}

interface Kinds {
  at: { at: Time }
  delayMs: { delayMs: number }
  /** `from`: default START. */
  everyMs: { everyMs: number; anchor?: Time | undefined; from?: IntervalFrom | undefined } & Exclusions
  cron: { cron: string } & LocalTime & Exclusions
  rrule: {
    /** Of RFC 5545, without DTSTART. */
    rrule: string
    /** Where it begins, in whole seconds. */
    dtstart?: Time | undefined
  } & LocalTime &
    Exclusions
}

interface Backoffs {
  list: number[]
  fixed: { delayMs: number }
  linear: { stepMs: number }
  exponential: { baseMs: number; factor?: number | undefined; maxMs?: number | undefined }
}

/** Exactly one of `list`, `fixed`, `linear` and `exponential`. */
export type Backoff = {
  [Kind in keyof Backoffs]: { [Its in Kind]: Backoffs[Its] } & { [Other in Exclude<keyof Backoffs, Kind>]?: undefined }
}[keyof Backoffs]

type FieldOfSchedule = { [Kind in keyof Kinds]: keyof Kinds[Kind] }[keyof Kinds]

/** Exactly one of `at`, `delayMs`, `everyMs`, `cron` and `rrule`, with the fields that belong to it. */
export type Schedule = {
  [Kind in keyof Kinds]: Kinds[Kind] & { [Field in Exclude<FieldOfSchedule, keyof Kinds[Kind]>]?: undefined }
}[keyof Kinds]

/** A job. Every default and limit is also in [JOBS](JOBS.md). */
export interface Job {
  /** 1 to 255 bytes of UTF-8 without control characters, other than `.` and `..`. A job with the same id is replaced. */
  id: string
  /** When it is due. */
  schedule: Schedule
  /** Each run is due up to this long after its nominal time, in ms: 0 to 86,400,000. Default 0. */
  jitterMs?: number | undefined
  /** What runs: exactly one of `handler`, `topic` and `http`. `pool`: the workers that run it, default `default`. */
  target:
    | { handler: string; pool?: string | undefined }
    /** Written by the owner when it is due, exactly once. Without a key: the job id. */
    | { topic: { name: string; key?: Bytes | undefined; partition?: number | undefined } }
    | {
        http: { url: string; method?: HttpMethod | undefined; headers?: Record<string, string> | undefined }
        pool?: string | undefined
      }
  /**
   * Any JSON value as JSON.stringify writes it, at most 512 KB; no NaN, Infinity, BigInt or lone surrogate. Text if
   * `contentType` is not JSON.
   */
  payload?: unknown
  /** Bytes in base64, in place of `payload`, at most 512 KB. */
  payloadBase64?: string | undefined
  /** Media type of the payload, at most 128 characters. Default with `payload`: application/json. */
  contentType?: string | undefined
  /** What handlers, http requests and records get as headers: at most 32, and 16 KB in all. Default: none. */
  headers?: Record<string, Bytes> | undefined
  /** Which runs a worker without free capacity takes first: a word, or a whole number from 0 to 9, where 9 goes first. Default NORMAL, which is 4. */
  priority?: Priority | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | undefined
  /** Name or host of the one worker that may run it; without that worker, runs wait until their start deadline. Default: any worker of the pool. */
  pinTo?: string | undefined
  /** False, for floods of cheap runs: no events, no lease, no retries, no result; at least once. Default true. */
  trackRuns?: boolean | undefined
  /** What happens when an attempt fails. Default: 5 attempts with 1 s, 5 s, 30 s, 2 min, 10 min between. */
  retry?:
    | {
        /** With the first one: 1 to 1,000. Default 5. Then the run is DEAD. */
        maxAttempts?: number | undefined
        /** Delays before the next attempts, in ms, each at most 86,400,000. `list`: one for each retry, the last one repeats. */
        backoff?: Backoff | undefined
        /** No attempt is due this long after the nominal time. Default: no limit. */
        maxAgeMs?: number | undefined
        /** Share of each delay that is random, 0 to 1. Default 0. */
        jitter?: number | undefined
        /** Names of errors that are not retried, at most 32. Default: none. */
        nonRetryable?: string[] | undefined
      }
    | undefined
  /** Longest duration of an attempt, in ms: 100 to 604,800,000. Default 300,000. Then its signal is aborted, and it counts as failed. */
  attemptTimeoutMs?: number | undefined
  /** A running attempt whose worker sends no sign of life for this long is lost, in ms: 1,000 to 3,600,000. Default 30,000. */
  leaseMs?: number | undefined
  /** A run that no worker has started for this long expires, in ms: 1,000 to 2,592,000,000. Default 86,400,000. */
  startDeadlineMs?: number | undefined
  /** Which occurrences run that are late by more than `misfireThresholdMs`, for example after an outage. Default LATEST. */
  catchUp?: CatchUp | undefined
  /** With `catchUp` ALL: most missed occurrences that run, 1 to 100,000. Default 100. Older ones are skipped and counted. */
  catchUpMax?: number | undefined
  /** From how much lateness on `catchUp` decides, in ms: 0 to 86,400,000. Default 1,000. */
  misfireThresholdMs?: number | undefined
  /** What happens to an occurrence while an earlier run is active. Default ALLOW. */
  overlap?: Overlap | undefined
  /** Most active runs of the job, from any cause: 1 to 100. Default 16. */
  maxConcurrentRuns?: number | undefined
  /** Jobs of one key share `concurrencyLimit`; those of one partition count together, so give their ids one `{tag}`. 1 to 256 bytes. Default: none. */
  concurrencyKey?: string | undefined
  /** With `concurrencyKey`: most runs of the key that are dispatched and have not ended, 1 to 10,000. Default 1. Further ones wait. */
  concurrencyLimit?: number | undefined
  /**
   * At most `limit` attempts (1 to 10,000) of the jobs of one key start in any `perMs` (1 to 86,400,000); those of one partition count together.
   * Default: none.
   */
  rateLimit?: { key: string; limit: number; perMs: number } | undefined
  /** No occurrence is due before. Default: none. */
  startAt?: Time | undefined
  /** No occurrence is due after; then the job is COMPLETED. Default: none. */
  endAt?: Time | undefined
  /** Nothing fires after it, including occurrences that were due before. Default: none. */
  expireAt?: Time | undefined
  /** Scheduled runs after which the job is COMPLETED, from 1. Default: no limit. */
  maxRuns?: number | undefined
  /** True: it does not fire until it is resumed. Default false. */
  paused?: boolean | undefined
  /** A definition with a lower one than that in force is dropped: a whole number from 0. Default: none, always accepted. */
  version?: number | undefined
  /** With dedupWindowMs: a definition of the same key within this time after the one in force is dropped. 1 to 255 characters. Default: none. */
  dedupKey?: string | undefined
  /** With `dedupKey`, in ms: 0 to 2,592,000,000. Default 0. */
  dedupWindowMs?: number | undefined
  /** Ids of jobs that are triggered when a run has succeeded, at most 16. Default: none. */
  onSuccess?: string[] | undefined
  /** Ids of jobs that are triggered when a run is dead or has expired, at most 16. Default: none. */
  onFailure?: string[] | undefined
  /** Words by which the job can be found: at most 16, each at most 64 characters. Default: none. */
  tags?: string[] | undefined
  /** A COMPLETED job whose last run succeeded is deleted after this, in ms: 0 to 2,592,000,000. Default 3,600,000. */
  retainCompletedMs?: number | undefined
  /** A COMPLETED job whose last run did not succeed is deleted after this, in ms: 0 to 2,592,000,000. Default 259,200,000. */
  retainFailedMs?: number | undefined
}
