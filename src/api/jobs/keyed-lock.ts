/** Runs tasks of one key one after another, in the order of their calls, and tasks of different keys concurrently. */
import { DuelogError } from '../../errors/index.ts'
import { lockWaitersMax } from '../schemas/index.ts'

export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>()
  #waiting = 0

  /** Resolves or rejects like the task. Rejects with `overloaded` if too many tasks wait, of all keys together. */
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
