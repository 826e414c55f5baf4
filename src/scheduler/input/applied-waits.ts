/** Who waits for a record to become part of the store, or for the turn that is under way to end. */
import { DuelogError } from '../../errors/index.ts'
import type { Source } from './input-buffer.ts'

/** Of one partition at once; whoever comes then is refused. */
export const appliedWaitsMax = 10_000

/** `end`: nobody waits any longer. */
export interface Wait {
  done: Promise<boolean>
  end(): void
}

export class AppliedWaits {
  readonly #applied: () => Record<Source, number>
  readonly #waiting = new Set<{ isDone: () => boolean; resolve: (applied: boolean) => void }>()
  #cyclesEnded = 0
  #isInCycle = false

  /** `applied`: the next offsets that are part of the store. */
  constructor(applied: () => Record<Source, number>) {
    this.#applied = applied
  }

  cycleBegins(): void {
    this.#isInCycle = true
  }

  /** What it committed is in the store, where it did not fail. */
  cycleEnds(): void {
    this.#isInCycle = false
    this.#cyclesEnded++
    this.#settle()
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.size
  }

  /**
   * `done` resolves true once the record at `offset` is part of the store, false when the partition ends first. Whoever waits no longer must
   * say so by `end`: then it resolves false. Throws DuelogError `overloaded` when too many wait.
   */
  until(source: Source, offset: number): Wait {
    return this.#wait(() => this.#applied()[source] > offset)
  }

  /** The same, where `done` resolves true once the turn that is under way has ended; at once between turns. */
  untilCycleEnds(): Wait {
    const ended = this.#cyclesEnded
    return this.#wait(() => !this.#isInCycle || this.#cyclesEnded > ended)
  }

  #wait(isDone: () => boolean): Wait {
    if (isDone()) return { done: Promise.resolve(true), end: () => undefined }
    if (this.#waiting.size >= appliedWaitsMax)
      throw new DuelogError(
        'overloaded',
        `More than ${appliedWaitsMax} wait for this partition to apply what was written; what they wrote is written.`,
      )
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiter = { isDone, resolve }
    this.#waiting.add(waiter)
    const end = (): void => {
      this.#waiting.delete(waiter)
      resolve(false)
    }
    return { done: promise, end }
  }

  #settle(): void {
    for (const waiter of this.#waiting) {
      if (!waiter.isDone()) continue
      this.#waiting.delete(waiter)
      waiter.resolve(true)
    }
  }

  refuse(): void {
    for (const { resolve } of this.#waiting) resolve(false)
    this.#waiting.clear()
  }
}
