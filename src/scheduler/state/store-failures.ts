/** Whether the store of a partition fails for good: so often in a row, for so long, and not one moment of work between two failures. */
import type { Clock } from '../../clock/index.ts'
import { StoreFault } from './store-faults.ts'

/** A store that fails thrice for reasons that it does not name is wiped (store/rocksdb.ts): that has been tried by then, too. */
const brokenAfter = 5
const brokenAfterMs = 10_000
/** Who has fired or followed for so long works. */
export const worksAfterMs = 10_000

export class StoreFailures {
  readonly #clock: Pick<Clock, 'steadyMs'>
  #count = 0
  /** Since when it fires or follows, and when the first of these failures came; by the steady clock. */
  #worksSinceMs = Number.POSITIVE_INFINITY
  #failsSinceMs = 0
  #isBroken = false

  constructor(clock: Pick<Clock, 'steadyMs'>) {
    this.#clock = clock
  }

  /** As of the last failure, unless it fires or follows since. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** Must be told of each phase: whether the partition fires or follows in it. */
  entered(works: boolean): void {
    this.#worksSinceMs = works ? Math.min(this.#worksSinceMs, this.#clock.steadyMs()) : Number.POSITIVE_INFINITY
    if (works) this.#isBroken = false
  }

  /** Must be told how each life ends, before its last phase does. `hasCommitted`: it did something. */
  ended(error: unknown, hasCommitted: boolean): void {
    const nowMs = this.#clock.steadyMs()
    if (hasCommitted || nowMs - this.#worksSinceMs >= worksAfterMs) this.#count = 0
    if (!(error instanceof StoreFault)) return
    if (this.#count === 0) this.#failsSinceMs = nowMs
    this.#count++
    this.#isBroken = this.#count >= brokenAfter && nowMs - this.#failsSinceMs >= brokenAfterMs
  }
}
