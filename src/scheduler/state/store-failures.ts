/** Counter of store failures of a partition. The store fails for good after 5 failures in a row within at least 10 s, without work between them. */
import type { Clock } from '../../clock/index.ts'
import { StoreFault } from './store-faults.ts'

/** A store that fails three times for unknown reasons is wiped (store/rocks-store.ts). So by the fifth failure that was tried, too. */
const brokenAfter = 5
const brokenAfterMs = 10_000
/** A partition that has fired or followed for this long works. */
export const worksAfterMs = 10_000

export class StoreFailures {
  readonly #clock: Pick<Clock, 'steadyMs'>
  #count = 0
  /** Since when the partition fires or follows, and time of the first failure in the row. Both by the steady clock. */
  #worksSinceMs = Number.POSITIVE_INFINITY
  #failsSinceMs = 0
  #isBroken = false

  constructor(clock: Pick<Clock, 'steadyMs'>) {
    this.#clock = clock
  }

  /** Result of the last failure; false again once the partition fires or follows. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** Must be called at each phase. `works`: the partition fires or follows in it. */
  entered(works: boolean): void {
    this.#worksSinceMs = works ? Math.min(this.#worksSinceMs, this.#clock.steadyMs()) : Number.POSITIVE_INFINITY
    if (works) this.#isBroken = false
  }

  /** Must be called at the end of each life of the partition, before its last phase ends. `hasCommitted`: it made a commit. */
  ended(error: unknown, hasCommitted: boolean): void {
    const nowMs = this.#clock.steadyMs()
    if (hasCommitted || nowMs - this.#worksSinceMs >= worksAfterMs) this.#count = 0
    if (!(error instanceof StoreFault)) return
    if (this.#count === 0) this.#failsSinceMs = nowMs
    this.#count++
    this.#isBroken = this.#count >= brokenAfter && nowMs - this.#failsSinceMs >= brokenAfterMs
  }
}
