/** Offsets of many topics, with two requests to each leader: kafkajs's admin asks for one topic at a time. */
import type { Kafka } from 'kafkajs'
import type { OffsetRange } from '../../ports/index.ts'
import { answeredOffset, type ManyTopicsCluster, manyTopicsCluster } from '../kafkajs/index.ts'

/** Of one request. An answer for 600 topics with 32 partitions has half a MiB. */
const topicsMax = 600

export class ManyOffsets {
  readonly #kafka: Kafka
  #cluster: Promise<ManyTopicsCluster> | undefined

  constructor(kafka: Kafka) {
    this.#kafka = kafka
  }

  /** Topics that do not exist are absent. */
  async of(topics: readonly string[]): Promise<Map<string, OffsetRange[]>> {
    this.#cluster ??= opened(this.#kafka)
    const opening = this.#cluster
    try {
      const cluster = await opening
      const { topicMetadata } = await cluster.metadata({ topics: [] })
      const existing = new Set(topicMetadata.map(({ topic }) => topic))
      const wanted = topics.filter((topic) => existing.has(topic))
      await cluster.addMultipleTargetTopics(wanted)
      await cluster.refreshMetadataIfNecessary()
      const found = new Map<string, OffsetRange[]>()
      for (let from = 0; from < wanted.length; from += topicsMax)
        for (const [topic, ranges] of await asked(cluster, wanted.slice(from, from + topicsMax))) found.set(topic, ranges)
      return found
    } catch (thrown) {
      // The next call begins with new metadata: a leader may have moved, or a topic is gone.
      if (this.#cluster === opening) await this.close()
      throw thrown
    }
  }

  async close(): Promise<void> {
    const opening = this.#cluster
    this.#cluster = undefined
    await opening?.then((cluster) => cluster.disconnect()).catch(() => {})
  }
}

async function opened(kafka: Kafka): Promise<ManyTopicsCluster> {
  const cluster = manyTopicsCluster(kafka)
  await cluster.connect()
  return cluster
}

async function asked(cluster: ManyTopicsCluster, topics: readonly string[]): Promise<Map<string, OffsetRange[]>> {
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
  return new Map(
    ends.map(({ topic, partitions }) => [
      topic,
      partitions
        .map(({ partition, offset }) => ({
          partition,
          earliest: answeredOffset(startOf.get(`${topic}/${partition}`), topic, partition),
          next: answeredOffset(offset, topic, partition),
        }))
        .sort((a, b) => a.partition - b.partition),
    ]),
  )
}
