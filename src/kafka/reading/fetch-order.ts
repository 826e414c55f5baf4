/**
 * Order of the last seek of a partition and the last fetch of the brokers. Records fetched before a seek say nothing about the
 * records after the new position.
 */
import type { TopicPartition } from '../../ports/index.ts'

/** A broker without fetches for this long leads no partition that is read here. */
const brokerGoneMs = 60_000

export class FetchOrder {
  #sequence = 0
  readonly #sought = new Map<string, number>()
  readonly #fetched = new Map<string, { sequence: number; atMs: number }>()

  /** The group has reassigned the partitions. */
  clear(): void {
    this.#sought.clear()
    this.#fetched.clear()
  }

  sought(place: TopicPartition): void {
    this.#sought.set(nameOf(place), ++this.#sequence)
  }

  fetching(broker: string | number): void {
    this.#fetched.set(String(broker), { sequence: ++this.#sequence, atMs: performance.now() })
  }

  /**
   * Whether arriving records were fetched after the partition's last seek. They do not name their broker, so each broker must
   * have been asked since.
   */
  isInOrder(place: TopicPartition): boolean {
    const soughtAt = this.#sought.get(nameOf(place)) ?? 0
    const goneBeforeMs = performance.now() - brokerGoneMs
    return [...this.#fetched.values()].every(({ sequence, atMs }) => sequence > soughtAt || atMs < goneBeforeMs)
  }
}

const nameOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`
