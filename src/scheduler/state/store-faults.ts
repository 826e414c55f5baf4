/**
 * The store as the phases of a partition see it: whatever it fails with is a fault of the place, and of no job. A disk that is full or
 * broken refuses whatever is asked of it, and who was asked about just then is not to blame (commit/failure-isolation.ts).
 */
import { DuelogError, messageOf } from '../../errors/index.ts'
import type { PartitionStore, PartitionStores } from '../../ports/index.ts'

/** What a local store failed with: mostly `not-ready`. */
export class StoreFault extends DuelogError {}

const named =
  <Args extends unknown[], Value>(what: string, task: (...args: Args) => Promise<Value>) =>
  async (...args: Args): Promise<Value> => {
    try {
      return await task(...args)
    } catch (cause) {
      if (cause instanceof StoreFault) throw cause
      // Such as a store that another process has open, which says so by itself.
      if (cause instanceof DuelogError) throw new StoreFault(cause.code, cause.message, { cause })
      throw new StoreFault('not-ready', `The local store could not be ${what}: ${messageOf(cause)}`, { cause })
    }
  }

/** The same store, whose errors are all of this kind. */
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

/** The same stores: whoever opens one, or builds it anew, hears of it in the same way. */
export function withStoresFaults(stores: PartitionStores): PartitionStores {
  return {
    held: () => stores.held(),
    open: named('opened', (partition) => stores.open(partition)),
    wipe: named('built anew', (partition) => stores.wipe(partition)),
  }
}
