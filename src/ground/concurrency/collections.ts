/** Collections with a bound, a queue, and slices of lists. */

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

/** The array is cut when it holds at least this many spent items and they are more than half of it. */
const spentMax = 1_024

/** A first-in-first-out queue over one array. A head index replaces `Array.shift`, which moves all items that follow. */
export class Fifo<Item> {
  #items: Item[] = []
  /** Index of the first item that was not taken. */
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  /** The oldest item; undefined when the queue is empty. */
  get first(): Item | undefined {
    return this.#items[this.#head]
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Takes the oldest item. */
  shift(): Item | undefined {
    if (this.length === 0) return undefined
    const item = this.#items[this.#head++]
    if (this.length === 0) this.clear()
    else if (this.#head >= spentMax && this.#head * 2 > this.#items.length) this.#cut()
    return item
  }

  /** Puts items before the first, in their order. */
  putBack(items: readonly Item[]): void {
    this.#items = [...items, ...this.#items.slice(this.#head)]
    this.#head = 0
  }

  /** Takes all items. */
  drain(): Item[] {
    const items = this.#items.slice(this.#head)
    this.clear()
    return items
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }

  #cut(): void {
    this.#items = this.#items.slice(this.#head)
    this.#head = 0
  }
}

/**
 * In order, and each with at most `countMax` items and `bytesMax` bytes. A single item with more bytes is a slice of its own.
 * `bytesOf`: default 0, so that only their number counts.
 */
export function* slices<Item>(
  items: readonly Item[],
  countMax: number,
  bytesMax = Number.POSITIVE_INFINITY,
  bytesOf: (item: Item) => number = () => 0,
): Generator<Item[]> {
  let first = 0
  let bytes = 0
  for (const [at, item] of items.entries()) {
    const size = bytesOf(item)
    if (at - first === countMax || (at > first && bytes + size > bytesMax)) {
      yield items.slice(first, at)
      first = at
      bytes = 0
    }
    bytes += size
  }
  if (first < items.length) yield items.slice(first)
}
