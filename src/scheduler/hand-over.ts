/** The planned stop of a scheduler: it fires until others do, and leaves then (ADR 0057). */
import { atSteady } from '../clock/index.ts'
import type { GroupReader } from '../ports/index.ts'
import type { SchedulerOptions } from './options/index.ts'

/** So long a scheduler that is stopped goes on firing at most, until others do. */
export const handOverMsMax = 10_000
/** And so long it stays a member behind that: its leaving is a rebalance, in which nobody reads, and its heirs read up to their claims. */
const heirsReadMs = 2_000

export class HandOver {
  readonly #options: Pick<SchedulerOptions, 'clock' | 'logger'>
  readonly #leaving: () => number[]
  #handedOver: (() => void) | undefined
  #hasBegun = false

  /** `leaving`: partitions that fire here until their new owners do. */
  constructor(options: Pick<SchedulerOptions, 'clock' | 'logger'>, leaving: () => number[]) {
    this.#options = options
    this.#leaving = leaving
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** To be called whenever a partition may have been taken over. */
  look(): void {
    if (this.#leaving().length === 0) this.#handedOver?.()
  }

  /**
   * Says to the group that this member leaves: it then gives all to others, as far as there are any, which fence what fires here as soon as
   * they can fire themselves. Whatever goes wrong meanwhile, the limit ends it.
   */
  async run(reader: Pick<GroupReader, 'rejoin'>): Promise<void> {
    const { clock, logger } = this.#options
    this.#hasBegun = true
    let cancel = (): void => {}
    const after = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        cancel = clock.at(atSteady(clock, clock.steadyMs() + ms), resolve)
      })
    let hasHeirs = false
    const late = after(handOverMsMax)
    const handedOver = (): Promise<void> =>
      new Promise((resolve) => {
        hasHeirs = this.#leaving().length > 0
        this.#handedOver = resolve
        this.look()
      })
    // Of a reader that has stopped nobody hears any more.
    await Promise.race([reader.rejoin().then(handedOver, () => undefined), late])
    cancel()
    const left = this.#leaving()
    if (left.length > 0) logger.warn({ partitions: left }, 'The stop waits no longer: nobody fires some partitions yet.')
    else if (hasHeirs) await after(heirsReadMs)
  }
}
