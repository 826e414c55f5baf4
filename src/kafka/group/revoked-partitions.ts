/**
 * The partitions that a cooperative member has lost and not yet given up. They are claimed in its user data until whoever read them
 * has committed them. Then the member joins again without the claim, and the group assigns them.
 */
import type { TopicPartition } from '../../ports/index.ts'

const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

export class RevokedPartitions {
  readonly #giveUp: (partitions: TopicPartition[]) => Promise<void> | undefined
  readonly #rejoin: () => void
  /** By topic and partition. A new object each time that it is lost, so that an earlier loss does not end a later one. */
  readonly #places = new Map<string, TopicPartition>()

  /** `giveUp` must not reject. `rejoin` is called when some of the partitions are claimed no longer. */
  constructor(giveUp: (partitions: TopicPartition[]) => Promise<void> | undefined, rejoin: () => void) {
    this.#giveUp = giveUp
    this.#rejoin = rejoin
  }

  /** Partition numbers, for the claim. */
  get numbers(): number[] {
    return Array.from(this.#places.values(), ({ partition }) => partition)
  }

  has(place: TopicPartition): boolean {
    return this.#places.has(keyOf(place))
  }

  /**
   * A join has replaced the partitions `before` by those of `now`. What comes back is read from its committed position. If the group
   * had removed the member (`isSame` false), others may have read its partitions since. But it claimed them in this join, so nobody
   * may have them before it joins without that claim.
   */
  joined(before: readonly TopicPartition[], now: readonly TopicPartition[], isSame: boolean): void {
    const assigned = new Set(now.map(keyOf))
    for (const key of assigned) this.#places.delete(key)
    const lost = before.filter((place) => !assigned.has(keyOf(place))).map(({ topic, partition }) => ({ topic, partition }))
    if (isSame) return this.#add(lost)
    const hasClaimed = lost.length > 0 || this.#places.size > 0
    this.#places.clear()
    if (hasClaimed) this.#rejoin()
  }

  /** The membership has ended: others get the partitions at once. */
  clear(): void {
    this.#places.clear()
  }

  #add(lost: TopicPartition[]): void {
    if (lost.length === 0) return
    for (const place of lost) this.#places.set(keyOf(place), place)
    void this.#giveUp(lost)?.then(() => this.#givenUp(lost))
  }

  #givenUp(lost: readonly TopicPartition[]): void {
    const open = lost.filter((place) => this.#places.get(keyOf(place)) === place)
    for (const place of open) this.#places.delete(keyOf(place))
    if (open.length > 0) this.#rejoin()
  }
}
