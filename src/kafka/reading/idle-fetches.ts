/**
 * Detects the end of topics that are read to their end: each broker was asked several times, and none had records. A broker that
 * is slow to answer, or whose records are still being processed, has not reported that it is empty, however often the others
 * have.
 */

/** Empty rounds of each broker after which the end is reached. A round without records takes 100 ms. */
const roundsMax = 20
/** A broker without a request for this long leads no partition any more. An answer and its processing take less. */
const goneMs = 60_000
/**
 * How long to wait for a lost broker and its partitions while nothing else arrives. Kafka needs about 10 s to name another
 * leader.
 */
const lostMsMax = 60_000

export class IdleFetches {
  readonly #nowMs: () => number
  /** Since when nothing but failures has arrived. */
  #lostSinceMs: number | undefined
  readonly #brokers = new Map<number, { rounds: number; atMs: number }>()

  /** `nowMs`: steady. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** A request was sent to a broker. */
  asked(nodeId: number): void {
    this.#brokers.set(nodeId, { rounds: this.#brokers.get(nodeId)?.rounds ?? 0, atMs: this.#nowMs() })
  }

  /** The broker has answered. Records in the answer are reported as progress. True: no broker has had records for long enough. */
  answered(nodeId: number): boolean {
    const now = this.#nowMs()
    this.#brokers.set(nodeId, { rounds: (this.#brokers.get(nodeId)?.rounds ?? 0) + 1, atMs: now })
    for (const [other, { atMs }] of this.#brokers) if (now - atMs > goneMs) this.#brokers.delete(other)
    return [...this.#brokers.values()].every(({ rounds }) => rounds >= roundsMax)
  }

  /** Records were read: all counts restart. */
  progress(): void {
    this.#lostSinceMs = undefined
    this.again()
  }

  /**
   * A fetch has failed, because a broker is lost or no longer the leader. It counts as an empty round but says nothing about the
   * records there. True: the wait is over.
   */
  lost(): boolean {
    this.#lostSinceMs ??= this.#nowMs()
    this.again()
    return this.#nowMs() - this.#lostSinceMs >= lostMsMax
  }

  /** All counts restart, and a loss goes on. */
  again(): void {
    for (const broker of this.#brokers.values()) broker.rounds = 0
  }
}
