/** How many partitions each topic has; looked up once, because Duelog's topics keep their number; those of users are told of by target-topics.ts. */
import type { Kafka } from 'kafkajs'
import { faultOf } from './faults.ts'

export class PartitionCounts {
  readonly #kafka: Kafka
  readonly #counts = new Map<string, number>()
  #lookup: Promise<void> = Promise.resolve()

  constructor(kafka: Kafka) {
    this.#kafka = kafka
  }

  /** The counts, if all these topics are known already. */
  known(targets: Iterable<{ topic: string }>): ReadonlyMap<string, number> | undefined {
    for (const { topic } of targets) if (!this.#counts.has(topic)) return undefined
    return this.#counts
  }

  /** Rejects with DuelogError `unsafe-topic` when a topic does not exist, `broker-unavailable` when no broker answers. */
  async of(targets: Iterable<{ topic: string }>): Promise<ReadonlyMap<string, number>> {
    const list = [...targets]
    if (this.known(list)) return this.#counts
    // One lookup at a time: the second of two that ask for the same topic finds it known.
    const before = this.#lookup
    const lookup = before.then(() => this.#ask(list))
    this.#lookup = lookup.catch(() => {})
    await lookup
    return this.#counts
  }

  /** What somebody else has just looked up. */
  learn(topic: string, partitions: number): void {
    this.#counts.set(topic, partitions)
  }

  forget(topic: string): void {
    this.#counts.delete(topic)
  }

  async #ask(targets: { topic: string }[]): Promise<void> {
    const topics = [...new Set(targets.map(({ topic }) => topic))].filter((topic) => !this.#counts.has(topic))
    if (topics.length === 0) return
    const admin = this.#kafka.admin()
    try {
      await admin.connect()
      const metadata = await admin.fetchTopicMetadata({ topics })
      for (const { name, partitions } of metadata.topics) this.#counts.set(name, partitions.length)
    } catch (thrown) {
      throw faultOf(thrown, `Looking up ${topics.join(', ')}`)
    } finally {
      await admin.disconnect().catch(() => {})
    }
  }
}
