/**
 * When nothing more comes of topics that are read to their end: each broker has been asked some times, and none has had anything. A broker
 * that is slow to answer, or whose records are still being worked through, has not said that it has nothing, however often the others have.
 */

/** Rounds without any record, by each broker, after which there is nothing more. A round without records takes 100 ms. */
const roundsMax = 20
/** A broker that was not asked for so long is asked no more, as it leads nothing of it now. An answer, and the work on it, takes less. */
const goneMs = 60_000
/** A broker that is lost, and what it led, is waited for so long while nothing else comes. Kafka needs some 10 s to name another leader. */
const lostMsMax = 60_000

export class IdleFetches {
  readonly #nowMs: () => number
  /** Since when nothing came but failures. */
  #lostSinceMs: number | undefined
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
    this.#lostSinceMs = undefined
    this.#beginAnew()
  }

  /**
   * A fetch has failed, because a broker is lost or leads no more: it passes for a round without records, and says nothing of what is there.
   * True: nobody waits any longer.
   */
  lost(): boolean {
    this.#lostSinceMs ??= this.#nowMs()
    this.#beginAnew()
    return this.#nowMs() - this.#lostSinceMs >= lostMsMax
  }

  #beginAnew(): void {
    for (const broker of this.#brokers.values()) broker.rounds = 0
  }
}
