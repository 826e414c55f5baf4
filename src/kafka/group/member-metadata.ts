/**
 * What members of a group show of themselves and were given, as kafkajs reads it. Anybody who may join a group can write it: what cannot be
 * read, or is too long, says nothing, so that one member never hides the others.
 */
import { AssignerProtocol } from 'kafkajs'
import type { TopicPartition } from '../../ports/index.ts'

/** Brokers keep what all members of a group say in one record, of 1 MiB unless they were told otherwise; ours say 30 bytes for each partition. */
export const metadataBytesMax = 1_048_576

export interface MemberMetadata {
  topics: string[]
  userData: Buffer
}

/** Undefined where it is not of the consumer protocol, or too long. */
export function metadataOf(bytes: Buffer): MemberMetadata | undefined {
  return read(bytes, () => AssignerProtocol.MemberMetadata.decode(bytes) ?? undefined)
}

/** Empty while the group rebalances, and where nobody can read it. */
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
