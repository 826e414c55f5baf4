/**
 * Metadata and assignments of group members, as kafkajs decodes them. Any client that may join a group can write them. Unreadable
 * or too long ones count as empty, so one member never hides the others.
 */
import { AssignerProtocol } from 'kafkajs'
import type { TopicPartition } from '../../ports/index.ts'

/**
 * Brokers store the metadata of all members of a group in one record, of 1 MiB by default. Ours takes 30 bytes for each
 * partition.
 */
export const metadataBytesMax = 1_048_576

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
