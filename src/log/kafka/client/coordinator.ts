/**
 * What a member asks the coordinator of its group, with its id and its generation; and the metadata of members. If the coordinator is lost, the
 * next request looks up its successor, and the membership goes on: that one has read both from its log.
 */

import { AssignerProtocol } from 'kafkajs'
import type { Position, TopicPartition } from '../../../ground/ports/index.ts'
import type { Broker, Cluster } from './cluster.ts'
import type { LogSettings } from './connection.ts'
import { isLoss } from './errors.ts'
import { offsetOfEnd } from './offsets.ts'

export interface Joined {
  memberId: string
  /** The name of the protocol that the group uses. */
  protocol: string
  assigned: TopicPartition[]
}

export class Coordinator {
  readonly #cluster: Cluster
  readonly #groupId: string
  #broker: Broker | undefined
  #isLost = false
  /** Empty: the group does not know it. */
  memberId = ''
  /** At the last join nobody else was in the group. */
  isAlone = false
  #generation = -1

  constructor(cluster: Cluster, groupId: string) {
    this.#cluster = cluster
    this.#groupId = groupId
  }

  get generation(): number {
    return Math.max(0, this.#generation)
  }

  /** Looks it up. */
  async find(): Promise<Broker> {
    this.#broker = await this.#cluster.findGroupCoordinator({ groupId: this.#groupId })
    this.#isLost = false
    return this.#broker
  }

  /** Joins, and shares the partitions if it leads the group. `syncedAtMs`: when it asked for its share, by the steady clock. */
  async join(
    { topics, protocols }: { topics: readonly string[]; protocols: readonly GroupProtocol[] },
    { sessionTimeoutMs: sessionTimeout, rebalanceTimeoutMs: rebalanceTimeout }: LogSettings,
  ): Promise<Joined & { syncedAtMs: number }> {
    const groupId = this.#groupId
    const groupProtocols = protocols.map(({ name, userData }) => ({ name, metadata: metadataBytes(topics, userData()) }))
    const asked = { groupId, memberId: this.memberId, sessionTimeout, rebalanceTimeout, groupProtocols }
    const answer = await this.#ask((broker) => broker.joinGroup(asked))
    const { memberId, generationId, groupProtocol: protocol, leaderId, members } = answer
    this.memberId = memberId
    this.#generation = generationId
    const rule = protocols.find(({ name }) => name === protocol)
    const groupAssignment = leaderId === memberId ? sharesOf(rule, members, await this.#counts(topics)) : []
    const syncedAtMs = performance.now()
    const wanted = { groupId, memberId, generationId, groupAssignment }
    const { memberAssignment } = await this.#ask((broker) => broker.syncGroup(wanted))
    const assigned = assignedOf(memberAssignment).filter(({ topic }) => topics.includes(topic))
    // Only its leader is told the members of a group.
    this.isAlone = leaderId === memberId && members.length === 1
    return { memberId, protocol, assigned, syncedAtMs }
  }

  async #counts(topics: readonly string[]): Promise<Map<string, number>> {
    await this.#cluster.refreshMetadata()
    return new Map(topics.map((topic) => [topic, this.#cluster.findTopicPartitionMetadata(topic).length]))
  }

  async heartbeat(): Promise<void> {
    await this.#ask((broker) => broker.heartbeat(this.#member))
  }

  async commit(positions: readonly Position[]): Promise<void> {
    const topics = byTopic(positions).map(([topic, places]) => ({
      topic,
      partitions: places.map(({ partition, offset, metadata }) => ({ partition, offset: String(offset), metadata })),
    }))
    await this.#ask((broker) => broker.offsetCommit({ ...this.#member, topics }))
  }

  /** What the group has committed of these partitions, or that end of the log. The topics must be some of the cluster's. */
  async positions(places: readonly TopicPartition[], otherwise: 'earliest' | 'latest'): Promise<Position[]> {
    const topics = byTopic(places).map(([topic, parts]) => ({ topic, partitions: parts.map(({ partition }) => ({ partition })) }))
    const { responses } = await this.#ask((broker) => broker.offsetFetch({ groupId: this.#groupId, topics }))
    const found = responses.flatMap(({ topic, partitions }) =>
      partitions.map(async ({ partition, offset }): Promise<Position> => {
        const place = { topic, partition }
        return { ...place, offset: Number(offset) >= 0 ? Number(offset) : await offsetOfEnd(this.#cluster, place, otherwise) }
      }),
    )
    return Promise.all(found)
  }

  /** Never rejects. */
  async leave(): Promise<void> {
    const { memberId } = this
    if (memberId !== '') await this.#broker?.leaveGroup({ groupId: this.#groupId, memberId }).catch(() => {})
  }

  get #member() {
    return { groupId: this.#groupId, memberId: this.memberId, groupGenerationId: this.#generation }
  }

  async #ask<Answer>(send: (broker: Broker) => Promise<Answer>): Promise<Answer> {
    const broker = this.#broker === undefined || this.#isLost ? await this.find() : this.#broker
    try {
      return await send(broker.isConnected() ? broker : await this.#cluster.findBroker(broker))
    } catch (error) {
      this.#isLost = isLoss(error)
      throw error
    }
  }
}

const byTopic = <Place extends TopicPartition>(places: readonly Place[]): [string, Place[]][] => [
  ...Map.groupBy(places, ({ topic }) => topic),
]

/**
 * Metadata and assignments of group members, as kafkajs encodes and decodes them, and the rules that make these of those. Any client that may join a group can write them. Unreadable
 * or too long ones count as empty, so one member never hides the others.
 */

/**
 * Brokers store the metadata of all members of a group in one record, of 1 MiB by default. Ours takes 30 bytes for each
 * partition.
 */
export const metadataBytesMax = 1_048_576

/** A rule by which a group shares its partitions. */
export interface GroupProtocol {
  name: string
  /** Called at each join. */
  userData(): Buffer
  /** Partitions of each member by topic. `counts`: number of partitions of each topic. */
  assign(members: readonly AssignedMember[], counts: Map<string, number>): ReadonlyMap<string, Record<string, number[]>>
}

/** `topics` is empty, and `userData` absent, if its metadata cannot be read. */
export interface AssignedMember {
  memberId: string
  topics: string[]
  userData: Buffer | undefined
}

/** From version 1 on, a leader with another library expects more fields than kafkajs writes, and would read past the end. */
const metadataVersion = 0
export interface MemberMetadata {
  topics: string[]
  userData: Buffer
}

/** Undefined if it is not of the consumer protocol, or too long. */
export function metadataOf(bytes: Buffer): MemberMetadata | undefined {
  return read(bytes, () => AssignerProtocol.MemberMetadata.decode(bytes) ?? undefined)
}

/** Empty while the group rebalances, and if it is unreadable. */
export function assignedOf(bytes: Buffer): TopicPartition[] {
  const assignment = read(bytes, () => AssignerProtocol.MemberAssignment.decode(bytes)?.assignment)
  return Object.entries(assignment ?? {}).flatMap(([topic, partitions]) => partitions.map((partition) => ({ topic, partition })))
}

function read<Found>(bytes: Buffer, decode: () => Found): Found | undefined {
  if (bytes.length === 0 || bytes.length > metadataBytesMax) return undefined
  try {
    return decode()
  } catch {
    return undefined
  }
}

export const metadataBytes = (topics: readonly string[], userData: Buffer): Buffer =>
  AssignerProtocol.MemberMetadata.encode({ version: metadataVersion, topics: [...topics], userData })

/** Without a protocol, because the group uses one that is not ours, all get nothing. */
export function sharesOf(
  protocol: GroupProtocol | undefined,
  members: readonly { memberId: string; memberMetadata: Buffer }[],
  counts: Map<string, number>,
): { memberId: string; memberAssignment: Buffer }[] {
  const known = members.map(({ memberId, memberMetadata }) => {
    const metadata = metadataOf(memberMetadata)
    return { memberId, topics: metadata?.topics ?? [], userData: metadata?.userData }
  })
  const shares = protocol?.assign(known, counts)
  return members.map(({ memberId }) => ({
    memberId,
    memberAssignment: AssignerProtocol.MemberAssignment.encode({
      ...{ version: 1, assignment: shares?.get(memberId) ?? {}, userData: Buffer.alloc(0) },
    }),
  }))
}
