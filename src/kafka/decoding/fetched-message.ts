/** A message as a fetch brought it, for kafkajs to hand on. */

/** What kafkajs reads of the batch that a message came in. */
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

/** A message as kafkajs wants it. */
export interface FetchedMessage {
  magicByte: 2
  attributes: number
  timestamp: string
  offset: string
  key: Buffer | null
  value: Buffer | null
  /** Of repeated ones the last, as with Kafka's own lastHeader(). */
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

/** What is left of the limits of one answer. */
export interface Room {
  records: number
  unpackedBytes: number
}
