/** How a failed partition is opened again: after a delay that grows, with a bounded number of log lines. */
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { Shared } from '../options/index.ts'

const waitMsMin = 50
const waitMsMax = 5_000
/** Maximum delay while brokers are unreachable: any longer delay is lost time once they are back. */
const brokersLostWaitMsMax = 500

/**
 * The delay before the partition is opened again, in ms. It grows with each failure up to a maximum. `failures`: earlier failures since the partition last committed applied records.
 */
export function reopenWaitMs(error: unknown, failures: number): number {
  if (failures === 0) return 0
  const isLost = error instanceof DuelogError && error.code === 'broker-unavailable'
  return Math.min(waitMsMin * 2 ** failures, isLost ? brokersLostWaitMsMax : waitMsMax)
}

/** Interval between two lines about the same kind of failure. */
const logAgainMs = 60_000

/** Loggers of the schedulers that have said that their system was moved. */
const saidMoved = new WeakSet<object>()

/** Log lines of a partition that reopens. While a broker is unreachable it reopens twice a second for the whole time. */
export class ReopenLines {
  readonly #partition: number
  readonly #shared: Pick<Shared, 'clock' | 'logger'>
  #logged: { reason: string; untilMs: number } | undefined

  constructor(partition: number, shared: Pick<Shared, 'clock' | 'logger'>) {
    this.#partition = partition
    this.#shared = shared
  }

  /**
   * Logs the first failure and each one of another kind; the same kind again once a minute. `failures`: number of consecutive
   * failures before.
   */
  log(error: unknown, reason: string, failures: number): void {
    const { clock, logger } = this.#shared
    if (reason === 'system-moved') return this.#logMoved(error)
    const now = clock.steadyMs()
    if (failures > 0 && this.#logged?.reason === reason && now < this.#logged.untilMs) return
    this.#logged = { reason, untilMs: now + logAgainMs }
    const facts = { err: error, partition: this.#partition, ...(failures > 0 && { failures: failures + 1 }) }
    logger.warn({ event: 'partition-reopened', ...facts }, `Partition ${this.#partition} is reopened: ${messageOf(error)}`)
  }
  /** All partitions were moved together, and the first says it for the process. */
  #logMoved(error: unknown): void {
    const { logger } = this.#shared
    if (saidMoved.has(logger)) return
    saidMoved.add(logger)
    logger.error({ event: 'system-moved', partition: this.#partition }, messageOf(error))
  }
}
