/**
 * Splits work on many jobs whose rules need searches: the process must also fire other partitions and keep its group
 * memberships. The cost is counted in steps (ADR 0058), so no decision depends on it and no clock is read.
 */
import { stepsPerMs, stepsSpent } from '../../../streams/schedules/index.ts'
import { type IdleTime, idleTime } from '../../ground/concurrency/index.ts'

/** Steps after which a reader yields to other work: about half a millisecond. */
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

  /** Undefined in most cases: no wait is needed. Otherwise await it between two jobs. */
  rest(): Promise<void> | undefined {
    return this.isOver ? this.#restedBy(new Promise(setImmediate)) : undefined
  }

  /**
   * Like `rest`, for work that can wait while runs fire: the busier the process, the longer the rest. `spare`: default is that
   * of this thread.
   */
  restAsSpare(spare: Pick<IdleTime, 'rest'> = idleTime): Promise<void> | undefined {
    return this.isOver ? this.#restedBy(spare.rest((stepsSpent() - this.#since) / stepsPerMs)) : undefined
  }

  async #restedBy(rest: Promise<unknown>): Promise<void> {
    await rest
    this.#since = stepsSpent()
  }
}
