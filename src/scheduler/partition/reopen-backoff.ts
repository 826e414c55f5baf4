/**
 * Delay before a partition that failed is opened again. It grows with each failure up to a maximum, until the partition applies
 * something.
 */
import { DuelogError } from '../../errors/index.ts'

const waitMsMin = 50
const waitMsMax = 5_000
/** Maximum delay while brokers are unreachable: any longer delay is lost time once they are back. */
const brokersLostWaitMsMax = 500

/** `failures`: earlier failures since the partition last committed applied records. */
export function reopenWaitMs(error: unknown, failures: number): number {
  if (failures === 0) return 0
  const isLost = error instanceof DuelogError && error.code === 'broker-unavailable'
  return Math.min(waitMsMin * 2 ** failures, isLost ? brokersLostWaitMsMax : waitMsMax)
}
