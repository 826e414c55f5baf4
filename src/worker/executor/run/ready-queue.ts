/**
 * Due runs that wait for a slot: one first-in-first-out queue for each level, 0 first. A level is a rank: priority, then attempts. One pick
 * in 16 goes to a lower level: to the one whose head has been due longest. So a flood of higher ranks delays the others but never starves
 * them: a run starts at the latest with pick 16 × (n + 1), where n runs below the best level have been due longer.
 */
import { agedEvery } from '../../../../streams/topics/index.ts'
import { Fifo } from '../../../ground/concurrency/index.ts'

export class ReadyQueue<Item extends { readonly dueAt: number }> {
  readonly #levels: Fifo<Item>[]
  #picks = 0
  /** No level before it has an entry. */
  #first = 0
  #size = 0

  constructor(levels: number) {
    this.#levels = Array.from({ length: levels }, () => new Fifo<Item>())
  }

  get size(): number {
    return this.#size
  }

  /** Highest level that is not empty; -1 if nothing waits. */
  get top(): number {
    if (this.#size === 0) return -1
    while (this.#levels[this.#first]?.length === 0) this.#first++
    return this.#first
  }

  /** Due time of the oldest head; Infinity if nothing waits. */
  get oldestDueAt(): number {
    return this.#levels.reduce((oldest, level) => Math.min(oldest, level.first?.dueAt ?? oldest), Number.POSITIVE_INFINITY)
  }

  push(level: number, item: Item): void {
    this.#levels[level]?.push(item)
    this.#first = Math.min(this.#first, level)
    this.#size++
  }

  next(): Item | undefined {
    const { top } = this
    if (top < 0) return undefined
    const lower = ++this.#picks % agedEvery === 0 ? this.#longestDueBelow(top) : top
    this.#size--
    return this.#levels[lower]?.shift()
  }

  clear(): void {
    for (const level of this.#levels) level.clear()
    this.#size = 0
  }

  #longestDueBelow(top: number): number {
    let chosen = top
    let earliestMs = Number.POSITIVE_INFINITY
    for (let at = top + 1; at < this.#levels.length; at++) {
      const head = this.#levels[at]?.first
      if (head !== undefined && head.dueAt < earliestMs) {
        earliestMs = head.dueAt
        chosen = at
      }
    }
    return chosen
  }
}
