/**
 * When nothing more comes of topics that are read to their end: each broker has been asked some times, and none has had anything. A broker
 * that is slow to answer, or whose records are still being worked through, has not said that it has nothing, however often the others have.
 */

/** Rounds without any record, by each broker, after which there is nothing more. A round without records takes 100 ms. */
const roundsMax = 20
/** A broker that was not asked for so long is asked no more, as it leads nothing of it now. An answer, and the work on it, takes less. */
const goneMs = 60_000

export class QuietRounds {
  readonly #nowMs: () => number
  readonly #brokers = new Map<number, { rounds: number; atMs: number }>()

  /** `nowMs`: steady. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** A broker is asked. */
  asked(nodeId: number): void {
    this.#brokers.set(nodeId, { rounds: this.#brokers.get(nodeId)?.rounds ?? 0, atMs: this.#nowMs() })
  }

  /** It has answered; what it answered is told as progress. True: none has had anything for long. */
  answered(nodeId: number): boolean {
    const now = this.#nowMs()
    this.#brokers.set(nodeId, { rounds: (this.#brokers.get(nodeId)?.rounds ?? 0) + 1, atMs: now })
    for (const [other, { atMs }] of this.#brokers) if (now - atMs > goneMs) this.#brokers.delete(other)
    return [...this.#brokers.values()].every(({ rounds }) => rounds >= roundsMax)
  }

  /** Something was read: all begin anew. */
  progress(): void {
    for (const broker of this.#brokers.values()) broker.rounds = 0
  }
}
