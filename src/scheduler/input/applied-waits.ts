/** Callers that wait until a record is part of the store, or until the running commit cycle ends. */
import { DuelogError } from '../../ground/errors/index.ts'
import type { Source } from './input-buffer.ts'

/** Callers that may wait for one partition at once. Further ones are refused. */
export const appliedWaitsMax = 10_000

/** `end`: the caller no longer waits. */
export interface Wait {
  done: Promise<boolean>
  end(): void
}

export class AppliedWaits {
  readonly #applied: () => Record<Source, number>
  readonly #onWait: () => void
  readonly #waiting = new Set<{ isDone: () => boolean; resolve: (applied: boolean) => void }>()
  #cyclesEnded = 0
  #isInCycle = false

  /** `applied`: the next offsets that are part of the store. `onWait` is called whenever a caller begins to wait. */
  constructor(applied: () => Record<Source, number>, onWait: () => void = () => undefined) {
    this.#applied = applied
    this.#onWait = onWait
  }

  cycleBegins(): void {
    this.#isInCycle = true
  }

  /** If the cycle did not fail, its commit is in the store. */
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
   * `done` resolves true once the record at `offset` is part of the store, and false if the partition ends first. A caller that no longer
   * waits must call `end`; then `done` resolves false. Throws DuelogError `overloaded` when too many callers wait.
   */
  until(source: Source, offset: number): Wait {
    return this.#wait(() => this.#applied()[source] > offset)
  }

  /** The same, but `done` resolves true once the running commit cycle has ended; at once between cycles. */
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
    this.#onWait()
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
