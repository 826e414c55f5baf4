/** What a handler is and what it is given. */
import type { Logger } from 'pino'
import type { HttpTarget } from '../../schemas/generated.ts'
import { isJsonType } from '../../streams/jobs/payload-json.ts'
import { NonRetryableError } from './handler-errors.ts'

/** Share done and a word about it, both optional; shown in the API while the run is active. */
export interface Progress {
  /** From 0 to 1; other values are brought into that range. */
  progress?: number
  /** At most 1,000 characters. */
  message?: string
}

/** One attempt of one run. A handler may run more than once for it: use `executionId` and `attempt` to stay idempotent. */
export interface Run {
  /** `jobId/runNo`: the same for every attempt. */
  readonly executionId: string
  readonly jobId: string
  /** Number of the run, from 1. */
  readonly runNo: number
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /** Nominal time of the occurrence in epoch ms. The same for every attempt. */
  readonly scheduledFor: number
  /** When this attempt was due, in epoch ms. */
  readonly dueAt: number
  /**
   * The parsed value when the content type is application/json or ends in +json, else the bytes, or null without a payload.
   * Reading it throws NonRetryableError when the bytes are not JSON though they say so.
   */
  readonly payload: unknown
  /** The payload's bytes as they were given, whatever the content type; null without a payload. */
  readonly payloadBytes: Buffer | null
  readonly contentType: string | null
  readonly headers: Readonly<Record<string, Buffer>>
  /** With target.http: the request that the built-in handler http makes; else null. */
  readonly http: HttpTarget | null
  /** Aborted at the attempt's timeout, and when the worker stops and its drain time is over. */
  readonly signal: AbortSignal
  /** Carries progress to the owner, at most once a second. The lease is renewed by itself; there is no need to call this for it. */
  heartbeat(progress?: Progress): void
  readonly logger: Logger
}

/**
 * Runs one attempt. What it returns is kept as the run's result: JSON, at most 64 KB. What it throws makes the attempt fail:
 * retried with the job's backoff, unless it is a NonRetryableError; a RetryLaterError names its own delay.
 */
export type Handler = (run: Run) => unknown | Promise<unknown>

export type Handlers = Record<string, Handler>

/** The value of a payload for the handler; see Run.payload. */
export function payloadOf(payload: Buffer | null, contentType: string | null): unknown {
  if (payload === null || contentType === null || !isJsonType(contentType)) return payload
  try {
    return JSON.parse(payload.toString('utf8'))
  } catch (error) {
    throw new NonRetryableError('the payload is not JSON though its content type says so', { cause: error })
  }
}
