/** A first-in-first-out queue over one array. A head index replaces `Array.shift`, which moves all items that follow. */

/** The array is cut when it holds at least this many spent items and they are more than half of it. */
const spentMax = 1_024

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
