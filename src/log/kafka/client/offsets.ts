/** Offset lookups and their answers: of many topics with two requests to each leader, and by time. */
import { DuelogError } from '../../../ground/errors/index.ts'
import type { OffsetRange, TopicPartition } from '../../../ground/ports/index.ts'
import type { Cluster } from './cluster.ts'

/** Of one request. An answer for 600 topics with 32 partitions has half a MiB. */
const topicsMax = 600

/**
 * A missing offset in an answer must not be read as 0, because 0 is a valid offset, and never as NaN. Throws DuelogError
 * `broker-unavailable`, naming the partition, if the answer has no offset: kafkajs passes -1 and undefined on.
 */
export function answeredOffset(offset: string | undefined, topic: string, partition: number): number {
  if (offset !== undefined && /^\d+$/.test(offset)) return Number(offset)
  throw new DuelogError('broker-unavailable', `A broker answered for ${topic}/${partition} without an offset (${offset}).`)
}

/** Rejects with UNKNOWN_TOPIC_OR_PARTITION if one of them does not exist. Ends are those of the cluster's isolation. */
export async function offsetsOf(cluster: Cluster, topics: readonly string[]): Promise<Map<string, OffsetRange[]>> {
  await cluster.addMultipleTargetTopics([...topics])
  await cluster.refreshMetadataIfNecessary()
  const found = new Map<string, OffsetRange[]>()
  for (let from = 0; from < topics.length; from += topicsMax)
    for (const [topic, ranges] of await asked(cluster, topics.slice(from, from + topicsMax))) found.set(topic, ranges)
  return found
}

/** The same, without those that do not exist. */
export async function offsetsOfExisting(cluster: Cluster, topics: readonly string[]): Promise<Map<string, OffsetRange[]>> {
  const { topicMetadata } = await cluster.metadata({ topics: [] })
  const existing = new Set(topicMetadata.map(({ topic }) => topic))
  return offsetsOf(
    cluster,
    topics.filter((topic) => existing.has(topic)),
  )
}

async function asked(cluster: Cluster, topics: readonly string[]): Promise<[string, OffsetRange[]][]> {
  const wanted = (fromBeginning: boolean) =>
    topics.map((topic) => ({
      topic,
      fromBeginning,
      partitions: cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ partition: partitionId })),
    }))
  // One after the other, so that no end is below its start.
  const starts = await cluster.fetchTopicsOffset(wanted(true))
  const ends = await cluster.fetchTopicsOffset(wanted(false))
  const startOf = new Map(
    starts.flatMap(({ topic, partitions }) => partitions.map((each) => [`${topic}/${each.partition}`, each.offset] as const)),
  )
  return ends.map(({ topic, partitions }) => [
    topic,
    partitions
      .map(({ partition, offset }) => ({
        partition,
        earliest: answeredOffset(startOf.get(`${topic}/${partition}`), topic, partition),
        next: answeredOffset(offset, topic, partition),
      }))
      .sort((a, b) => a.partition - b.partition),
  ])
}

/** ListOffsets gives the ends of the log for these times. */
const endTimes = { earliest: -2, latest: -1 } as const

/** Where the log begins, or ends. The topic must be one of the cluster's. */
export async function offsetOfEnd(cluster: Cluster, place: TopicPartition, end: keyof typeof endTimes): Promise<number> {
  return answeredOffset(String(await offsetAt(cluster, place, endTimes[end])), place.topic, place.partition)
}

/** Offset of the first record of that time or a later one; undefined if there is none. The topic must be one of the cluster's. */
export async function offsetAt(cluster: Cluster, { topic, partition }: TopicPartition, ms: number): Promise<number | undefined> {
  const [found] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromTimestamp: ms }])
  const offset = found?.partitions[0]?.offset
  return offset === '-1' ? undefined : answeredOffset(offset, topic, partition)
}
