/**
 * Cuts work on many jobs where their rules take searches: the process has other partitions to fire, and other members of its groups. What is
 * spent is counted in steps (ADR 0058), so no verdict depends on it and no clock is asked.
 */
import { stepsPerMs, stepsSpent } from '../../../streams/schedules/index.ts'
import { type IdleTime, idleTime } from '../../concurrency/index.ts'

/** Steps after which who only reads lets all else have its turn: about half a millisecond. */
const readingStepsMax = 50_000

export class SearchBudget {
  readonly #stepsMax: number
  #since = stepsSpent()

  constructor(stepsMax = readingStepsMax) {
    this.#stepsMax = stepsMax
  }

  get isOver(): boolean {
    return stepsSpent() - this.#since > this.#stepsMax
  }

  /** Undefined for nearly all: nobody need wait. Else to be awaited between two jobs. */
  rest(): Promise<void> | undefined {
    return this.isOver ? this.#restedBy(new Promise(setImmediate)) : undefined
  }

  /** The same for who can wait while runs fire: the rest is longer, the busier the process is. `spare`: default that of this thread. */
  restAsSpare(spare: Pick<IdleTime, 'rest'> = idleTime): Promise<void> | undefined {
    return this.isOver ? this.#restedBy(spare.rest((stepsSpent() - this.#since) / stepsPerMs)) : undefined
  }

  async #restedBy(rest: Promise<unknown>): Promise<void> {
    await rest
    this.#since = stepsSpent()
  }
}
