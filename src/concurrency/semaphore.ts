/**
 * Semaphore, first come first served, and its numbers of slots.
 *
 * Commits: a broker serves two concurrent transactions faster than eight. Their latencies add up, the throughput does not (ADR 0003).
 */
export const commitSlots = 2
/**
 * Large restores at once: one applies records while the other waits for its store. More would share the same thread, and each
 * store that is filled at full speed takes about 30 MB more than later.
 */
export const restoreSlots = 2
/** Large restores of standbys have a slot of their own, so that no owner waits for one. */
export const standbyRestoreSlots = 1
/** Forecasts at once. They are for people who look, so partitions compute theirs one after another. */
export const forecastSlots = 1
/** Lists of jobs at once; each may read ten thousand jobs. */
export const listSlots = 2

export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(slots: number) {
    this.#free = slots
  }

  /** Number of tasks that wait for a slot. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Runs `task` when a slot is free. If `givenUp` rejects before that, it rejects with the same error. */
  async run<T>(task: () => Promise<T>, givenUp?: Promise<never>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#waitForSlot(givenUp)
    try {
      return await task()
    } finally {
      this.#release()
    }
  }

  async #waitForSlot(givenUp: Promise<never> | undefined): Promise<void> {
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
