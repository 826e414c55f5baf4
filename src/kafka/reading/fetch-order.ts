/** Which came first: the last seek of a partition, or the last fetch of the brokers. What was fetched before a seek says nothing of what follows the place that was sought. */
import type { TopicPartition } from '../../ports/index.ts'

/** A broker that was not asked for so long leads nothing that is read here. */
const brokerGoneMs = 60_000

export class FetchOrder {
  #turn = 0
  readonly #sought = new Map<string, number>()
  readonly #fetched = new Map<string, { turn: number; atMs: number }>()

  /** The group has given partitions out anew. */
  clear(): void {
    this.#sought.clear()
    this.#fetched.clear()
  }

  sought(place: TopicPartition): void {
    this.#sought.set(nameOf(place), ++this.#turn)
  }

  fetching(broker: string | number): void {
    this.#fetched.set(String(broker), { turn: ++this.#turn, atMs: performance.now() })
  }

  /** Whether what arrives of it was fetched after its last seek. Which broker it came from nobody says: each must have been asked since. */
  isInOrder(place: TopicPartition): boolean {
    const soughtAt = this.#sought.get(nameOf(place)) ?? 0
    const goneBeforeMs = performance.now() - brokerGoneMs
    return [...this.#fetched.values()].every(({ turn, atMs }) => turn > soughtAt || atMs < goneBeforeMs)
  }
}

const nameOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`
