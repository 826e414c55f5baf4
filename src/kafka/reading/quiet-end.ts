/**
 * The end of a read to which nothing more comes. Empty answers alone do not show it: a new leader hides its last records until a follower has
 * them, and a partition without a leader is asked nowhere. So the leaders must also say that their logs go as far as the read has to.
 */
import { IdleFetches } from './idle-fetches.ts'

export interface QuietEndOptions {
  /** Rejects if a log is shorter than what has to be read, or if its leader does not answer. */
  checkEnds(): Promise<void>
  /** No broker has more. */
  onEnd(): void
  /** Brokers were lost for too long. */
  onLost(error: unknown): void
  /** Steady. Default: that of the process. */
  nowMs?: () => number
}

export class QuietEnd {
  readonly #options: QuietEndOptions
  readonly #fetches: IdleFetches
  /** `given`: the logs are complete, and what is in them arrives with the next answers. */
  #proof: 'none' | 'asked' | 'given' = 'none'
  #failures = 0

  constructor(options: QuietEndOptions) {
    this.#options = options
    this.#fetches = new IdleFetches(options.nowMs)
  }

  asked(nodeId: number): void {
    this.#fetches.asked(nodeId)
  }

  /** A broker has answered. Records in the answer are reported as progress. */
  answered(nodeId: number): void {
    if (!this.#fetches.answered(nodeId)) return
    if (this.#proof === 'none') void this.#prove()
    if (this.#proof !== 'given') return
    this.#proof = 'none'
    this.#fetches.progress()
    this.#options.onEnd()
  }

  progress(): void {
    this.#fetches.progress()
  }

  /** A fetch has failed: its partitions may have a new leader. */
  failed(error: unknown): void {
    this.#failures++
    this.#proof = 'none'
    if (this.#fetches.lost()) this.#options.onLost(error)
  }

  async #prove(): Promise<void> {
    this.#proof = 'asked'
    const failures = this.#failures
    try {
      await this.#options.checkEnds()
      if (failures !== this.#failures) return
      this.#proof = 'given'
      this.#fetches.again()
    } catch (error) {
      this.failed(error)
    }
  }
}
