/** The admin client: offsets and group members, as the broker knows them. */
import type { Admin, Kafka, RetryOptions } from 'kafkajs'
import type { LogAdmin } from '../../ports/index.ts'
import { instanceParts } from '../../process/index.ts'
import { closed, faultOn } from '../brokers/index.ts'
import { withRetry } from '../errors/index.ts'
import { assignedOf, metadataOf, readUserData } from '../group/index.ts'
import { answeredOffset, uncommitted, unveiled } from '../kafkajs/index.ts'
import { ManyOffsets } from './many-offsets.ts'

/** Whether it has the form in which workers sign their reports. */
const isInstance = (clientId: string): boolean => /^[^@:\s]+@/.test(clientId) && instanceParts(clientId) !== undefined

export class KafkaAdmin implements LogAdmin {
  readonly #kafka: Kafka
  #admin: Admin
  readonly #manyOffsets: ManyOffsets
  /** Number of offset lookups in flight, by admin client. */
  readonly #asking = new Map<Admin, number>()

  private constructor(kafka: Kafka, admin: Admin) {
    this.#kafka = kafka
    this.#admin = admin
    this.#manyOffsets = new ManyOffsets(kafka)
  }

  /** `retry`: default is the retry policy of the connection. */
  static async open(kafka: Kafka, retry?: RetryOptions): Promise<KafkaAdmin> {
    const admin = kafka.admin(retry === undefined ? {} : { retry })
    try {
      await admin.connect()
      return new KafkaAdmin(kafka, admin)
    } catch (thrown) {
      await admin.disconnect().catch(() => {})
      throw faultOn(kafka, thrown, 'Connecting to the brokers')
    }
  }

  async offsets(topic: string): Promise<{ partition: number; earliest: number; next: number }[]> {
    const offsets = await this.#ask(`Looking up offsets of ${topic}`, () =>
      // A missing topic is a final answer, because kafkajs has already retried it.
      withRetry(() => this.#fetchOffsets(topic), ['UNKNOWN_TOPIC_OR_PARTITION']),
    )
    const of = (offset: string, partition: number): number => answeredOffset(offset, topic, partition)
    return offsets
      .map(({ partition, low, high }) => ({ partition, earliest: of(low, partition), next: of(high, partition) }))
      .sort((a, b) => a.partition - b.partition)
  }

  offsetsOf(topics: readonly string[]) {
    return this.#ask(`Looking up offsets of ${topics.length} topics`, () => this.#manyOffsets.of(topics))
  }

  async highWatermarks(topic: string): Promise<Map<number, number>> {
    const offsets = await this.#ask(`Looking up ends of ${topic}`, () =>
      withRetry(() => uncommitted(() => this.#fetchOffsets(topic)), ['UNKNOWN_TOPIC_OR_PARTITION']),
    )
    return new Map(offsets.map(({ partition, high }) => [partition, answeredOffset(high, topic, partition)]))
  }

  async clusterId(): Promise<string> {
    // The first request of a scheduler: a broker that is slow for 3 s must not end the process.
    return (await this.#ask('Looking up the cluster', () => withRetry(() => this.#admin.describeCluster()))).clusterId
  }

  async committed(groupId: string, topic: string) {
    return (await this.committedOf(groupId, [topic])).get(topic) ?? []
  }

  async committedOf(groupId: string, topics: readonly string[]) {
    const found = await this.#ask(
      `Looking up what ${groupId} has committed`,
      () => this.#admin.fetchOffsets({ groupId, topics: [...topics] }),
      groupId,
    )
    return new Map(
      found.map(({ topic, partitions }) => [
        topic,
        partitions
          .filter(({ offset }) => Number(offset) >= 0)
          .map(({ partition, offset, metadata }) => ({ partition, offset: Number(offset), ...(metadata ? { metadata } : {}) })),
      ]),
    )
  }

  async groupMembers(groupId: string) {
    const { groups } = await this.#ask(`Describing group ${groupId}`, () => this.#admin.describeGroups([groupId]), groupId)
    return (groups[0]?.members ?? []).map(({ memberId, clientId, memberMetadata, memberAssignment }) => {
      // Both are empty while the group rebalances.
      const note = readUserData(memberId, metadataOf(memberMetadata)?.userData)
      // A worker in another language has no user data, but its client id may name its instance.
      const instance = note.instance === memberId && isInstance(clientId) ? clientId : note.instance
      const isJoining = memberMetadata.length === 0
      return { memberId, instance, userData: note.userData, assigned: assignedOf(memberAssignment), isJoining }
    })
  }

  async groups(prefix: string): Promise<string[]> {
    const { groups } = await this.#ask('Listing groups', () => this.#admin.listGroups())
    return groups.map(({ groupId }) => groupId).filter((groupId) => groupId.startsWith(prefix))
  }

  async close(): Promise<void> {
    await closed(Promise.all([this.#manyOffsets.close(), this.#admin.disconnect()]), 'An admin client')
  }

  /**
   * After a failure the next lookup uses a fresh admin client. kafkajs would keep asking the leaders it knows until its metadata
   * expires, even if they have moved. Lookups run in parallel: those in flight keep the old client, and it is replaced once.
   */
  async #fetchOffsets(topic: string) {
    const admin = this.#admin
    this.#asking.set(admin, (this.#asking.get(admin) ?? 0) + 1)
    try {
      return await admin.fetchTopicOffsets(topic)
    } catch (thrown) {
      if (this.#admin === admin) this.#admin = this.#kafka.admin()
      throw thrown
    } finally {
      const others = (this.#asking.get(admin) ?? 0) - 1
      this.#asking.set(admin, others)
      if (others === 0) this.#asking.delete(admin)
      if (others === 0 && this.#admin !== admin) void admin.disconnect().catch(() => {})
    }
  }

  /** `groupId`: the group whose coordinator answers the request. */
  async #ask<Value>(doing: string, ask: () => Promise<Value>, groupId?: string): Promise<Value> {
    try {
      return await ask()
    } catch (thrown) {
      const error = groupId === undefined ? thrown : await unveiled(this.#kafka, thrown, 'group', groupId)
      throw faultOn(this.#kafka, error, doing)
    }
  }
}
