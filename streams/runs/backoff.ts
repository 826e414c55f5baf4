/** Backoff before the next attempt of a run, and its delay topic. It is a pure function of run and attempt, so a replay makes the same decision. */
import { type AvroRecord, type Backoff, fieldOf, jobDefinitionSchema, type Retry } from '../../schemas/index.ts'
import { hashFraction } from '../hashing/index.ts'
import { retryTiers } from '../topics/index.ts'

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

function plainDelayMs({ list, fixed, linear, exponential }: Backoff, retryNo: number): number {
  if (fixed !== null) return fixed.delayMs
  if (linear !== null) return linear.stepMs * retryNo
  if (exponential !== null) return Math.min(exponential.baseMs * exponential.factor ** (retryNo - 1), exponential.maxMs)
  return list[Math.min(retryNo, list.length) - 1] ?? 0
}

export type RetryTier = (typeof retryTiers)[number]

/** The largest tier that is not longer than the delay. Undefined for delays below the smallest, where only the time index waits. */
export function tierFor(delayMs: number): RetryTier | undefined {
  return retryTiers.findLast((tier) => tier.delayMs <= delayMs)
}
