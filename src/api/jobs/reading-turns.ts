/**
 * Turns for reading definitions that will be written. The rule of one takes up to 40 ms to check, a batch has any number of them, and other
 * callers of this process want answers within a second. So one definition is read at a time, callers take turns, and so does other work.
 */
import type { Clock } from '../../clock/index.ts'
import { FairSlots, LoopTurns } from '../../concurrency/index.ts'
import type { Asker } from '../../ports/index.ts'

export class ReadingTurns {
  readonly #slots: FairSlots
  readonly #turns = new LoopTurns()

  constructor(clock: Pick<Clock, 'nowMs' | 'at'>) {
    this.#slots = new FairSlots({ what: 'definitions to be read', places: 1, clock })
  }

  /** Returns the result of `read`, or throws its error. Rejects as FairSlots#run does. */
  run<Result>(read: () => Result, asker?: Asker): Promise<Result> {
    return this.#slots.run(async () => {
      await this.#turns.next()
      return read()
    }, asker)
  }
}
