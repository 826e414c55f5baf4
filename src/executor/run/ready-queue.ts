/**
 * Due runs that wait for a slot: one first-in-first-out queue for each priority. The highest level goes first, except that one
 * pick in 16 goes to a lower one: to the level whose head has been due longest. So a flood of higher priority delays the others
 * but never starves them.
 */

/** One pick in this many goes to a lower level. */
export const lowerPickEvery = 16

/** A queue's array is compacted after this many used heads. */
const spentMax = 1_024

interface Level<Item> {
  items: Item[]
  head: number
}

export class ReadyQueue<Item extends { readonly dueAt: number }> {
  readonly #levels: Level<Item>[]
  #picks = 0
  #size = 0

  constructor(levels: number) {
    this.#levels = Array.from({ length: levels }, () => ({ items: [], head: 0 }))
  }

  get size(): number {
    return this.#size
  }

  /** Highest level that is not empty; -1 if nothing waits. */
  get top(): number {
    return this.#levels.findIndex(hasItems)
  }

  /** Due time of the oldest head; Infinity if nothing waits. */
  get oldestDueAt(): number {
    return this.#levels.reduce(
      (oldest, level) => Math.min(oldest, level.items[level.head]?.dueAt ?? oldest),
      Number.POSITIVE_INFINITY,
    )
  }

  push(level: number, item: Item): void {
    this.#levels[level]?.items.push(item)
    this.#size++
  }

  next(): Item | undefined {
    const { top } = this
    if (top < 0) return undefined
    const lower = ++this.#picks % lowerPickEvery === 0 ? this.#longestDueBelow(top) : top
    this.#size--
    return take(this.#levels[lower] as Level<Item>)
  }

  clear(): void {
    for (const level of this.#levels) {
      level.items = []
      level.head = 0
    }
    this.#size = 0
  }

  #longestDueBelow(top: number): number {
    let chosen = top
    let earliestMs = Number.POSITIVE_INFINITY
    for (let at = top + 1; at < this.#levels.length; at++) {
      const level = this.#levels[at] as Level<Item>
      const head = level.items[level.head]
      if (head !== undefined && head.dueAt < earliestMs) {
        earliestMs = head.dueAt
        chosen = at
      }
    }
    return chosen
  }
}

function hasItems(level: Level<unknown>): boolean {
  return level.head < level.items.length
}

function take<Item>(level: Level<Item>): Item | undefined {
  const item = level.items[level.head++]
  if (level.head === level.items.length) {
    level.items = []
    level.head = 0
  } else if (level.head >= spentMax && level.head * 2 > level.items.length) {
    level.items = level.items.slice(level.head)
    level.head = 0
  }
  return item
}
