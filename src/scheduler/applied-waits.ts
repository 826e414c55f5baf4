/** Who waits for a record to become part of the store. */
import { DuelogError } from '../errors.ts'
import type { Source } from './mailbox.ts'

/** Of one partition at once; whoever comes then is refused. */
export const appliedWaitsMax = 10_000

export class AppliedWaits {
  readonly #applied: () => Record<Source, number>
  readonly #waiting = new Set<{ source: Source; offset: number; resolve: (applied: boolean) => void }>()

  /** `applied`: the next offsets that are part of the store. */
  constructor(applied: () => Record<Source, number>) {
    this.#applied = applied
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.size
  }

  /**
   * `done` resolves true once the record at `offset` is part of the store, false when the partition ends first. Whoever waits no longer must
   * say so by `end`: then it resolves false. Throws DuelogError `overloaded` when too many wait.
   */
  until(source: Source, offset: number): { done: Promise<boolean>; end(): void } {
    if (this.#applied()[source] > offset) return { done: Promise.resolve(true), end: () => undefined }
    if (this.#waiting.size >= appliedWaitsMax)
      throw new DuelogError(
        'overloaded',
        `More than ${appliedWaitsMax} wait for this partition to apply what they wrote; it is written.`,
      )
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiter = { source, offset, resolve }
    this.#waiting.add(waiter)
    const end = (): void => {
      this.#waiting.delete(waiter)
      resolve(false)
    }
    return { done: promise, end }
  }

  settle(): void {
    for (const waiter of this.#waiting) {
      if (this.#applied()[waiter.source] <= waiter.offset) continue
      this.#waiting.delete(waiter)
      waiter.resolve(true)
    }
  }

  refuse(): void {
    for (const { resolve } of this.#waiting) resolve(false)
    this.#waiting.clear()
  }
}
