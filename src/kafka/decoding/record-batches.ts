/**
 * Decodes the fetched bytes of one partition: record batches (batch-layout.ts) or older single messages
 * (message-sets.ts), one after the other.
 *
 * kafkajs can do this too, but without limits: a megabyte of compressed zeros becomes a gigabyte. An error in one batch ends the
 * fetches of all partitions, permanently. It copies all headers of a record for each header. If the last records of a batch were
 * compacted away, it does not report the end of the batch. So this decoder limits everything, and each unreadable part becomes
 * one message that says so, at its position.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { messageOf } from '../../errors/index.ts'
import { batchAt, beforeLength, transactionalMask } from './batch-layout.ts'
import { unpacked } from './decompression.ts'
import type { BatchContext, FetchedMessage, Room } from './fetched-message.ts'
import { decodeMessage } from './message-sets.ts'

/**
 * Most records of one compressed batch; an uncompressed one is limited by its bytes. As many as fit into a batch of the usual
 * maximum, 1 MB, decompressed.
 */
export const batchRecordsMax = 150_000
/** Records and decompressed bytes of one broker answer. The rest is left for the next fetch. */
export const answerRecordsMax = 50_000
export const answerUnpackedBytesMax = 16 * 1024 * 1024
/** Number of records and headers, about 5 ms of work, after which other work may run. A small compressed batch can hold millions of headers. */
const yieldAfter = 10_000
/** A record with more headers is unreadable: each is a name in memory. */
export const headersMax = 5_000

/** Minimum size of a message from before Kafka 0.11 (message-sets.ts), and the position of its attributes. */
const messageBytesMin = 26
const attributesBeforeAt = 17
const codecMask = 0x07
const appendTimeMask = 0x08
const controlMask = 0x20

export const roomOfAnswer = (): Room => ({ records: answerRecordsMax, unpackedBytes: answerUnpackedBytesMax })

/** `bytes`: of one partition; an incomplete batch at the end is left out. Reduces `room` by what it returns. */
export async function decodeBatches(bytes: Buffer, room: Room): Promise<FetchedMessage[]> {
  const messages: FetchedMessage[] = []
  for (let at = 0; at + messageBytesMin <= bytes.length && room.records > 0; ) {
    const end = at + beforeLength + bytes.readInt32BE(at + batchAt.length)
    const isOld = (bytes[at + batchAt.magic] as number) < 2
    if (end > bytes.length || end < at + (isOld ? messageBytesMin : batchAt.records)) break
    const batch = bytes.subarray(at, end)
    const codec = (isOld ? (batch[attributesBeforeAt] as number) : batch.readInt16BE(batchAt.attributes)) & codecMask
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
  const first = Number(batch.readBigInt64BE(batchAt.firstOffset))
  const attributes = batch.readInt16BE(batchAt.attributes)
  const last = first + batch.readInt32BE(batchAt.lastOffsetDelta)
  const firstMs = Number(batch.readBigInt64BE(batchAt.firstTime))
  const count = batch.readInt32BE(batchAt.recordCount)
  const context: BatchContext = {
    firstOffset: String(first),
    lastOffsetDelta: last - first,
    producerId: batch.readBigInt64BE(batchAt.producerId).toString(),
    inTransaction: (attributes & transactionalMask) > 0,
    isControlBatch: (attributes & controlMask) > 0,
    maxTimestamp: batch.readBigInt64BE(batchAt.lastTime).toString(),
    timestampType: (attributes & appendTimeMask) > 0 ? 1 : 0,
    magicByte: 2,
  }
  const unread = (problem: string): void =>
    void messages.push({ ...blank(last, context), unread: { firstOffset: first, problem } })
  if (codec !== 0 && count > batchRecordsMax)
    return unread(`It has ${count} records; at most ${batchRecordsMax} where they are compressed.`)
  let records: Buffer
  try {
    records = codec === 0 ? batch.subarray(batchAt.records) : await unpacked(codec, batch.subarray(batchAt.records))
  } catch (error) {
    return unread(messageOf(error))
  }
  if (codec !== 0) room.unpackedBytes -= records.length
  const cursor = new Cursor(records)
  let passed = first - 1
  for (let index = 0, countAtYield = 0; index < count; index++) {
    const message = cursor.record(first, firstMs, context)
    if (message === undefined) return unread('Its records do not end where they say.')
    // Brokers check these offsets only when they decompress. A reader that continued after a wrong offset would skip records or
    // leave the log.
    if (!(cursor.offset > passed && cursor.offset <= last)) return unread('Its records have offsets that are not its own.')
    passed = cursor.offset
    messages.push(message)
    if (index + cursor.headersRead - countAtYield < yieldAfter) continue
    countAtYield = index + cursor.headersRead
    await yieldToEventLoop()
  }
  // Compaction removed the last records. The reader has to know where the batch ends, or it would ask for each of their offsets.
  if (passed < last) messages.push({ ...blank(last, context), isControlRecord: true })
}

/** A message without content at this offset. A control record is never delivered. */
const blank = (offset: number, batchContext: BatchContext): FetchedMessage => ({
  ...{ magicByte: 2, attributes: 0, timestamp: batchContext.maxTimestamp, offset: String(offset), key: null, value: null },
  ...{ headers: noHeaders, isControlRecord: batchContext.isControlBatch, batchContext },
})

const noHeaders: Record<string, Buffer> = Object.freeze({})

class Cursor {
  readonly #bytes: Buffer
  #at = 0
  headersRead = 0
  /** Offset of the record that was read last. */
  offset = Number.NaN

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The next record; undefined if the bytes are not a record. */
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
    // A header is only a name, so `__proto__` must not change the prototype.
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

  /** Null: absent. Undefined: it does not end within the bytes. */
  #slice(): Buffer | null | undefined {
    const length = this.#varint()
    if (length === -1) return null
    const from = this.#at
    const to = from + length
    if (!(length >= 0 && to <= this.#bytes.length)) return undefined
    this.#at = to
    return this.#bytes.subarray(from, to)
  }

  /** Zigzag varint: 7 bits per byte, lowest first. NaN if the bytes end first; not exact beyond 2^53. */
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
