/**
 * Places of the fields of a record batch (format 2, Kafka 0.11 and later), for the decoder and the encoder. The source is "Record
 * Batch" in the documentation of Kafka (Implementation, Message Format).
 *
 *   0  first offset i64 │ 8 length i32 │ 12 leader epoch i32 │ 16 magic i8 │ 17 crc u32 │ 21 attributes i16 │ 23 last offset delta i32 │
 *   27 first time i64 │ 35 last time i64 │ 43 producer id i64 │ 51 producer epoch i16 │ 53 first sequence i32 │ 57 records i32 │ 61 records
 *
 * Messages of the formats 0 and 1 have their offset, their length and their magic at the same places.
 */
export const batchAt = {
  firstOffset: 0,
  /** The length counts the bytes after itself. */
  length: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  firstTime: 27,
  lastTime: 35,
  producerId: 43,
  producerEpoch: 51,
  firstSequence: 53,
  recordCount: 57,
  records: 61,
} as const

/** Bytes up to the end of the length. */
export const beforeLength = batchAt.leaderEpoch

export const transactionalMask = 0x10
