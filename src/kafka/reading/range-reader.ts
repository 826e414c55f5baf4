/**
 * Reads parts of single partitions by time and offset. kafkajs reads only as a member of a group, which takes seconds to join, so the
 * requests are made here. Connections are opened at the first use and are shared with nobody: such reads delay no other reader.
 */
import type { Kafka, KafkaMessage } from 'kafkajs'
import type { Position, RangeReader, RecordIn, TopicPartition } from '../../ports/index.ts'
import { faultOn, type LogSettings } from '../brokers/index.ts'
import { withRetry } from '../errors/index.ts'
import { answeredOffset, type PartitionCluster, partitionCluster, uncommitted, withBoundedFetches } from '../kafkajs/index.ts'
import { recordsOf } from './records.ts'
import { reportUnread } from './unreadable-records.ts'

/** ListOffsets gives the earliest offset and the end for these times. */
const earliestTime = -2
const endTime = -1

export class KafkaRangeReader implements RangeReader {
  readonly #kafka: Kafka
  readonly #settings: LogSettings
  #cluster: Promise<PartitionCluster> | undefined

  constructor(kafka: Kafka, settings: LogSettings) {
    this.#kafka = kafka
    this.#settings = settings
  }

  range(place: TopicPartition, fromMs: number, toMs: number | undefined): Promise<{ from: number; to: number }> {
    return this.#ask(place, 'Looking up times of', async (cluster) => {
      // The end first: what is appended meanwhile belongs to the next read.
      const end = answeredOffset(await offsetAt(cluster, place, endTime), place.topic, place.partition)
      const of = async (ms: number): Promise<number> => {
        const offset = await offsetAt(cluster, place, ms)
        return offset === '-1' ? end : Math.min(answeredOffset(offset, place.topic, place.partition), end)
      }
      const [from, to] = await Promise.all([of(Math.max(fromMs, 0)), toMs === undefined ? end : of(Math.max(toMs, 0))])
      return { from, to: Math.max(from, to) }
    })
  }

  read(position: Position, bytesMax: number): Promise<{ records: RecordIn[]; next: number }> {
    const { topic, partition } = position
    return this.#ask(position, 'Reading', async (cluster) => {
      let { offset } = position
      let messages: KafkaMessage[]
      try {
        messages = await fetched(cluster, position, bytesMax)
      } catch (thrown) {
        if ((thrown as { type?: string }).type !== 'OFFSET_OUT_OF_RANGE') throw thrown
        const earliest = answeredOffset(await offsetAt(cluster, position, earliestTime), topic, partition)
        if (earliest <= offset) return { records: [], next: offset }
        offset = earliest
        messages = await fetched(cluster, { ...position, offset }, bytesMax)
      }
      // The broker sends whole batches, also those that begin before the offset.
      const wanted = messages.filter((message) => Number(message.offset) >= offset && !isControl(message))
      const records = recordsOf(topic, partition, wanted)
      if (records.length < wanted.length) reportUnread(wanted, position, this.#settings)
      const last = messages.at(-1)
      return { records, next: Math.max(offset, last === undefined ? 0 : Number(last.offset) + 1) }
    })
  }

  async close(): Promise<void> {
    const opening = this.#cluster
    this.#cluster = undefined
    await opening?.then((cluster) => cluster.disconnect()).catch(() => {})
  }

  async #ask<Answer>(place: TopicPartition, doing: string, ask: (cluster: PartitionCluster) => Promise<Answer>): Promise<Answer> {
    const attempt = (): Promise<Answer> => withRetry(() => this.#once(place.topic, ask), ['UNKNOWN_TOPIC_OR_PARTITION'])
    const faultOfIt = (thrown: unknown) => faultOn(this.#kafka, thrown, `${doing} ${place.topic}/${place.partition}`)
    try {
      return await attempt()
    } catch (thrown) {
      const fault = faultOfIt(thrown)
      if (fault.code !== 'broker-unavailable') throw fault
      // A connection that was idle may have been closed by the broker. New ones are tried once.
      await this.close()
      return await attempt().catch((again: unknown) => {
        throw faultOfIt(again)
      })
    }
  }

  async #once<Answer>(topic: string, ask: (cluster: PartitionCluster) => Promise<Answer>): Promise<Answer> {
    this.#cluster ??= opened(this.#kafka)
    const opening = this.#cluster
    let cluster: PartitionCluster
    try {
      cluster = await opening
      await cluster.addTargetTopic(topic)
      await cluster.refreshMetadataIfNecessary()
    } catch (thrown) {
      if (this.#cluster === opening) await this.close()
      throw thrown
    }
    try {
      return await ask(cluster)
    } catch (thrown) {
      // The leader may have moved. kafkajs asks for the new one only when its metadata expires.
      await cluster.refreshMetadata().catch(() => {})
      throw thrown
    }
  }
}

async function opened(kafka: Kafka): Promise<PartitionCluster> {
  const cluster = partitionCluster(kafka)
  await cluster.connect()
  return cluster
}

async function offsetAt(
  cluster: PartitionCluster,
  { topic, partition }: TopicPartition,
  ms: number,
): Promise<string | undefined> {
  const wanted = [{ topic, partitions: [{ partition }], fromTimestamp: ms }]
  const [found] = await uncommitted(() => cluster.fetchTopicsOffset(wanted))
  return found?.partitions[0]?.offset
}

async function fetched(cluster: PartitionCluster, position: Position, bytesMax: number): Promise<KafkaMessage[]> {
  const { topic, partition, offset } = position
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
  const broker = await cluster.findBroker({ nodeId: String(nodeId) })
  const partitions = [{ partition, fetchOffset: String(offset), maxBytes: bytesMax }]
  // Uncommitted: a transaction that somebody else left open on the topic must not hide what follows.
  const request = { replicaId: -1, isolationLevel: 0, maxWaitTime: 0, minBytes: 0, maxBytes: bytesMax }
  const { responses } = await withBoundedFetches(() => broker.fetch({ ...request, topics: [{ topic, partitions }] }))
  return responses[0]?.partitions[0]?.messages ?? []
}

const isControl = (message: KafkaMessage): boolean => (message as { isControlRecord?: boolean }).isControlRecord === true
