/** Errors that a handler may throw to control its retries, and the conversion of any thrown value into the error of a report. */

import type { RunError } from '../../../schemas/index.ts'
import { cutText } from '../../../streams/text/index.ts'

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
