/** Questions to the owner of all partitions. If the scheduler dies before it has answered, its successor is asked. */
import { DuelogError } from '../errors/index.ts'
import type { PartitionQueries } from '../ports/index.ts'

interface Owner {
  queries: PartitionQueries
  /** Resolves once it fires. */
  ready: Promise<void>
}

const died = Symbol('died')

export class OwnerCalls {
  #owner: Owner | undefined
  readonly #open = new Set<() => void>()

  /** A scheduler has started; it answers once it is ready. */
  began(owner: Owner): void {
    this.#owner = owner
  }

  /** The scheduler is dead. Its successor must have begun. */
  ended(): void {
    for (const end of this.#open) end()
  }

  async ask<Answer>(question: (queries: PartitionQueries) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      if (this.#owner === undefined) throw new DuelogError('not-ready', 'The test system has not started.')
      const { queries, ready } = this.#owner
      const { promise, resolve } = Promise.withResolvers<typeof died>()
      const end = (): void => resolve(died)
      this.#open.add(end)
      try {
        const answer = await Promise.race([ready.then(() => question(queries)), promise])
        if (answer !== died) return answer
      } finally {
        this.#open.delete(end)
      }
    }
  }
}
