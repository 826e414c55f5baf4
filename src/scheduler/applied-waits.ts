/** Who waits for a record to become part of the store. */
import type { Source } from './mailbox.ts'

export class AppliedWaits {
  readonly #applied: () => Record<Source, number>
  readonly #waiting: { source: Source; offset: number; resolve: (applied: boolean) => void }[] = []

  /** `applied`: the next offsets that are part of the store. */
  constructor(applied: () => Record<Source, number>) {
    this.#applied = applied
  }

  /** Resolves true once the record at `offset` is part of the store, false when the partition ends first. */
  until(source: Source, offset: number): Promise<boolean> {
    if (this.#applied()[source] > offset) return Promise.resolve(true)
    return new Promise((resolve) => this.#waiting.push({ source, offset, resolve }))
  }

  settle(): void {
    if (this.#waiting.length === 0) return
    for (const waiter of this.#waiting.splice(0)) {
      if (this.#applied()[waiter.source] > waiter.offset) waiter.resolve(true)
      else this.#waiting.push(waiter)
    }
  }

  refuse(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(false)
  }
}
