/**
 * Decodes what a fetch brought of one partition: batches of records (format 2, Kafka 0.11 and later) or single
 * messages of before (message-sets.ts), one behind the other.
 *
 * kafkajs does this too, but it unpacks whatever somebody compressed: a megabyte of zeros is a gigabyte. An error in one batch ends the
 * fetch of all partitions, for ever. It copies a record's headers for each header, and of a batch whose last records were compacted away it
 * does not tell where it ends. So here everything has a limit, and what cannot be read is one message that says so, in its place.
 *
 *   0  first offset i64 │ 8 length i32 │ 12 leader epoch i32 │ 16 magic i8 │ 17 crc u32 │ 21 attributes i16 │ 23 last offset delta i32 │
 *   27 first time i64 │ 35 last time i64 │ 43 producer id i64 │ 51 producer epoch i16 │ 53 first sequence i32 │ 57 records i32 │ 61 records
 */
import { setImmediate as turn } from 'node:timers/promises'
import { messageOf } from '../../errors/index.ts'
import { unpacked } from './decompression.ts'
import type { BatchContext, FetchedMessage, Room } from './fetched-message.ts'
import { decodeMessage } from './message-sets.ts'

/** Records of one batch that is compressed; what is not is bounded by its bytes. As many as fit a batch of the usual most, 1 MB, unpacked. */
export const batchRecordsMax = 150_000
/** What one answer of a broker may hold of records and of unpacked bytes before the rest is left for the next fetch. */
export const answerRecordsMax = 50_000
export const answerUnpackedBytesMax = 16 * 1024 * 1024
/** Records and headers after which others get their turn: some 5 ms. A small batch can hold millions of headers, compressed. */
const turnAfter = 10_000
/** A record with more cannot be read: each is a name in memory. */
export const headersMax = 5_000

const headerBytes = 61
const magicAt = 16
/** Of a message of before Kafka 0.11 (message-sets.ts): all of it, and where its attributes are. */
const messageBytesMin = 26
const attributesBeforeAt = 17
const lengthAt = 8
const beforeLength = 12
const attributesAt = 21
const codecMask = 0x07
const appendTimeMask = 0x08
const transactionalMask = 0x10
const controlMask = 0x20

export const roomOfAnswer = (): Room => ({ records: answerRecordsMax, unpackedBytes: answerUnpackedBytesMax })

/** `bytes`: of one partition; an unfinished batch at its end is left out. Takes from `room` what it gives. */
export async function decodeBatches(bytes: Buffer, room: Room): Promise<FetchedMessage[]> {
  const messages: FetchedMessage[] = []
  for (let at = 0; at + messageBytesMin <= bytes.length && room.records > 0; ) {
    const end = at + beforeLength + bytes.readInt32BE(at + lengthAt)
    const isOld = (bytes[at + magicAt] as number) < 2
    if (end > bytes.length || end < at + (isOld ? messageBytesMin : headerBytes)) break
    const batch = bytes.subarray(at, end)
    const codec = (isOld ? (batch[attributesBeforeAt] as number) : batch.readInt16BE(attributesAt)) & codecMask
    if (codec !== 0 && room.unpackedBytes <= 0) break
    const count = messages.length
    if (isOld) await decodeMessage(batch, messages, room, batchRecordsMax)
    else await decodeBatch(batch, codec, messages, room)
    room.records -= messages.length - count
    at = end
  }
  return messages
}

async function decodeBatch(batch: Buffer, codec: number, messages: FetchedMessage[], room: Room): Promise<void> {
  const first = Number(batch.readBigInt64BE(0))
  const attributes = batch.readInt16BE(attributesAt)
  const last = first + batch.readInt32BE(23)
  const firstMs = Number(batch.readBigInt64BE(27))
  const count = batch.readInt32BE(57)
  const context: BatchContext = {
    firstOffset: String(first),
    lastOffsetDelta: last - first,
    producerId: batch.readBigInt64BE(43).toString(),
    inTransaction: (attributes & transactionalMask) > 0,
    isControlBatch: (attributes & controlMask) > 0,
    maxTimestamp: batch.readBigInt64BE(35).toString(),
    timestampType: (attributes & appendTimeMask) > 0 ? 1 : 0,
    magicByte: 2,
  }
  const unread = (problem: string): void =>
    void messages.push({ ...blank(last, context), unread: { firstOffset: first, problem } })
  if (codec !== 0 && count > batchRecordsMax)
    return unread(`It has ${count} records; at most ${batchRecordsMax} where they are compressed.`)
  let records: Buffer
  try {
    records = codec === 0 ? batch.subarray(headerBytes) : await unpacked(codec, batch.subarray(headerBytes))
  } catch (error) {
    return unread(messageOf(error))
  }
  if (codec !== 0) room.unpackedBytes -= records.length
  const cursor = new Cursor(records)
  let passed = first - 1
  for (let index = 0, rested = 0; index < count; index++) {
    const message = cursor.record(first, firstMs, context)
    if (message === undefined) return unread('Its records do not end where they say.')
    // Brokers look at these only where they unpack: whoever read on behind one of another place would pass over what is there, or leave the log.
    if (!(cursor.offset > passed && cursor.offset <= last)) return unread('Its records have offsets that are not its own.')
    passed = cursor.offset
    messages.push(message)
    if (index + cursor.headersRead - rested < turnAfter) continue
    rested = index + cursor.headersRead
    await turn()
  }
  // Compaction took the last ones: what reads on has to know where the batch ends, or would ask for each of their offsets.
  if (passed < last) messages.push({ ...blank(last, context), isControlRecord: true })
}

/** A message without content at this offset. One that counts as a control record is shown to nobody. */
const blank = (offset: number, batchContext: BatchContext): FetchedMessage => ({
  ...{ magicByte: 2, attributes: 0, timestamp: batchContext.maxTimestamp, offset: String(offset), key: null, value: null },
  ...{ headers: noHeaders, isControlRecord: batchContext.isControlBatch, batchContext },
})

const noHeaders: Record<string, Buffer> = Object.freeze({})

class Cursor {
  readonly #bytes: Buffer
  #at = 0
  headersRead = 0
  /** Of the record that was read last. */
  offset = Number.NaN

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The next record; undefined where the bytes are not those of one. */
  record(firstOffset: number, firstMs: number, batchContext: BatchContext): FetchedMessage | undefined {
    const length = this.#varint()
    const end = this.#at + length
    if (!(length >= 0 && end <= this.#bytes.length)) return undefined
    const attributes = this.#bytes[this.#at++] ?? 0
    const timestamp = firstMs + this.#varint()
    const offset = firstOffset + this.#varint()
    const key = this.#slice()
    const value = this.#slice()
    const count = this.#varint()
    if (!Number.isSafeInteger(offset) || key === undefined || value === undefined || !(count >= 0)) return undefined
    this.offset = offset
    const message: FetchedMessage = {
      magicByte: 2,
      attributes,
      timestamp: batchContext.timestampType === 1 ? batchContext.maxTimestamp : String(timestamp),
      offset: String(offset),
      key,
      value,
      headers: noHeaders,
      isControlRecord: batchContext.isControlBatch,
      batchContext,
    }
    if (count > headersMax) {
      Object.assign(message, { key: null, value: null })
      message.unread = { firstOffset: offset, problem: `It has ${count} headers; at most ${headersMax}.` }
      this.#at = end
    } else if (count > 0) {
      const headers = this.#headers(count)
      if (headers === undefined) return undefined
      message.headers = headers
    }
    return this.#at === end ? message : undefined
  }

  #headers(count: number): Record<string, Buffer> | undefined {
    // Whatever a header is called, it is nothing but a name.
    const headers: Record<string, Buffer> = Object.create(null)
    this.headersRead += count
    for (let index = 0; index < count; index++) {
      const name = this.#slice()
      const value = this.#slice()
      if (name === undefined || name === null || value === undefined) return undefined
      headers[name.toString('utf8')] = value ?? none
    }
    return headers
  }

  /** Null: there is none. Undefined: it does not end within the bytes. */
  #slice(): Buffer | null | undefined {
    const length = this.#varint()
    if (length === -1) return null
    const from = this.#at
    const to = from + length
    if (!(length >= 0 && to <= this.#bytes.length)) return undefined
    this.#at = to
    return this.#bytes.subarray(from, to)
  }

  /** Zigzag, 7 bits in each byte, the lowest first. NaN where the bytes end before; beyond 2^53 not exact. */
  #varint(): number {
    const bytes = this.#bytes
    let byte = bytes[this.#at++] ?? Number.NaN
    let value = byte & 0x7f
    for (let factor = 128; byte >= 0x80; factor *= 128) {
      if (factor > 2 ** 63) return Number.NaN
      byte = bytes[this.#at++] ?? Number.NaN
      value += (byte & 0x7f) * factor
    }
    if (Number.isNaN(byte)) return Number.NaN
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
}

const none = Buffer.alloc(0)
