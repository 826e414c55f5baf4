/**
 * Writes records with one kafkajs producer. It ensures two things that kafkajs does not when several brokers are involved:
 *
 * kafkajs sends the requests of one call to all brokers at once. When one refuses temporarily, for example because a leader has
 * moved, kafkajs repeats all requests without an answer yet, including those still in flight. Those records are written twice, in
 * one transaction and under new sequence numbers, and no reader can tell. So each partition gets a call of its own, unless one
 * broker has everything: in parallel to those of other brokers, sequential for the same broker. kafkajs sends nothing else to a
 * broker meanwhile, and each waiting call retries by itself. With a silent broker, parallel calls would delay the write by the
 * time of one call times their number, and each would open connections.
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
import { partitionsApart, type RequestBatch, requestBatchesOf } from './request-batches.ts'

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
    else await sendInLines(linesOf(batch, counts), send)
  }
  return offsets
}

/** Groups by broker: the parts for one broker, as far as known, are one line. */
function linesOf(batch: RequestBatch, counts: ProduceOptions['counts']): Iterable<RequestBatch['topicMessages'][]> {
  const lines = new Map<string, RequestBatch['topicMessages'][]>()
  for (const part of partitionsApart(batch))
    for (const { topic, messages } of part) {
      const leader = counts.leaderOf(topic, Number(Object.keys(messages.groups)[0]))
      const line = lines.get(leader)
      if (line === undefined) lines.set(leader, [part])
      else line.push(part)
    }
  return lines.values()
}

/**
 * Lines run in parallel, the parts of a line one after the other. After a failure nothing more is started. It is reported only
 * when nothing is in flight any more.
 */
async function sendInLines(
  lines: Iterable<RequestBatch['topicMessages'][]>,
  send: (part: RequestBatch['topicMessages']) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  const go = async (line: RequestBatch['topicMessages'][]): Promise<void> => {
    for (const part of line) {
      if (failures.length > 0) return
      await send(part).catch((error) => failures.push(error))
    }
  }
  await Promise.all([...lines].map(go))
  if (failures.length > 0) throw failures[0]
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
