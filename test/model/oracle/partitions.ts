/**
 * The partition of a record, written from docs/TOPICS.md alone: Kafka's default partitioner over the tag of an id, or over the
 * whole id.
 */
import { createRequire } from 'node:module'

/** The hash of kafkajs's own partitioner for the Java client. The package does not export it by a path that has types. */
const murmur2 = createRequire(import.meta.url)('kafkajs/src/producer/partitioners/default/murmur2.js') as (key: Buffer) => number

const known = new Map<string, number>()

/** For a job id: the text between its first opening brace and the next closing brace decides, unless it is empty. */
export function partitionOfJob(id: string, partitions: number): number {
  const name = `${partitions} ${id}`
  const found = known.get(name)
  if (found !== undefined) return found
  const tag = /^[^{]*\{([^}]+)\}/.exec(id)?.[1] ?? id
  const partition = partitionOfKey(tag, partitions)
  known.set(name, partition)
  return partition
}

/** For any other key. */
export const partitionOfKey = (key: string, partitions: number): number => (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions
