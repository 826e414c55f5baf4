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
/** Large restores of standbys have a slot of their own, so that no owner waits for one. */
export const standbyRestoreSlots = 1
/** Forecasts are for whoever looks; partitions have theirs one after another. */
export const forecastSlots = 1
/** Lists of jobs, each of which may look at ten thousand. */
export const listSlots = 2

export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(slots: number) {
    this.#free = slots
  }

  /** How many wait for one. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Runs `task` when a slot is free; rejects as `givenUp` does while it still waits for one. */
  async run<T>(task: () => Promise<T>, givenUp?: Promise<never>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#turn(givenUp)
    try {
      return await task()
    } finally {
      this.#release()
    }
  }

  async #turn(givenUp: Promise<never> | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    try {
      await (givenUp === undefined ? promise : Promise.race([promise, givenUp]))
    } catch (error) {
      const place = this.#waiting.indexOf(resolve)
      if (place >= 0) this.#waiting.splice(place, 1)
      else this.#release()
      throw error
    }
  }

  #release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
