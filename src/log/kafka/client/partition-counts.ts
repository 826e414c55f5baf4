/**
 * Partition counts of topics. They are looked up once, because Duelog's topics keep their count. Those of user topics come from
 * topics/target-topics.ts.
 */
import type { Kafka } from 'kafkajs'
import { BrokerAdmin } from './admin.ts'

export class PartitionCounts {
  readonly #kafka: Kafka
  readonly #counts = new Map<string, number>()
  #lookup: Promise<void> = Promise.resolve()

  constructor(kafka: Kafka) {
    this.#kafka = kafka
  }

  /** The counts if all these topics are already known. */
  known(targets: Iterable<{ topic: string }>): ReadonlyMap<string, number> | undefined {
    for (const { topic } of targets) if (!this.#counts.has(topic)) return undefined
    return this.#counts
  }

  /** Rejects with DuelogError `unsafe-topic` when a topic does not exist, and `broker-unavailable` when no broker answers. */
  async of(targets: Iterable<{ topic: string }>): Promise<ReadonlyMap<string, number>> {
    const list = [...targets]
    if (this.known(list)) return this.#counts
    // One lookup at a time: when two callers ask for the same topic, the second finds it known.
    const before = this.#lookup
    const lookup = before.then(() => this.#ask(list))
    this.#lookup = lookup.catch(() => {})
    await lookup
    return this.#counts
  }

  /** Takes metadata that another component has just looked up. */
  learn(topic: string, partitions: readonly unknown[]): void {
    this.#counts.set(topic, partitions.length)
  }

  forget(topic: string): void {
    this.#counts.delete(topic)
  }

  async #ask(targets: { topic: string }[]): Promise<void> {
    const topics = [...new Set(targets.map(({ topic }) => topic))].filter((topic) => !this.#counts.has(topic))
    if (topics.length === 0) return
    const found = await BrokerAdmin.with(this.#kafka, `Looking up ${topics.join(', ')}`, (admin) => admin.partitionsOf(topics))
    for (const [topic, partitions] of found) this.learn(topic, partitions)
  }
}
