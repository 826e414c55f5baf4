/** A fetched message in the form that kafkajs expects. */

/** What kafkajs reads of a message's batch. */
export interface BatchContext {
  firstOffset: string
  lastOffsetDelta: number
  producerId: string
  inTransaction: boolean
  isControlBatch: boolean
  maxTimestamp: string
  /** 1: the broker's append time. */
  timestampType: 0 | 1
  magicByte: 2
}

/** A message in kafkajs's form. */
export interface FetchedMessage {
  magicByte: 2
  attributes: number
  timestamp: string
  offset: string
  key: Buffer | null
  value: Buffer | null
  /** Of repeated headers the last one, like Kafka's own lastHeader(). */
  headers: Record<string, Buffer>
  isControlRecord: boolean
  batchContext: BatchContext
  /** Why the records from an offset up to this one cannot be read. */
  unread?: Unread
}

export interface Unread {
  firstOffset: number
  problem: string
}

/** Remaining limits of one answer. */
export interface Room {
  records: number
  unpackedBytes: number
}
