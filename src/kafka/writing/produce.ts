/**
 * Writes records with one kafkajs producer, with one request to each broker, all at once. It ensures two things that kafkajs does
 * not when several brokers are involved:
 *
 * When one of the requests of a call is refused temporarily, for example because a leader has moved, kafkajs repeats all that
 * have no answer yet, including those still in flight. So the partitions of each leader get a call of their own, and each call
 * retries by itself. Leaders as known here may be old, and then kafkajs makes several requests of one call. If it repeats one that
 * may still be in flight, under new sequence numbers, the call fails (kafkajs/produce-requests.ts): those records would be written
 * twice, in one transaction, and no reader could tell.
 *
 * When a leader is lost and its partitions move to a broker that has already answered, kafkajs does not ask that broker again:
 * the call succeeds, but the records are lost. So an answer for every partition is required.
 */
import type { ProducerBatch, RecordMetadata } from 'kafkajs'
import type { Append } from '../../clock/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { RecordOut } from '../../ports/index.ts'
import type { PartitionCounts } from '../admin/index.ts'
import { answeredOffset, installProduceRequests } from '../kafkajs/index.ts'
import { leadersApart, type RequestBatch, requestBatchesOf } from './request-batches.ts'

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
