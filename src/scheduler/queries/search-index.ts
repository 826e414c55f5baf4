/**
 * What lists search a partition by that has no index: each job's id and the name of its handler, in memory. An index of handlers cost
 * every restore a third (streams/state/job-index.ts); this costs nothing until somebody searches. The first searches build it, a part with
 * each call, and show what they find meanwhile; after that a million jobs are searched in some milliseconds.
 *
 * It only proposes: a job may have been deleted or replaced since, so whoever searches looks at the jobs themselves.
 */
import { definitionKey, jobIdOfKey, keyAfter, prefix, rangeOf, storedDefinition } from '../../../streams/state/index.ts'
import type { PartitionStore, StoreOp } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { IdColumn } from './id-column.ts'

/** Bytes of ids that are kept for one partition. What is beyond is searched job by job. */
export const searchIndexBytesMax = 64 * 1024 * 1024
/** Definitions written since it was built that are kept beside it. With more it is built anew. */
export const recentMax = 20_000
/** Names of handlers that are told apart; jobs of further ones are always looked at. */
const handlersMax = 10_000
/** Without a search for so long it is forgotten. */
const idleMs = 600_000
const chunk = 1_000
/** Bytes of definitions that are read together; a light one has some hundred. */
const chunkBytes = 2 * 1024 * 1024
/** Definitions that are read one by one and are in memory together: of half a megabyte these are 16 MB. */
const valuesAtOnce = 32

const [anyHandler, noHandler] = [0, 1]

export interface Wanted {
  handler?: string | undefined
  idContains?: string | undefined
}

export interface Proposed {
  /** In the order of their bytes. */
  ids: string[]
  /** Up to where it was searched; undefined: to the end. Empty: nothing is known yet. */
  upTo: string | undefined
  /** There is room for no more of what is known. */
  isCut: boolean
  /** Jobs that were passed. */
  looked: number
}

export class SearchIndex {
  #ids = new IdColumn()
  readonly #handlers = new Map<string, number>()
  /** By id: the handler's number, or undefined while it has not been looked up. */
  readonly #recent = new Map<string, number | undefined>()
  #inUse = false
  #complete = false
  #usedAtMs = 0
  #building: Promise<number> | undefined

  readonly #bytesMax: number

  constructor(bytesMax = searchIndexBytesMax) {
    this.#bytesMax = bytesMax
  }

  /** The same store; what is written through it is known here. */
  watch(store: PartitionStore, steadyMs: () => number): PartitionStore {
    return {
      ...store,
      apply: async (ops) => {
        await store.apply(ops)
        if (this.#inUse) this.#note(ops, steadyMs())
      },
    }
  }

  clear(): void {
    this.#ids = new IdColumn()
    this.#handlers.clear()
    this.#recent.clear()
    this.#inUse = this.#complete = false
  }

  /** Whether the ids have reached their limit, so that what is behind `last` has to be found in another way. */
  get full(): boolean {
    return !this.#complete && this.#ids.bytes >= this.#bytesMax
  }

  /** The last id that is known in order. */
  get last(): string | undefined {
    return this.#ids.last
  }

  /** Reads on where the last call stopped, at most `lookedMax` definitions; resolves with how many. */
  async advance(store: PartitionStore, codecs: SchedulerCodecs, lookedMax: number, steadyMs: number): Promise<number> {
    this.#usedAtMs = steadyMs
    this.#inUse = true
    await this.#resolveRecent(store, codecs)
    if (this.#complete || this.full || lookedMax === 0) return 0
    // Two searches at once share the work.
    this.#building ??= this.#build(store, codecs, lookedMax).finally(() => {
      this.#building = undefined
    })
    return this.#building
  }

  async #build(store: PartitionStore, codecs: SchedulerCodecs, lookedMax: number): Promise<number> {
    const ids = this.#ids
    let looked = 0
    while (looked < lookedMax && !this.full) {
      const from = ids.last === undefined ? rangeOf(prefix.definition).from : behind(ids.last)
      const entries = await store.scan({ from, to: rangeOf(prefix.definition).to, limit: chunk, bytesMax: chunkBytes })
      for (const { key, value } of entries) {
        const known = this.#handlerOf(codecs, value)
        const handler = known instanceof Promise ? await known : known
        // Forgotten meanwhile: what is read now belongs nowhere.
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

  /** Jobs behind `after` that may be wanted: at most `room` of them. */
  propose({ handler, idContains }: Wanted, after: string | undefined, room: number): Proposed {
    const number = handler === undefined ? undefined : (this.#handlers.get(handler) ?? -1)
    const isHandler = (known: number | undefined): boolean =>
      number === undefined || known === undefined || known === number || known === anyHandler
    const found = this.#ids.search({ idContains, isHandler }, after, room)
    // Until it is complete, nothing is known of what stands behind the last id.
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

  #note(ops: readonly StoreOp[], steadyMs: number): void {
    for (const { key, value } of ops) {
      if (key[0] === prefix.definition && value !== null) this.#recent.set(jobIdOfKey(key), undefined)
    }
    if (this.#recent.size > recentMax || steadyMs - this.#usedAtMs > idleMs) this.clear()
  }

  async #resolveRecent(store: PartitionStore, codecs: SchedulerCodecs): Promise<void> {
    const unknown = [...this.#recent].filter(([, handler]) => handler === undefined).map(([id]) => id)
    for (let at = 0; at < unknown.length; at += valuesAtOnce) {
      const ids = unknown.slice(at, at + valuesAtOnce)
      // Until it is known, it may be any.
      for (const id of ids) this.#recent.set(id, anyHandler)
      const values = await store.get(ids.map(definitionKey))
      for (const [index, value] of values.entries()) {
        const id = ids[index] ?? ''
        const handler = value ? await this.#handlerOf(codecs, value) : noHandler
        // Written once more meanwhile: then it is looked up again.
        if (this.#recent.get(id) === anyHandler) this.#recent.set(id, handler)
      }
    }
  }

  /** At once wherever that is possible. A definition that cannot be read has none, unless only the registry is away. */
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

/** The order of ids in a store; JavaScript's own order differs beyond U+FFFF. */
export const byBytes = (left: string, right: string): number =>
  left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right))
