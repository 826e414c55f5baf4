/**
 * Writes records with one kafkajs producer, and makes sure of two things that kafkajs does not where several brokers have a part:
 *
 * Of one call it asks all of them at once. When one refuses for the moment, as a leader does that has moved, it asks anew all that have not
 * answered yet, those whose request is still on its way included: these write their records twice, in one transaction and under new sequence
 * numbers, and no reader can tell. So each partition gets a call of its own, beside the others, unless one broker has everything.
 *
 * When a leader is lost and its partitions move to a broker that has answered already, that broker is not asked again: the call succeeds and
 * the records are nowhere. So every partition must have been answered for.
 */
import type { ProducerBatch, RecordMetadata } from 'kafkajs'
import type { Append } from '../clock-trust.ts'
import { DuelogError } from '../errors.ts'
import type { RecordOut } from '../ports.ts'
import { answeredOffset } from './answered-offset.ts'
import type { PartitionCounts } from './partition-counts.ts'
import { partitionsApart, type Round, roundsOf } from './rounds.ts'

export interface ProduceOptions {
  sendBatch(batch: ProducerBatch): Promise<RecordMetadata[]>
  counts: Pick<PartitionCounts, 'onOneBroker' | 'leaderOf'>
  requestTimeoutMs: number
  onAppended?: ((append: Append) => void) | undefined
}

/** Resolves with the offset of the first record of each topic-partition, keyed `topic/partition`. Rejects when any record may be missing. */
export async function produce(
  records: RecordOut[],
  partitionCounts: ReadonlyMap<string, number>,
  options: ProduceOptions,
): Promise<Map<string, number>> {
  const { sendBatch, counts, requestTimeoutMs, onAppended } = options
  const offsets = new Map<string, number>()
  for (const round of roundsOf(records, partitionCounts)) {
    const together = counts.onOneBroker(round.topicMessages)
    const send = async (topicMessages: Round['topicMessages']): Promise<void> => {
      const sentMs = performance.now()
      const written = await sendBatch({ topicMessages, timeout: requestTimeoutMs })
      if (onAppended !== undefined) tellTime(written, counts, sentMs, onAppended)
      take(written, topicMessages, offsets)
    }
    // Nobody hears of a failure while anything of the round is still under way.
    const sent = await Promise.allSettled((together ? [round.topicMessages] : partitionsApart(round)).map(send))
    for (const { status, ...how } of sent) if (status === 'rejected') throw (how as PromiseRejectedResult).reason
  }
  return offsets
}

/** Brokers tell the time of an append where the topic keeps it; else they answer -1. */
function tellTime(
  written: RecordMetadata[],
  counts: ProduceOptions['counts'],
  sentMs: number,
  onAppended: (append: Append) => void,
): void {
  const heardMs = performance.now()
  for (const { topicName, partition, logAppendTime } of written) {
    const brokerMs = Number(logAppendTime ?? -1)
    if (brokerMs > 0) onAppended({ source: counts.leaderOf(topicName, partition), sentMs, heardMs, brokerMs })
  }
}

function take(written: RecordMetadata[], sent: Round['topicMessages'], offsets: Map<string, number>): void {
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
        throw new DuelogError('broker-unavailable', `No broker answered for what was sent to ${place}; its leader has moved.`)
    }
}
