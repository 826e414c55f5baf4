/** Reads parts of single partitions by time and offset, over connections that nobody else uses: such reads delay no other reader. */
import type { Kafka } from 'kafkajs'
import type { Position, RangeReader, RecordIn, TopicPartition } from '../../../ground/ports/index.ts'
import { type Cluster, SharedCluster } from './cluster.ts'
import { faultOn, type LogSettings } from './connection.ts'
import { withRetry } from './errors.ts'
import { type Fetched, fetchFrom } from './fetch.ts'
import { offsetAt, offsetOfEnd } from './offsets.ts'
import { brokerError } from './protocol.ts'
import { reportUnread } from './record-batches.ts'

export class KafkaRangeReader implements RangeReader {
  readonly #kafka: Kafka
  readonly #settings: LogSettings
  /** Uncommitted: a transaction that somebody else left open on the topic must not hide what follows. */
  readonly #connections: SharedCluster

  constructor(kafka: Kafka, settings: LogSettings) {
    this.#kafka = kafka
    this.#settings = settings
    this.#connections = new SharedCluster(kafka, 'uncommitted')
  }

  range(place: TopicPartition, fromMs: number, toMs: number | undefined): Promise<{ from: number; to: number }> {
    return this.#ask(place, 'Looking up times of', async (cluster) => {
      // The end first: what is appended meanwhile belongs to the next read.
      const end = await offsetOfEnd(cluster, place, 'latest')
      const of = async (ms: number): Promise<number> => Math.min((await offsetAt(cluster, place, Math.max(ms, 0))) ?? end, end)
      const [from, to] = await Promise.all([of(fromMs), toMs === undefined ? end : of(toMs)])
      return { from, to: Math.max(from, to) }
    })
  }

  read(position: Position, bytesMax: number): Promise<{ records: RecordIn[]; next: number }> {
    return this.#ask(position, 'Reading', async (cluster) => {
      let { offset } = position
      let fetched = await fetchedAt(cluster, position, bytesMax)
      if (fetched?.error === 'OFFSET_OUT_OF_RANGE') {
        const earliest = await offsetOfEnd(cluster, position, 'earliest')
        if (earliest <= offset) return { records: [], next: offset }
        offset = earliest
        fetched = await fetchedAt(cluster, { ...position, offset }, bytesMax)
      }
      if (fetched?.error !== undefined) throw brokerError(fetched.error, 'A fetch')
      const { records = [], unread = [], next = 0 } = fetched ?? {}
      reportUnread(unread, position, this.#settings)
      return { records, next: Math.max(offset, next) }
    })
  }

  close(): Promise<void> {
    return this.#connections.close()
  }

  async #ask<Answer>(place: TopicPartition, doing: string, ask: (cluster: Cluster) => Promise<Answer>): Promise<Answer> {
    const once = async (cluster: Cluster): Promise<Answer> => {
      await cluster.addMultipleTargetTopics([place.topic])
      await cluster.refreshMetadataIfNecessary()
      return ask(cluster)
    }
    const attempt = () => withRetry(() => this.#connections.use(once), ['UNKNOWN_TOPIC_OR_PARTITION'])
    const faultOfIt = (thrown: unknown) => faultOn(this.#kafka, thrown, `${doing} ${place.topic}/${place.partition}`)
    try {
      return await attempt()
    } catch (thrown) {
      const fault = faultOfIt(thrown)
      if (fault.code !== 'broker-unavailable') throw fault
      // A connection that was idle may have been closed by the broker. New ones are tried once.
      return await attempt().catch((again: unknown) => {
        throw faultOfIt(again)
      })
    }
  }
}

async function fetchedAt(cluster: Cluster, position: Position, bytesMax: number): Promise<Fetched | undefined> {
  const { topic, partition } = position
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
  const broker = await cluster.findBroker({ nodeId: String(nodeId) })
  const limits = { isolation: 'uncommitted', waitMs: 0, bytesMax, partitionBytesMax: bytesMax } as const
  return (await fetchFrom(broker, [position], limits))[0]
}
