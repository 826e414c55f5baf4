/**
 * The store as the phases of a partition see it: whatever it fails with is a fault of the place, and of no job. A disk that is full or
 * broken refuses whatever is asked of it, and who was asked about just then is not to blame (narrowing.ts).
 */
import { DuelogError, messageOf } from '../errors.ts'
import type { PartitionStore } from './ports.ts'

/** The same store, whose errors all have the code `not-ready`. */
export function withStoreFaults(store: PartitionStore): PartitionStore {
  const named =
    <Args extends unknown[], Value>(what: string, task: (...args: Args) => Promise<Value>) =>
    async (...args: Args): Promise<Value> => {
      try {
        return await task(...args)
      } catch (cause) {
        if (cause instanceof DuelogError && cause.code === 'not-ready') throw cause
        throw new DuelogError('not-ready', `The local store could not be ${what}: ${messageOf(cause)}`, { cause })
      }
    }
  return {
    get: named('read', (keys) => store.get(keys)),
    scan: named('read', (options) => store.scan(options)),
    apply: named('written', (ops) => store.apply(ops)),
    compact: named('compacted', (from, to) => store.compact(from, to)),
    bytes: named('measured', () => store.bytes()),
    close: () => store.close(),
  }
}
