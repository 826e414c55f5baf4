/** A cache of computed values with a fixed number of entries; the least recently used one is evicted. */
export class BoundedCache<Value> {
  readonly #entries = new Map<string, Value>()
  readonly #entriesMax: number
  readonly #compute: (key: string) => Value

  /** `compute` must give the same value for the same key each time, because entries come and go. */
  constructor(entriesMax: number, compute: (key: string) => Value) {
    this.#entriesMax = entriesMax
    this.#compute = compute
  }

  get(key: string): Value {
    const known = this.#entries.get(key)
    if (known !== undefined) {
      // A Map iterates in insertion order, so moving an entry to its end keeps the oldest first. Below half of the limit
      // nothing is near eviction and the move is saved.
      if (this.#entries.size > this.#entriesMax >> 1) {
        this.#entries.delete(key)
        this.#entries.set(key, known)
      }
      return known
    }
    const value = this.#compute(key)
    if (this.#entries.size >= this.#entriesMax) {
      const oldest = this.#entries.keys().next()
      if (!oldest.done) this.#entries.delete(oldest.value)
    }
    this.#entries.set(key, value)
    return value
  }

  /** The value if it is cached. Changes neither the entries nor their order. */
  peek(key: string): Value | undefined {
    return this.#entries.get(key)
  }

  get size(): number {
    return this.#entries.size
  }
}
