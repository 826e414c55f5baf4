/** How long a partition that fails again before it has done anything waits until it is opened again: longer each time, up to a maximum. */
import { DuelogError } from '../../errors/index.ts'

const waitMsMin = 50
const waitMsMax = 5_000
/** As long as brokers are lost: what is waited for once they are back is lost time. */
const brokersLostWaitMsMax = 500

/** `failures`: how often it failed before this, since it last committed what it had folded. */
export function reopenWaitMs(error: unknown, failures: number): number {
  if (failures === 0) return 0
  const isLost = error instanceof DuelogError && error.code === 'broker-unavailable'
  return Math.min(waitMsMin * 2 ** failures, isLost ? brokersLostWaitMsMax : waitMsMax)
}
