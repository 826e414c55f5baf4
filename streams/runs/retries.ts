/** A failed attempt: the error that the state keeps of it, the backoff before the next one, and its delay topic. */
import {
  type ActiveRun,
  type AttemptError,
  type AvroRecord,
  type Backoff,
  fieldOf,
  jobDefinitionSchema,
  type Retry,
} from '../../schemas/index.ts'
import { runErrorsMax } from '../state/index.ts'
import { cutText, hashFraction } from '../text/index.ts'
import { retryTiers } from '../topics/index.ts'

/** Errors of the failed attempts of a run: what the state of a job keeps of each. */

const messageCharsMax = 1_000
/** Longest stack that is kept. It has about 20 frames. */
const stackCharsMax = 2_000

/** What failed. `stack` is optional, because an owner that judges an attempt has none. */
interface Failure {
  type: string
  message: string
  stack?: string | null | undefined
}

type Attempted = Pick<ActiveRun, 'attempt' | 'worker' | 'dueAt' | 'dispatchedAt' | 'startedAt'>

/** The current attempt of a run failed at `at`. */
export function attemptErrorOf(run: Attempted, { type, message, stack }: Failure, at: number): AttemptError {
  const { attempt, worker, dueAt, dispatchedAt, startedAt } = run
  return {
    ...{ attempt, at, worker, type, message: cutText(message, messageCharsMax) },
    ...{ dueAt, dispatchedAt, startedAt, stack: stack == null ? null : cutText(stack, stackCharsMax) },
  }
}

/** The last five errors. Only the newest keeps its stack: the state is written with each attempt, so it must stay small (ADR 0091). */
export function withAttemptError(errors: readonly AttemptError[], error: AttemptError): AttemptError[] {
  const earlier = errors.map((one) => (one.stack === null ? one : { ...one, stack: null }))
  return [...earlier, error].slice(-runErrorsMax)
}

/** Backoff before the next attempt of a run, and its delay topic. It is a pure function of run and attempt, so a replay makes the same decision. */

const backoffSchema = fieldOf(fieldOf(jobDefinitionSchema, 'retry').type as AvroRecord, 'backoff').type as AvroRecord

/** Longest delay before an attempt: the maximum of every delay in the schema. */
export const retryDelayMaxMs = fieldOf(backoffSchema, 'list').maximum ?? 0

/**
 * Delay before the attempt that follows `failedAttempt` (1 is the first), in whole ms from 0 to retryDelayMaxMs.
 * Jitter only shortens: the delay is multiplied by 1 − jitter × u, where u in [0, 1) comes from the hash of job, run and attempt.
 * So a backoff's own limit stays a limit, and jitter 1 spreads over the whole delay.
 */
export function retryDelayMs(retry: Retry, failedAttempt: number, jobId: string, runNo: number): number {
  const plainMs = Math.min(plainDelayMs(retry.backoff, Math.max(1, failedAttempt)), retryDelayMaxMs)
  const share = retry.jitter > 0 ? retry.jitter * hashFraction(`${jobId}/${runNo}/${failedAttempt}`) : 0
  return Math.max(0, Math.round(plainMs * (1 - share)))
}

function plainDelayMs({ list, fixed, linear, exponential, ...others }: Backoff, retryNo: number): number {
  // A new kind of backoff does not compile before it has a delay here.
  others satisfies Record<string, never>
  if (fixed !== null) return fixed.delayMs
  if (linear !== null) return linear.stepMs * retryNo
  if (exponential !== null) return Math.min(exponential.baseMs * exponential.factor ** (retryNo - 1), exponential.maxMs)
  return list[Math.min(retryNo, list.length) - 1] ?? 0
}

export type RetryTier = (typeof retryTiers)[number]

/** The largest tier that is not longer than the delay. Undefined for delays below the smallest: the time index alone ends them. */
export function tierFor(delayMs: number): RetryTier | undefined {
  return retryTiers.findLast((tier) => tier.delayMs <= delayMs)
}
