/**
 * Schedules that somebody wants to see calculated. A rule may be made so that its next time takes a long search; whoever asks may only look.
 * So they are calculated one after another, with a turn for everything else of this process in between.
 */
import { DuelogError } from '../errors.ts'
import { calculationMs, calculationsWaitingMax } from './limits.ts'

export class Calculations {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #turns = new Turns()

  /** Gives what `work` gives, or throws what it throws. Rejects with `overloaded` when too many wait. */
  async run<Result>(work: () => Result): Promise<Result> {
    if (this.#waiting >= calculationsWaitingMax)
      throw new DuelogError('overloaded', `Already ${calculationsWaitingMax} schedules wait to be calculated; ask again later.`)
    this.#waiting++
    const mine = this.#last.then(async () => {
      await this.#turns.pass()
      try {
        return work()
      } finally {
        this.#waiting--
      }
    })
    this.#last = mine.catch(() => {})
    return mine
  }
}

/** Of a long piece of work in steps: lets all else have its turn once the steps have taken long enough. */
export class Turns {
  #sinceMs = performance.now()

  /** To be awaited before each step. */
  async pass(): Promise<void> {
    if (!this.areDue()) return
    await new Promise(setImmediate)
    this.#sinceMs = performance.now()
  }

  areDue(): boolean {
    return performance.now() - this.#sinceMs >= calculationMs
  }
}
