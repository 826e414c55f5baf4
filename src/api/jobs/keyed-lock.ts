/** Runs tasks of one key one after another, in the order of their calls; those of different keys side by side. */
import { DuelogError } from '../../errors/index.ts'
import { lockWaitersMax } from '../schemas/index.ts'

export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>()
  #waiting = 0

  /** Resolves or rejects as the task does. Rejects with `overloaded` when too many tasks wait, of whatever key. */
  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key)
    if (before !== undefined && this.#waiting >= lockWaitersMax) {
      throw new DuelogError(
        'overloaded',
        `More than ${lockWaitersMax} writes wait for earlier ones to the same jobs; send this one again later.`,
      )
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#tails.set(key, promise)
    try {
      if (before !== undefined) {
        this.#waiting++
        await before.finally(() => this.#waiting--)
      }
      return await task()
    } finally {
      resolve()
      if (this.#tails.get(key) === promise) this.#tails.delete(key)
    }
  }
}
