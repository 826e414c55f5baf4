/** Log lines of a partition that reopens. While a broker is unreachable it reopens twice a second for the whole time. */
import { messageOf } from '../../errors/index.ts'
import type { Shared } from '../options/index.ts'

/** Interval between two lines about the same kind of failure. */
const tellAgainMs = 60_000

export class ReopenLines {
  readonly #partition: number
  readonly #shared: Pick<Shared, 'clock' | 'logger'>
  #told: { reason: string; untilMs: number } | undefined

  constructor(partition: number, shared: Pick<Shared, 'clock' | 'logger'>) {
    this.#partition = partition
    this.#shared = shared
  }

  /**
   * Logs the first failure and each one of another kind; the same kind again once a minute. `failures`: number of consecutive
   * failures before.
   */
  say(error: unknown, reason: string, failures: number): void {
    const { clock, logger } = this.#shared
    const now = clock.steadyMs()
    if (failures > 0 && this.#told?.reason === reason && now < this.#told.untilMs) return
    this.#told = { reason, untilMs: now + tellAgainMs }
    const facts = { err: error, partition: this.#partition, ...(failures > 0 && { failures: failures + 1 }) }
    logger.warn(facts, `Partition ${this.#partition} is reopened: ${messageOf(error)}`)
  }
}
