/**
 * Search index of a partition, in memory: the id of each job and the name of its handler, for which the store has no index. A stored
 * index of handlers made every restore a third slower (streams/state/job-index.ts). This one costs nothing until the first search. The
 * first searches build it, a part with each call, and return what they find meanwhile. After that a search of a million jobs takes some
 * milliseconds.
 *
 * The index only proposes jobs. A job may have been deleted or replaced since, so the caller reads the jobs themselves.
 */
import { definitionKey, jobIdOfKey, keyAfter, prefix, rangeOf, storedDefinition } from '../../../streams/state/index.ts'
import type { PartitionStore, StoreReader } from '../../ground/ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { IdColumn } from './id-column.ts'

/** Bytes of ids that are kept for one partition. Further jobs are searched one by one. */
export const searchIndexBytesMax = 64 * 1024 * 1024
/** Definitions written since the index was built that are kept beside it. With more it is rebuilt. */
export const recentMax = 20_000
/** Names of handlers that are distinguished. Jobs with further handlers are always read. */
const handlersMax = 10_000
const chunk = 1_000
/** Bytes of definitions that are read together. A light one has some hundred. */
const chunkBytes = 2 * 1024 * 1024
/** Recent definitions that are in memory together. With half a megabyte each these are 16 MB. */
const valuesAtOnce = 32

const [anyHandler, noHandler] = [0, 1]

export interface Wanted {
  handler?: string | undefined
  idContains?: string | undefined
}

export interface Proposed {
  /** In byte order. */
  ids: string[]
  /** Last id that was searched. Undefined: the search reached the end. Empty: nothing is known yet. */
  upTo: string | undefined
  /** True: `room` is used up and the index may have more. */
  isCut: boolean
  /** Number of jobs that were checked. */
  looked: number
}

export class SearchIndex {
  #ids = new IdColumn()
  readonly #handlers = new Map<string, number>()
  /** By id: the number of the handler, or undefined until it was looked up. */
  readonly #recent = new Map<string, number | undefined>()
  #complete = false
  #building: Promise<number> | undefined

  readonly #bytesMax: number

  constructor(bytesMax = searchIndexBytesMax) {
    this.#bytesMax = bytesMax
  }

  clear(): void {
    this.#ids = new IdColumn()
    this.#handlers.clear()
    this.#recent.clear()
    this.#complete = false
  }

  /** Whether the ids have reached their limit, so that jobs after `last` must be found in another way. */
  get full(): boolean {
    return !this.#complete && this.#ids.bytes >= this.#bytesMax
  }

  /** The last id of the ordered part. */
  get last(): string | undefined {
    return this.#ids.last
  }

  /** Continues to read where the last call stopped, at most `lookedMax` definitions. Resolves with their number. */
  async advance(store: StoreReader, codecs: SchedulerCodecs, lookedMax: number): Promise<number> {
    await this.#resolveRecent(store, codecs)
    if (this.#complete || this.full || lookedMax === 0) return 0
    // Two searches at once share the work.
    this.#building ??= this.#build(store, codecs, lookedMax).finally(() => {
      this.#building = undefined
    })
    return this.#building
  }

  async #build(store: StoreReader, codecs: SchedulerCodecs, lookedMax: number): Promise<number> {
    const ids = this.#ids
    let looked = 0
    while (looked < lookedMax && !this.full) {
      const from = ids.last === undefined ? rangeOf(prefix.definition).from : behind(ids.last)
      const entries = await store.scan({ from, to: rangeOf(prefix.definition).to, limit: chunk, bytesMax: chunkBytes })
      for (const { key, value } of entries) {
        const known = this.#handlerOf(codecs, value)
        const handler = known instanceof Promise ? await known : known
        // The index was cleared meanwhile, so this entry is not wanted.
        if (ids !== this.#ids) return looked
        ids.push(key.subarray(1), handler)
      }
      looked += entries.length
      if (entries.length === 0) {
        this.#complete = ids === this.#ids
        break
      }
    }
    return looked
  }

  /** Jobs after `after` that may match, at most `room`. */
  propose({ handler, idContains }: Wanted, after: string | undefined, room: number): Proposed {
    const number = handler === undefined ? undefined : (this.#handlers.get(handler) ?? -1)
    const isHandler = (known: number | undefined): boolean =>
      number === undefined || known === undefined || known === number || known === anyHandler
    const found = this.#ids.search({ idContains, isHandler }, after, room)
    // Until the index is complete, nothing is known about jobs after the last id.
    const upTo = found.upTo ?? (this.#complete ? undefined : later(this.#ids.last, after))
    const recent: string[] = []
    for (const [id, known] of this.#recent) {
      if (!isHandler(known) || (after !== undefined && byBytes(id, after) <= 0)) continue
      if (upTo !== undefined && byBytes(id, upTo) > 0) continue
      if (idContains === undefined || id.includes(idContains)) recent.push(id)
    }
    const all = recent.length === 0 ? found.ids : [...new Set([...found.ids, ...recent])].sort(byBytes)
    return { ids: all, upTo, isCut: found.upTo !== undefined, looked: found.looked }
  }

  /** These definitions were written since the last call. Undefined: any may have been. */
  note(written: readonly string[] | undefined): void {
    for (const id of written ?? []) this.#recent.set(id, undefined)
    if (written === undefined || this.#recent.size > recentMax) this.clear()
  }

  async #resolveRecent(store: StoreReader, codecs: SchedulerCodecs): Promise<void> {
    const unknown = [...this.#recent].filter(([, handler]) => handler === undefined).map(([id]) => id)
    for (let at = 0; at < unknown.length; at += valuesAtOnce) {
      const ids = unknown.slice(at, at + valuesAtOnce)
      // Until the handler is known, it may be any.
      for (const id of ids) this.#recent.set(id, anyHandler)
      const values = await store.get(ids.map(definitionKey))
      for (const [index, value] of values.entries()) {
        const id = ids[index] ?? ''
        const handler = value ? await this.#handlerOf(codecs, value) : noHandler
        // If the definition was written again meanwhile, it is looked up again.
        if (this.#recent.get(id) === anyHandler) this.#recent.set(id, handler)
      }
    }
  }

  /** Synchronous if possible. A definition that cannot be read, or not yet, counts as any handler. */
  #handlerOf(codecs: SchedulerCodecs, value: Buffer): number | Promise<number> {
    try {
      const decoded = codecs.definition.decode(storedDefinition(value).bytes)
      if (!(decoded instanceof Promise)) return this.#numberOf(decoded.target.handler)
      return decoded.then(
        ({ target }) => this.#numberOf(target.handler),
        () => anyHandler,
      )
    } catch {
      return anyHandler
    }
  }

  #numberOf(handler: string | null): number {
    if (handler === null) return noHandler
    const known = this.#handlers.get(handler)
    if (known !== undefined) return known
    if (this.#handlers.size >= handlersMax) return anyHandler
    this.#handlers.set(handler, this.#handlers.size + 2)
    return this.#handlers.size + 1
  }
}

const later = (left = '', right = ''): string => (byBytes(left, right) > 0 ? left : right)
const behind = (id: string): Buffer => keyAfter(definitionKey(id))

/** The order of ids in a store. The order of JavaScript strings differs above U+FFFF. */
export const byBytes = (left: string, right: string): number =>
  left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right))

/** Ids; undefined: nobody searches, or too many were written. */
interface Written {
  ids: Set<string> | undefined
}

/** The definitions that were written to each store since it was last searched, for the search index, which may be in another thread. */
export class WrittenDefinitions {
  readonly #stores = new Map<number, Written>()

  /** An entry of the table of hooks: it notes the writes to the store that was opened last. */
  readonly hook = ({ partition }: { partition: number }) => ({
    opened: (store: PartitionStore): PartitionStore => {
      const written: Written = { ids: undefined }
      this.#stores.set(partition, written)
      return {
        ...store,
        apply: async (ops) => {
          await store.apply(ops)
          if (written.ids === undefined) return
          for (const { key, value } of ops) if (key[0] === prefix.definition && value !== null) written.ids.add(jobIdOfKey(key))
          if (written.ids.size > recentMax) written.ids = undefined
        },
      }
    },
  })

  /** Those since the last call; undefined if they are not known. */
  take(partition: number): string[] | undefined {
    const written = this.#stores.get(partition)
    if (written === undefined) return undefined
    const { ids } = written
    written.ids = new Set()
    return ids && [...ids]
  }
}
