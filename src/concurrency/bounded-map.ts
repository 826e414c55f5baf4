/** A Map with a maximum: one entry more drops the oldest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number

  constructor(max: number) {
    super()
    this.#max = max
  }

  /** Like in a Map, a known key keeps its place in the order. */
  override set(key: Key, value: Value): this {
    super.set(key, value)
    if (this.size > this.#max) this.#dropOldest()
    return this
  }

  /** Sets the entry and makes it the newest. */
  renew(key: Key, value: Value): void {
    this.delete(key)
    this.set(key, value)
  }

  #dropOldest(): void {
    const oldest = this.keys().next()
    if (!oldest.done) this.delete(oldest.value)
  }
}
