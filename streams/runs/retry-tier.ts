/** Which delay topic a backoff waits in. */
import { retryTiers } from '../topics/index.ts'

export type RetryTier = (typeof retryTiers)[number]

/** The largest tier that is not longer than the delay; undefined below the smallest, where the time index waits alone. */
export function tierFor(delayMs: number): RetryTier | undefined {
  return retryTiers.findLast((tier) => tier.delayMs <= delayMs)
}
