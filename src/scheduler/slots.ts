/**
 * At most so many partitions of a process do one thing at once, first come first served.
 * A broker serves two transactions side by side faster than eight: their latencies add up, the throughput does not (ADR 0003).
 */
export const commitSlots = 2
/**
 * Large restores go two by two: one folds while the other waits for its store. More share the same thread, and each store that is
 * filled at full speed takes some 30 MB beyond what it takes afterwards.
 */
export const restoreSlots = 2

export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(slots: number) {
    this.#free = slots
  }

  /** Runs `task` when a slot is free. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
