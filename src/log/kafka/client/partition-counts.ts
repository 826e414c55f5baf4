/**
 * Partition counts of topics, and whether one broker has all their replicas. They are looked up once, because Duelog's topics
 * keep their count. The counts of user topics come from topics/target-topics.ts.
 */
import type { Kafka } from 'kafkajs'
import { BrokerAdmin } from './admin.ts'

export class PartitionCounts {
  readonly #kafka: Kafka
  readonly #counts = new Map<string, number>()
  /** Topics that have all their replicas on one broker, with that broker. */
  readonly #brokers = new Map<string, number>()
  /** Leaders of the partitions at the last lookup. */
  readonly #leaders = new Map<string, readonly number[]>()
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

  /**
   * Whether all writes to these topics always go to the same broker, whatever fails. False if that is not known. When a cluster
   * of one broker gets a second one and partitions move there, its Duelog processes must be restarted.
   */
  onOneBroker(targets: Iterable<{ topic: string }>): boolean {
    let only: number | undefined
    for (const { topic } of targets) {
      const broker = this.#brokers.get(topic)
      if (broker === undefined || (only ?? broker) !== broker) return false
      only = broker
    }
    return true
  }

  /** Name of the broker that leads a partition, by the last lookup of this process. Leaders move. */
  leaderOf(topic: string, partition: number): string {
    const leader = this.#leaders.get(topic)?.[partition]
    return leader === undefined ? `the leader of ${topic}/${partition}` : `broker ${leader}`
  }

  /** Takes metadata that another component has just looked up. */
  learn(topic: string, partitions: readonly { partitionId?: number; leader?: number; replicas: readonly number[] }[]): void {
    this.#counts.set(topic, partitions.length)
    const leaders: number[] = []
    for (const { partitionId, leader } of partitions)
      if (partitionId !== undefined && leader !== undefined) leaders[partitionId] = leader
    this.#leaders.set(topic, leaders)
    const brokers = new Set(partitions.flatMap(({ replicas }) => replicas))
    const [only] = brokers
    if (only !== undefined && brokers.size === 1) this.#brokers.set(topic, only)
    else this.#brokers.delete(topic)
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
