/** Offsets and group members as the broker knows them. */
import { type Admin, AssignerProtocol, type Kafka } from 'kafkajs'
import type { LogAdmin, TopicPartition } from '../ports.ts'
import { readNote } from './assignors.ts'
import { faultOf } from './faults.ts'

export class KafkaAdmin implements LogAdmin {
  readonly #admin: Admin

  private constructor(admin: Admin) {
    this.#admin = admin
  }

  static async open(kafka: Kafka): Promise<KafkaAdmin> {
    const admin = kafka.admin()
    try {
      await admin.connect()
      return new KafkaAdmin(admin)
    } catch (thrown) {
      await admin.disconnect().catch(() => {})
      throw faultOf(thrown, 'Connecting to the brokers')
    }
  }

  async offsets(topic: string): Promise<{ partition: number; earliest: number; next: number }[]> {
    const offsets = await this.#ask(`Looking up offsets of ${topic}`, () => this.#admin.fetchTopicOffsets(topic))
    return offsets
      .map(({ partition, low, high }) => ({ partition, earliest: Number(low), next: Number(high) }))
      .sort((a, b) => a.partition - b.partition)
  }

  async clusterId(): Promise<string> {
    return (await this.#ask('Looking up the cluster', () => this.#admin.describeCluster())).clusterId
  }

  async groupMembers(groupId: string) {
    const { groups } = await this.#ask(`Describing group ${groupId}`, () => this.#admin.describeGroups([groupId]))
    return (groups[0]?.members ?? []).map(({ memberId, memberMetadata, memberAssignment }) => {
      // While the group rebalances both are empty.
      const metadata = memberMetadata.length > 0 ? AssignerProtocol.MemberMetadata.decode(memberMetadata) : null
      const note = readNote(memberId, metadata?.userData)
      return { memberId, instance: note.instance, userData: note.userData, assigned: assignedOf(memberAssignment) }
    })
  }

  async close(): Promise<void> {
    await this.#admin.disconnect().catch(() => {})
  }

  async #ask<Value>(doing: string, ask: () => Promise<Value>): Promise<Value> {
    try {
      return await ask()
    } catch (thrown) {
      throw faultOf(thrown, doing)
    }
  }
}

function assignedOf(bytes: Buffer): TopicPartition[] {
  const assignment = bytes.length > 0 ? AssignerProtocol.MemberAssignment.decode(bytes)?.assignment : undefined
  return Object.entries(assignment ?? {}).flatMap(([topic, partitions]) => partitions.map((partition) => ({ topic, partition })))
}
