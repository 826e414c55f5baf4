/** The delay topic of a backoff. */
import { retryTiers } from '../topics/index.ts'

export type RetryTier = (typeof retryTiers)[number]

/** The largest tier that is not longer than the delay. Undefined for delays below the smallest, where only the time index waits. */
export function tierFor(delayMs: number): RetryTier | undefined {
  return retryTiers.findLast((tier) => tier.delayMs <= delayMs)
}
