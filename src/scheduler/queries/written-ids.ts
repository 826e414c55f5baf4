/** The definitions that were written to a store since it was last searched, for the search index, which may be in another thread. */
import { jobIdOfKey, prefix } from '../../../streams/state/index.ts'
import type { PartitionStore } from '../../ports/index.ts'
import { recentMax } from './search-index.ts'

export class WrittenIds {
  /** Undefined: nobody searches, or too many were written. */
  #ids: Set<string> | undefined

  /** The same store. Its writes are noted. */
  watch(store: PartitionStore): PartitionStore {
    return {
      ...store,
      apply: async (ops) => {
        await store.apply(ops)
        for (const { key, value } of this.#ids === undefined ? [] : ops)
          if (key[0] === prefix.definition && value !== null) this.#ids?.add(jobIdOfKey(key))
        if ((this.#ids?.size ?? 0) > recentMax) this.#ids = undefined
      },
    }
  }

  /** Those since the last call; undefined if they are not known. */
  take(): string[] | undefined {
    const ids = this.#ids
    this.#ids = new Set()
    return ids && [...ids]
  }
}
