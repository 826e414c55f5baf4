/**
 * Writes records with one kafkajs producer, with one request to each broker, all at once. It ensures two things that kafkajs does
 * not when several brokers are involved:
 *
 * When one of the requests of a call is refused temporarily, for example because a leader has moved, kafkajs repeats all that
 * have no answer yet, including those still in flight. So the partitions of each leader get a call of their own, and each call
 * retries by itself. Leaders as known here may be old, and then kafkajs makes several requests of one call. If it repeats one that
 * may still be in flight, under new sequence numbers, the call fails (produce-requests.ts): those records would be written
 * twice, in one transaction, and no reader could tell.
 *
 * When a leader is lost and its partitions move to a broker that has already answered, kafkajs does not ask that broker again:
 * the call succeeds, but the records are lost. So an answer for every partition is required.
 */
import type { ProducerBatch, RecordMetadata } from 'kafkajs'
import { keyPartitionOf, partitionOf, recordBytes } from '../../../../streams/topics/index.ts'
import type { Append } from '../../../ground/clock/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { RecordOut } from '../../../ground/ports/index.ts'
import { answeredOffset } from './offsets.ts'
import type { PartitionCounts } from './partition-counts.ts'
import { installProduceRequests, MessageGroup } from './produce-requests.ts'

export interface ProduceOptions {
  sendBatch(batch: ProducerBatch): Promise<RecordMetadata[]>
  counts: Pick<PartitionCounts, 'onOneBroker' | 'leaderOf'>
  requestTimeoutMs: number
  onAppended?: ((append: Append) => void) | undefined
}

/**
 * Resolves with the offset of the first record of each topic-partition, keyed `topic/partition`. Rejects if any record may be
 * missing.
 */
export async function produce(
  records: RecordOut[],
  partitionCounts: ReadonlyMap<string, number>,
  options: ProduceOptions,
): Promise<Map<string, number>> {
  const { sendBatch, counts, requestTimeoutMs, onAppended } = options
  installProduceRequests()
  const offsets = new Map<string, number>()
  for (const batch of requestBatchesOf(records, partitionCounts)) {
    const send = async (topicMessages: RequestBatch['topicMessages']): Promise<void> => {
      const sentMs = performance.now()
      const written = await sendBatch({ topicMessages, timeout: requestTimeoutMs })
      if (onAppended !== undefined) reportAppendTimes(written, counts, sentMs, onAppended)
      take(written, topicMessages, offsets)
    }
    if (counts.onOneBroker(batch.topicMessages)) await send(batch.topicMessages)
    else await allAtOnce(leadersApart(batch, counts), send)
  }
  return offsets
}

/** A failure is reported only when nothing is in flight any more. */
async function allAtOnce<Part>(parts: readonly Part[], send: (part: Part) => Promise<void>): Promise<void> {
  for (const result of await Promise.allSettled(parts.map(send))) if (result.status === 'rejected') throw result.reason
}

/** Brokers report the append time if the topic uses it; otherwise -1. */
function reportAppendTimes(
  written: RecordMetadata[],
  counts: ProduceOptions['counts'],
  sentMs: number,
  onAppended: (append: Append) => void,
): void {
  const receivedMs = performance.now()
  for (const { topicName, partition, logAppendTime } of written) {
    const brokerMs = Number(logAppendTime ?? -1)
    if (brokerMs > 0) onAppended({ source: counts.leaderOf(topicName, partition), sentMs, receivedMs, brokerMs })
  }
}

function take(written: RecordMetadata[], sent: RequestBatch['topicMessages'], offsets: Map<string, number>): void {
  const answered = new Set<string>()
  for (const { topicName, partition, baseOffset } of written) {
    const place = `${topicName}/${partition}`
    answered.add(place)
    if (!offsets.has(place)) offsets.set(place, answeredOffset(baseOffset, topicName, partition))
  }
  for (const { topic, messages } of sent)
    for (const partition of Object.keys(messages.groups)) {
      const place = `${topic}/${partition}`
      if (!answered.has(place))
        throw new DuelogError(
          'broker-unavailable',
          `No broker answered for the records that were sent to ${place}; its leader has moved.`,
        )
    }
}

/** Below the broker's default max.message.bytes of 1,048,588, which counts the whole batch. */
export const batchBytesMax = 1_000_000
/** Below the broker's default socket.request.max.bytes of 104,857,600. */
const requestBytesMax = 50_000_000

export interface RequestBatch {
  topicMessages: { topic: string; messages: GroupedMessages }[]
  /** Bytes of all its records, by `recordBytes`. */
  bytes: number
}

/**
 * Messages that are already grouped by partition. kafkajs groups with `messages.reduce(…)` and copies the group for each message,
 * which is quadratic. This array answers that one call with the existing groups. For all other uses it is a plain array.
 */
export class GroupedMessages extends Array<RecordOut> {
  readonly groups: Record<number, MessageGroup> = {}
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
  override reduce(): never {
    // One signature for all of Array's overloads. Only kafkajs's grouping calls it.
    return this.groups as never
  }
}

/** For producers of grouped messages: kafkajs does not ask for their partitions. */
export const noPartitioner = () => (): never => {
  throw new DuelogError('internal', 'Messages without a group were given to a producer.')
}

/** The same batch as one for each leader, in the order of their first records. */
export function leadersApart(
  { topicMessages }: RequestBatch,
  counts: Pick<PartitionCounts, 'leaderOf'>,
): RequestBatch['topicMessages'][] {
  const parts = new Map<string, Map<string, GroupedMessages>>()
  for (const { topic, messages } of topicMessages)
    for (const [partition, group] of Object.entries(messages.groups)) {
      const leader = counts.leaderOf(topic, Number(partition))
      const part = parts.get(leader) ?? new Map<string, GroupedMessages>()
      parts.set(leader, part)
      const own = part.get(topic) ?? new GroupedMessages()
      part.set(topic, own)
      own.groups[Number(partition)] = group
      for (const message of group) own.push(message)
    }
  return [...parts.values()].map((part) => [...part].map(([topic, messages]) => ({ topic, messages })))
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

/** Keeps the order of each partition's records: a partition never returns to an earlier batch. */
export function requestBatchesOf(records: RecordOut[], partitionCounts: ReadonlyMap<string, number>): RequestBatch[] {
  const rounds: { bytes: number; topics: Map<string, GroupedMessages> }[] = []
  const places = new Map<string, { round: number; bytes: number }[]>()
  for (const record of records) {
    const partition = targetOf(record, partitionCounts)
    const bytes = recordBytes(record)
    let ofTopic = places.get(record.topic)
    if (ofTopic === undefined) {
      ofTopic = []
      places.set(record.topic, ofTopic)
    }
    let place = ofTopic[partition]
    if (place === undefined) {
      place = { round: 0, bytes: 0 }
      ofTopic[partition] = place
    }
    while (place.bytes + bytes > batchBytesMax || (rounds[place.round]?.bytes ?? 0) + bytes > requestBytesMax) {
      place.round++
      place.bytes = 0
    }
    while (rounds.length <= place.round) rounds.push({ bytes: 0, topics: new Map() })
    place.bytes += bytes
    const round = rounds[place.round] as (typeof rounds)[number]
    round.bytes += bytes
    let messages = round.topics.get(record.topic)
    if (messages === undefined) {
      messages = new GroupedMessages()
      round.topics.set(record.topic, messages)
    }
    messages.push(record)
    let group = messages.groups[partition]
    if (group === undefined) {
      group = new MessageGroup()
      messages.groups[partition] = group
    }
    group.push(record)
  }
  return rounds.map(({ bytes, topics }) => ({
    bytes,
    topicMessages: [...topics].map(([topic, messages]) => ({ topic, messages })),
  }))
}
