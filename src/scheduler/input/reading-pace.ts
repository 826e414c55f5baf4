/**
 * The pace of reading while definitions trickle in. A fetch ends as soon as one record is there, so a client that writes one job after
 * the other wakes the owner for each of them, and the owner takes the processor from the client and the broker. So after a fetch that
 * brought only definitions, and all that were there, the next one waits a moment and brings several (ADR 0081). It never waits while
 * runs are committed or somebody waits for what was written.
 */
import type { Clock } from '../../clock/index.ts'

/** For this long after a commit, or after a caller began to wait, reading is not delayed. */
const busyMs = 1_000

export class ReadingPace {
  readonly #clock: Clock
  readonly #paceMs: number
  readonly #waiting = new Set<() => void>()
  #hurriedAtMs = Number.NEGATIVE_INFINITY

  /** `paceMs`: by how many ms the next fetch is delayed; 0 never delays it. */
  constructor(clock: Clock, paceMs: number) {
    this.#clock = clock
    this.#paceMs = paceMs
  }

  /** Resolves when the next records may be fetched. */
  async next(): Promise<void> {
    if (this.#paceMs === 0 || this.#clock.steadyMs() - this.#hurriedAtMs < busyMs) return
    await new Promise<void>((resolve) => {
      const go = (): void => {
        cancelTimer()
        this.#waiting.delete(go)
        resolve()
      }
      const cancelTimer = this.#clock.at(this.#clock.nowMs() + this.#paceMs, go)
      this.#waiting.add(go)
    })
  }

  /** Something was committed, a partition entered another phase, or a caller waits for a record: reading goes on at once. */
  hurry(): void {
    this.#hurriedAtMs = this.#clock.steadyMs()
    for (const go of this.#waiting) go()
  }
}
