/**
 * What a member waits for when its group refuses a commit because it shares its partitions anew: the end of its next join. A commit that
 * was sent under the generation before is refused as ILLEGAL_GENERATION, one between the two steps of a join as REBALANCE_IN_PROGRESS. The
 * member stays in the group and keeps what it has not given up, so the commit is sent again under the new generation (KIP-429).
 */
import { rootTypeOf } from '../errors/index.ts'

/** After this time since the first try the caller gets the refusal. Joins take less, unless a member has died. */
export const commitAgainMsMax = 5_000
/** The join may have ended before the refusal arrived. */
const waitMs = 100

/** Whether the member may be in the group and only the generation of the commit was not that of the group. */
export const isBetweenJoins = (thrown: unknown): boolean => {
  const type = rootTypeOf(thrown)
  return type === 'ILLEGAL_GENERATION' || type === 'REBALANCE_IN_PROGRESS'
}

export class JoinWait {
  readonly #wakers = new Set<() => void>()

  /** Resolves with the next join or the end of the membership, and after 100 ms at the latest. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#wakers.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, waitMs)
      this.#wakers.add(wake)
    })
  }

  /** The member has joined, or its membership is over. */
  wake(): void {
    for (const wake of [...this.#wakers]) wake()
  }
}
