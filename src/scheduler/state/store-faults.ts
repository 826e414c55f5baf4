/**
 * Wrapper of a store that marks each of its errors as a fault of the machine and not of a job. A full or broken disk refuses every
 * request, so the job of that request is not the cause (commit/failure-isolation.ts).
 */
import type { Clock } from '../../ground/clock/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { PartitionStore, PartitionStores } from '../../ground/ports/index.ts'

/** An error of a local store, mostly `not-ready`. */
export class StoreFault extends DuelogError {}

const named =
  <Args extends unknown[], Value>(what: string, task: (...args: Args) => Promise<Value>) =>
  async (...args: Args): Promise<Value> => {
    try {
      return await task(...args)
    } catch (cause) {
      if (cause instanceof StoreFault) throw cause
      // For example a store that another process has open; the message already says so.
      if (cause instanceof DuelogError) throw new StoreFault(cause.code, cause.message, { cause })
      throw new StoreFault('not-ready', `The local store could not be ${what}: ${messageOf(cause)}`, { cause })
    }
  }

/** The same store; all its errors are a StoreFault. */
export function withStoreFaults(store: PartitionStore): PartitionStore {
  return {
    get: named('read', (keys) => store.get(keys)),
    scan: named('read', (options) => store.scan(options)),
    apply: named('written', (ops) => store.apply(ops)),
    compact: named('compacted', (from, to) => store.compact(from, to)),
    bytes: named('measured', () => store.bytes()),
    close: () => store.close(),
  }
}

/** The same stores; errors of opening and wiping are a StoreFault as well. */
export function withStoresFaults(stores: PartitionStores): PartitionStores {
  return {
    held: () => stores.held(),
    open: named('opened', (partition) => stores.open(partition)),
    wipe: named('rebuilt', (partition) => stores.wipe(partition)),
  }
}

/** A store that fails three times for unknown reasons is wiped (store/rocks-store.ts). So by the fifth failure that was tried, too. */
const brokenAfter = 5
const brokenAfterMs = 10_000
/** A partition that has fired or followed for this long works. */
export const worksAfterMs = 10_000

/** Whether the store of a partition fails for good: 5 failures in a row within at least 10 s, without work between them. */
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
