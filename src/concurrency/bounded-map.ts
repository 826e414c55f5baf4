/** A Map with a maximum: one entry more drops the oldest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number
  readonly #onDropped: ((value: Value, key: Key) => void) | undefined

  constructor(max: number, onDropped?: (value: Value, key: Key) => void) {
    super()
    this.#max = max
    this.#onDropped = onDropped
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
    const oldest = this.entries().next()
    if (oldest.done) return
    const [key, value] = oldest.value
    this.delete(key)
    this.#onDropped?.(value, key)
  }
}
