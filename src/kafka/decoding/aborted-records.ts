/**
 * Determines which records of an answer were aborted, as the protocol defines it. kafkajs takes the aborted transactions in the
 * order in which they ended and advances to the next one at each record. If several writers write to a partition, it delivers
 * aborted records.
 */
import type { FetchedMessage } from './fetched-message.ts'

/** An aborted transaction as brokers list it beside the records, with its first offset in the partition. */
export interface AbortedTransaction {
  producerId: string
  firstOffset: string
}

/** Version and type of a control record, each i16. */
const abortMarker = Buffer.from([0, 0, 0, 0])

/**
 * The same messages. Aborted ones are emptied and become control records, so readers move past them and they are never delivered.
 */
export function withoutAborted(messages: FetchedMessage[], transactions: readonly AbortedTransaction[]): FetchedMessage[] {
  if (transactions.length === 0) return messages
  const later = transactions
    .map(({ producerId, firstOffset }) => ({ producerId, first: Number(firstOffset) }))
    .sort((a, b) => b.first - a.first)
  const aborted = new Set<string>()
  return messages.map((message) => {
    const { firstOffset, lastOffsetDelta, producerId, inTransaction, isControlBatch } = message.batchContext
    const last = Number(firstOffset) + lastOffsetDelta
    for (let next = later.at(-1); next !== undefined && next.first <= last; next = later.at(-1)) {
      aborted.add(next.producerId)
      later.pop()
    }
    if (isControlBatch) {
      if (message.key?.equals(abortMarker)) aborted.delete(producerId)
      return message
    }
    if (!inTransaction || !aborted.has(producerId)) return message
    const { unread: _, ...rest } = message
    return { ...rest, key: null, value: null, headers: {}, isControlRecord: true }
  })
}
