/** What the log says of a partition that is opened again: while a broker is lost that is twice a second, for as long as the loss lasts. */
import { messageOf } from '../../errors/index.ts'
import type { Shared } from '../options/index.ts'

/** Between two lines about the same. */
const tellAgainMs = 60_000

export class ReopenLines {
  readonly #partition: number
  readonly #shared: Pick<Shared, 'clock' | 'logger'>
  #told: { reason: string; untilMs: number } | undefined

  constructor(partition: number, shared: Pick<Shared, 'clock' | 'logger'>) {
    this.#partition = partition
    this.#shared = shared
  }

  /** The first failure is said, and each that is of another kind; the same kind again once a minute. `failures`: how many came before it, in a row. */
  say(error: unknown, reason: string, failures: number): void {
    const { clock, logger } = this.#shared
    const now = clock.steadyMs()
    if (failures > 0 && this.#told?.reason === reason && now < this.#told.untilMs) return
    this.#told = { reason, untilMs: now + tellAgainMs }
    const facts = { err: error, partition: this.#partition, ...(failures > 0 && { failures: failures + 1 }) }
    logger.warn(facts, `Partition ${this.#partition} is reopened: ${messageOf(error)}`)
  }
}
