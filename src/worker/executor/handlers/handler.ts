/** The interface of a handler and of its run, and the errors that it may throw. */
import type { Logger } from 'pino'
import type { HttpTarget, RunError } from '../../../../schemas/index.ts'
import { isJsonType } from '../../../../streams/definitions/index.ts'
import type { RunCause } from '../../../../streams/runs/index.ts'
import { cutText } from '../../../../streams/text/index.ts'
import { decodeUtf8 } from '../../../ground/network/index.ts'
import type { PayloadSchema } from '../../../ground/records/index.ts'

/** Completed share and a message, both optional; shown in the API while the run is active. */
export interface Progress {
  /** From 0 to 1; other values are clamped to that range. */
  progress?: number | undefined
  /** At most 1,000 characters. */
  message?: string | undefined
}

/** Severity of a line of run.log. */
export type RunLogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Values beside a line of run.log. They are flat: an object or a list in them is left out. */
export type RunLogFields = Readonly<Record<string, string | number | bigint | boolean | null | undefined | Date | Error>>

/**
 * One attempt of one run. A handler may run more than once for the same run: use `executionId` and `attempt` to stay idempotent.
 * `Payload` is the type of its jobs' payloads. The compiler checks it; at run time a schema does (SchemaHandler).
 */
export interface Run<Payload = unknown> {
  /**
   * `jobId/runNo@life`: the same for every attempt and unique to the run, even if a later job has the same id. `jobId/runNo` for
   * jobs whose first decision is older than the names of lives.
   */
  readonly executionId: string
  readonly jobId: string
  /** Number of the run, from 1. */
  readonly runNo: number
  /** Number of the attempt, from 1. Those that no handler began have numbers too, and do not count for `maxAttempts`. */
  readonly attempt: number
  /** Nominal time of the occurrence in epoch ms. The same for every attempt. */
  readonly scheduledFor: number
  /** When this attempt was due, in epoch ms. */
  readonly dueAt: number
  /**
   * The parsed value if the content type is application/json or ends in +json, else the bytes, or null without a payload. Numbers
   * are JavaScript's: beyond 2^53 they lose digits, which payloadBytes keeps. Reading it throws NonRetryableError if the content
   * type says JSON and the bytes are not.
   */
  readonly payload: Payload
  /** The payload's original bytes, whatever the content type; null without a payload. */
  readonly payloadBytes: Buffer | null
  readonly contentType: string | null
  readonly headers: Readonly<Record<string, Buffer>>
  /** The run whose end triggered this one, with `onSuccess` or `onFailure` of its job; else null. */
  readonly cause: RunCause | null
  /** With target.http: the request that the built-in handler http makes; else null. */
  readonly http: HttpTarget | null
  /**
   * Aborted at the attempt's timeout (its reason is named AttemptTimeout), when the run is cancelled (Cancelled; the outcome of
   * the handler is then ignored), and when the worker stops and its drain time is over (WorkerStopping).
   */
  readonly signal: AbortSignal
  /**
   * Reports progress to the owner, at most once a second. The lease is renewed automatically; this call is not needed for it. Returns at
   * once and never throws.
   */
  heartbeat(progress?: Progress): void
  /**
   * Writes a line that `client.logs`, `duelog runs logs` and the page of the run show: within about a second, and
   * when the run has ended. The topic run-logs keeps it for DUELOG_RUN_LOGS_RETENTION_MS. Returns at once and never throws. Limits: 4 KiB
   * of text and of fields, 100 lines a second, 1,000 lines and 1 MiB in an attempt. Lines over a limit are left out; a line says how
   * much. Write no secrets.
   */
  log(level: RunLogLevel, text: string, fields?: RunLogFields): void
  /** The log of the worker's process. */
  readonly logger: Logger
}

/**
 * Runs one attempt. Its return value is kept as the run's result: JSON, at most 64 KB. If it throws, the attempt fails and is
 * retried with the job's backoff, unless the error is a NonRetryableError. A RetryLaterError names its own delay.
 */
export type Handler<Payload = unknown> = (run: Run<Payload>) => unknown | Promise<unknown>

/** Results by handler, from the handlers: `createClient<Payloads, ResultsOf<typeof handlers>>(…)`. */
export type ResultsOf<Handlers extends object> = {
  [Name in keyof Handlers]: Handlers[Name] extends (run: never) => infer Result ? Awaited<Result> : unknown
}

/**
 * How one run of a batch ended: `{}` is a success without a result. `error` is the value that a handler of single runs would
 * throw.
 */
export type BatchOutcome = { result?: unknown } | { error: unknown }

/**
 * Runs attempts of many jobs at once, for work that is cheaper together. A batch occupies one concurrency slot of the worker,
 * whatever its size. Leases, progress, timeouts and cancellation remain separate: the signal of one run may be aborted while the
 * others continue.
 *
 * It returns one outcome for each run, in the order of the runs, or nothing if all succeeded. If it throws, all of them fail, and
 * each is retried by its own job's policy. Outcomes that do not match the runs fail them for good (BatchOutcomesWrong).
 */
export interface BatchHandler<Payload = unknown> {
  batch: {
    /** Most runs in one batch, 1 to 1,000. */
    maxSize: number
    /** How long after its due time a run may wait for others to fill the batch, in ms, 0 to 60,000. It adds to lateness. */
    maxWaitMs: number
  }
  /** Checks each payload before the batch. Runs with an invalid one end at once (DEAD, error `PayloadInvalid`). Default: none. */
  schema?: PayloadSchema
  /** `runs` has at least one. */
  run(runs: readonly Run<Payload>[]): BatchOutcomes | Promise<BatchOutcomes>
}
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing is declared so.
export type BatchOutcomes = readonly BatchOutcome[] | undefined | void

/** By name. */
export type Handlers = Record<string, Handler | BatchHandler>

export const batchSizeMax = 1_000
export const batchWaitMsMax = 60_000

export function isBatchHandler(handler: Handler | BatchHandler): handler is BatchHandler {
  return typeof handler !== 'function'
}

/** The value of a payload for the handler; see Run.payload. */
export function payloadOf(payload: Buffer | null, contentType: string | null): unknown {
  if (payload === null || contentType === null || !isJsonType(contentType)) return payload
  try {
    return JSON.parse(decodeUtf8(payload) ?? 'not UTF-8')
  } catch (error) {
    throw new NonRetryableError('the payload is not JSON though its content type says so', { cause: error })
  }
}

/** Characters of the message and of the stack of an error that are reported. */
export const errorMessageMax = 1_000
export const errorStackMax = 4_000

/** Thrown by a handler: the run is dead-lettered at once, whatever attempts are left. */
export class NonRetryableError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'NonRetryableError'
  }
}

/** Thrown by a handler: the next attempt comes after this delay instead of the job's backoff. */
export class RetryLaterError extends Error {
  /** Delay before the next attempt in ms, 0 or more. */
  readonly retryAfterMs: number

  /** Throws RangeError when `retryAfterMs` is not a number of at least 0. */
  constructor(retryAfterMs: number, message = `to be tried again in ${retryAfterMs} ms`, options?: { cause?: unknown }) {
    super(message, options)
    if (!(retryAfterMs >= 0 && retryAfterMs <= Number.MAX_SAFE_INTEGER)) {
      throw new RangeError(`retryAfterMs must be a number of milliseconds of at least 0, not ${retryAfterMs}`)
    }
    this.name = 'RetryLaterError'
    this.retryAfterMs = Math.round(retryAfterMs)
  }
}

/** An error that the executor itself reports. `type` is one of the words in docs, stable for `nonRetryable` lists. */
export function runError(type: string, message: string, retryable: boolean): RunError {
  return { type, message: cutText(message, errorMessageMax), stack: null, retryable, retryAfterMs: null }
}

/**
 * Any value may be thrown, even one whose getters throw: then the error says only that. The two classes are also recognized by
 * name, because a handler module may carry its own copy of this package.
 */
export function errorOf(thrown: unknown): RunError {
  try {
    if (!(thrown instanceof Error)) return runError('Error', String(thrown), true)
    const retryAfterMs = (thrown as { retryAfterMs?: unknown }).retryAfterMs
    return {
      type: cutText(String(thrown.name || 'Error'), 200),
      message: cutText(String(thrown.message), errorMessageMax),
      stack: typeof thrown.stack === 'string' ? cutText(thrown.stack, errorStackMax) : null,
      retryable: !(thrown instanceof NonRetryableError) && thrown.name !== 'NonRetryableError',
      retryAfterMs: typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? Math.round(retryAfterMs) : null,
    }
  } catch {
    return runError('Error', 'the handler threw something that cannot be read', true)
  }
}

/** The reason with which a signal is aborted. */
export function namedError(name: string, message: string): Error {
  const error = new Error(message)
  error.name = name
  return error
}
