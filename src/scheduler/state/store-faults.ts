/**
 * Wrapper of a store that marks each of its errors as a fault of the machine and not of a job. A full or broken disk refuses every
 * request, so the job of that request is not the cause (commit/failure-isolation.ts).
 */
import { DuelogError, messageOf } from '../../errors/index.ts'
import type { PartitionStore, PartitionStores } from '../../ports/index.ts'

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
    wipe: named('built anew', (partition) => stores.wipe(partition)),
  }
}
