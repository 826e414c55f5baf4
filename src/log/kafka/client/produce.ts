/**
 * Writes records under one producer id: encodes them into batches, and sends each leader the batches of its partitions, all leaders at
 * once. What a leader refuses for a moment, or does not answer, is sent again, to whoever leads it by then. A batch is sent under the
 * same sequence numbers each time, so the broker drops a repeat of what it has.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { keyPartitionOf, partitionOf, recordBytes } from '../../../../streams/topics/index.ts'
import type { Append } from '../../../ground/clock/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { RecordOut, TopicPartition } from '../../../ground/ports/index.ts'
import { encodeBatch } from './batch-encoder.ts'
import type { Cluster } from './cluster.ts'
import { growingWaits, isLoss, typeOf } from './errors.ts'
import { answeredOffset } from './offsets.ts'
import { type EncodedBatch, type ProducerId, produceRequest } from './producer-requests.ts'
import { answerOf, brokerError, sendOwn } from './protocol.ts'

export interface ProducerOptions {
  /** Null: without transactions. */
  transactionalId: string | null
  requestTimeoutMs: number
  onAppended?: ((append: Append) => void) | undefined
  /** Once it is aborted, nothing more is sent. Default: never. */
  signal?: AbortSignal
}

/** A batch that is being written. */
interface Sending extends EncodedBatch {
  /** Once a broker has it. */
  offset: number | undefined
}

/** Sequence numbers go on from 0 after this one. */
const sequenceMax = 0x7fff_ffff
/** A topic that was just created may not be known everywhere: a missing one is a final answer after some tries. ms. */
const missingMsMax = 9_000
/** Answers after which the leader is the same. */
const unmoved = new Set(['CONCURRENT_TRANSACTIONS', 'NOT_ENOUGH_REPLICAS', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND'])

export class BatchProducer {
  readonly #cluster: Cluster
  readonly #options: ProducerOptions
  #id: ProducerId & { isV2: boolean }
  /** Next sequence numbers, by `topic/partition`. */
  #sequences = new Map<string, number>()

  constructor(cluster: Cluster, id: ProducerId & { isV2: boolean }, options: ProducerOptions) {
    this.#cluster = cluster
    this.#id = id
    this.#options = options
  }

  close(): Promise<void> {
    return this.#cluster.disconnect()
  }

  /** Goes on under another id or epoch, with sequence numbers from 0. */
  become(id: ProducerId & { isV2: boolean }): void {
    if (id.producerId === this.#id.producerId && id.producerEpoch === this.#id.producerEpoch) return
    this.#id = id
    this.#sequences = new Map()
  }

  /**
   * Resolves with the offset of the first record of each topic-partition, keyed `topic/partition`. Rejects if any record may be
   * missing; then the next sequence numbers are not known, and the producer cannot be used any more. `endMs`: until when something is
   * sent again, by the steady clock.
   */
  async produce(rounds: readonly RecordsOfPartition[][], endMs: number): Promise<Map<string, number>> {
    const offsets = new Map<string, number>()
    for (const round of rounds) {
      const batches = round.map((part) => this.#encoded(part))
      await this.#learn(batches).catch(() => {})
      await this.#deliver(batches, growingWaits(endMs), performance.now() + missingMsMax)
      for (const { topic, partition, offset = -1 } of batches) {
        const place = `${topic}/${partition}`
        if (!offsets.has(place)) offsets.set(place, offset)
      }
    }
    return offsets
  }

  #encoded({ topic, partition, records }: RecordsOfPartition): Sending {
    const place = `${topic}/${partition}`
    const firstSequence = this.#sequences.get(place) ?? 0
    this.#sequences.set(place, (firstSequence + records.length) & sequenceMax)
    const isTransactional = this.#options.transactionalId !== null
    const bytes = encodeBatch(records, { ...this.#id, timeMs: Date.now(), firstSequence, isTransactional })
    return { topic, partition, bytes, offset: undefined }
  }

  /** Metadata of topics that are new to these connections. */
  async #learn(batches: readonly Sending[]): Promise<void> {
    const missing = new Set(batches.map(({ topic }) => topic).filter((topic) => this.#leaders(topic).size === 0))
    if (missing.size > 0) await this.#cluster.addMultipleTargetTopics([...missing])
  }

  /** Each leader is tried again by itself. A failure is reported when nothing of the call is in flight any more. */
  async #deliver(batches: readonly Sending[], waits: Iterator<number>, missingEndMs: number): Promise<void> {
    const groups = Map.groupBy(batches, ({ topic, partition }) => this.#leaders(topic).get(partition))
    const deliveries = [...groups].map(async ([leader, group]) => {
      const failure = await this.#send(leader, group)
      if (failure === undefined) return
      const next = this.#isPassing(failure, missingEndMs) ? waits.next() : undefined
      if (next === undefined || next.done === true) throw failure
      await wait(next.value)
      const left = group.filter(({ offset }) => offset === undefined)
      if (!unmoved.has(typeOf(failure))) await this.#refresh(left, missingEndMs)
      await this.#deliver(left, waits, missingEndMs)
    })
    for (const result of await Promise.allSettled(deliveries)) if (result.status === 'rejected') throw result.reason
  }

  #isPassing(failure: unknown, missingEndMs: number): boolean {
    if (this.#options.signal?.aborted || !isLoss(failure)) return false
    return typeOf(failure) !== 'UNKNOWN_TOPIC_OR_PARTITION' || performance.now() < missingEndMs
  }

  async #refresh(batches: readonly Sending[], missingEndMs: number): Promise<void> {
    try {
      await this.#learn(batches)
      await this.#cluster.refreshMetadata()
    } catch (failure) {
      if (!this.#isPassing(failure, missingEndMs)) throw failure
    }
  }

  /** Resolves with the failure of the first one that failed for good, or else of the first one that failed. */
  async #send(leader: number | undefined, batches: readonly Sending[]): Promise<unknown> {
    const { signal, transactionalId, requestTimeoutMs } = this.#options
    const places = batches.map(({ topic, partition }) => `${topic}/${partition}`)
    if (leader === undefined) return brokerError('LEADER_NOT_AVAILABLE', `Writing to ${places[0]}`)
    const { isV2 } = this.#id
    const failures: unknown[] = []
    try {
      signal?.throwIfAborted()
      const broker = await this.#cluster.findBroker({ nodeId: leader })
      const sentMs = performance.now()
      const { answers } = await sendOwn(broker, produceRequest({ transactionalId, isV2 }, requestTimeoutMs, batches))
      const receivedMs = performance.now()
      for (const answer of answers) {
        const { topic, partition, appendTimeMs: brokerMs } = answer
        const batch = batches[places.indexOf(`${topic}/${partition}`)]
        try {
          const { baseOffset } = answerOf(answer, `Writing to ${topic}/${partition}`)
          if (batch !== undefined) batch.offset = answeredOffset(String(baseOffset), topic, partition)
          if (brokerMs > 0) this.#options.onAppended?.({ source: `broker ${leader}`, sentMs, receivedMs, brokerMs })
        } catch (error) {
          failures.push(error)
        }
      }
    } catch (error) {
      return error
    }
    const unanswered = batches.findIndex(({ offset }) => offset === undefined)
    if (failures.length === 0 && unanswered >= 0)
      return new DuelogError(
        'broker-unavailable',
        `A broker did not answer for the records that were sent to ${places[unanswered]}.`,
      )
    return failures.find((failure) => !isLoss(failure)) ?? failures[0]
  }

  /** By partition, without those that have none. */
  #leaders(topic: string): ReadonlyMap<number, number> {
    if (!this.#cluster.brokerPool.metadata) return new Map()
    const partitions = this.#cluster.findTopicPartitionMetadata(topic)
    let leaders = leadersIn.get(partitions)
    if (leaders === undefined) {
      leaders = new Map(partitions.flatMap(({ partitionId, leader }) => (leader >= 0 ? [[partitionId, leader] as const] : [])))
      leadersIn.set(partitions, leaders)
    }
    return leaders
  }
}

/** By metadata of a topic: kafkajs has a list, which it replaces when it reads metadata again. */
const leadersIn = new WeakMap<object, ReadonlyMap<number, number>>()

/** Below the broker's default max.message.bytes of 1,048,588, which counts the whole batch. */
export const batchBytesMax = 1_000_000
/** Below the broker's default socket.request.max.bytes of 104,857,600. */
const requestBytesMax = 50_000_000

/** What goes in one batch. */
export interface RecordsOfPartition extends TopicPartition {
  records: RecordOut[]
}

/** Throws DuelogError `payload-too-large` when a record is over the limit of a batch. */
export function checkSizes(records: RecordOut[]): void {
  for (const record of records) {
    const bytes = recordBytes(record)
    if (bytes > batchBytesMax)
      throw new DuelogError(
        'payload-too-large',
        `A record for ${record.topic} has ${bytes} bytes; the maximum is ${batchBytesMax}. Make its payload or headers smaller.`,
      )
  }
}

/** The partition of a record: its own, or that of its key. */
export function targetOf(record: RecordOut, partitionCounts: ReadonlyMap<string, number>): number {
  const count = partitionCounts.get(record.topic) ?? 0
  const partition = record.partition ?? (record.ofJob ? partitionOf : keyPartitionOf)(record.key ?? '', count)
  if (!(partition >= 0 && partition < count))
    throw new DuelogError(
      'internal',
      `A record for ${record.topic} names partition ${partition}; the topic has ${count}. Check that all topics have the same number of partitions.`,
    )
  return partition
}

/** The places that records go to, without repeats. */
export const placesOf = (rounds: readonly RecordsOfPartition[][]): TopicPartition[] => [
  ...new Map(rounds.flat().map((part) => [`${part.topic}/${part.partition}`, part])).values(),
]

/**
 * The batches of each round of requests. Keeps the order of each partition's records: a partition never returns to an earlier round.
 */
export function roundsOf(records: readonly RecordOut[], partitionCounts: ReadonlyMap<string, number>): RecordsOfPartition[][] {
  const rounds: { bytes: number; parts: RecordsOfPartition[] }[] = []
  /** The last batch of each partition. */
  const lasts = new Map<string, { round: number; bytes: number; part: RecordsOfPartition | undefined }[]>()
  for (const record of records) {
    const { topic } = record
    const partition = targetOf(record, partitionCounts)
    const bytes = recordBytes(record)
    let ofTopic = lasts.get(topic)
    if (ofTopic === undefined) {
      ofTopic = []
      lasts.set(topic, ofTopic)
    }
    let last = ofTopic[partition]
    if (last === undefined) {
      last = { round: 0, bytes: 0, part: undefined }
      ofTopic[partition] = last
    }
    while (last.bytes + bytes > batchBytesMax || (rounds[last.round]?.bytes ?? 0) + bytes > requestBytesMax) {
      last.round++
      last.bytes = 0
      last.part = undefined
    }
    while (rounds.length <= last.round) rounds.push({ bytes: 0, parts: [] })
    const round = rounds[last.round] as (typeof rounds)[number]
    last.bytes += bytes
    round.bytes += bytes
    if (last.part === undefined) {
      last.part = { topic, partition, records: [] }
      round.parts.push(last.part)
    }
    last.part.records.push(record)
  }
  return rounds.map(({ parts }) => parts)
}
