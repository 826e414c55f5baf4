/**
 * Decodes the fetched bytes of one partition, record batches one after the other (batch-format.ts), into our records. Hot path: every
 * definition, event and execution of the process passes here.
 *
 * kafkajs can do this too, but without limits: a megabyte of compressed zeros becomes a gigabyte. An error in one batch ends the
 * fetches of all partitions, permanently. It takes the aborted transactions in the order in which they ended, so that it delivers
 * aborted records if several writers write to a partition. So this decoder limits everything, and each unreadable part is told with its
 * place, and skipped. Message sets, from before Kafka 0.11, are such parts.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { messageOf } from '../../../ground/errors/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Position, RecordIn, TopicPartition } from '../../../ground/ports/index.ts'
import { batchAt, beforeLength, transactionalMask, unpacked } from './batch-format.ts'

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

/** Minimum size of a message from before Kafka 0.11. */
const messageBytesMin = 26
const codecMask = 0x07
const appendTimeMask = 0x08
const controlMask = 0x20
/** Version and type of a control record, each i16. */
const abortMarker = Buffer.from([0, 0, 0, 0])

/** Remaining limits of one answer. */
export interface Room {
  records: number
  unpackedBytes: number
}

export const roomOfAnswer = (): Room => ({ records: answerRecordsMax, unpackedBytes: answerUnpackedBytesMax })

/** Records from an offset up to another one that cannot be read. */
export interface Unread {
  firstOffset: number
  offset: number
  problem: string
}

/** An aborted transaction as brokers list it beside the records, with its first offset in the partition. */
export interface AbortedTransaction {
  producerId: number
  firstOffset: number
}

export interface Decoded {
  records: RecordIn[]
  unread: Unread[]
  /** After all that was read, also invisible records; undefined if there was nothing. */
  next: number | undefined
}

/**
 * `bytes`: of one partition; an incomplete batch at the end is left out, and so are records before the position and those of the
 * `aborted` transactions. Reduces `room` by what it returns.
 */
export async function decodeBatches(
  bytes: Buffer,
  position: Position,
  room: Room,
  aborted: readonly AbortedTransaction[] = [],
): Promise<Decoded> {
  const decoded: Decoded = { records: [], unread: [], next: undefined }
  const abortions = new Abortions(aborted)
  for (let at = 0; at + messageBytesMin <= bytes.length && room.records > 0; ) {
    const end = at + beforeLength + bytes.readInt32BE(at + batchAt.length)
    const isOld = (bytes[at + batchAt.magic] as number) < 2
    if (end > bytes.length || end < at + (isOld ? messageBytesMin : batchAt.records)) break
    const batch = bytes.subarray(at, end)
    const firstOffset = Number(batch.readBigInt64BE(batchAt.firstOffset))
    const offset = isOld ? firstOffset : firstOffset + batch.readInt32BE(batchAt.lastOffsetDelta)
    const isCompressed = !isOld && (batch.readInt16BE(batchAt.attributes) & codecMask) !== 0
    if (isCompressed && room.unpackedBytes <= 0) break
    const count = decoded.records.length + decoded.unread.length
    const problem = isOld
      ? 'It has the format of brokers before Kafka 0.11.'
      : abortions.hide(batch, offset)
        ? undefined
        : await decodeBatch(batch, { firstOffset, offset }, position, decoded, room)
    if (problem !== undefined) decoded.unread.push({ firstOffset, offset, problem })
    room.records -= decoded.records.length + decoded.unread.length - count
    // Also if compaction has removed the last records: a reader would ask for each of their offsets.
    decoded.next = offset + 1
    at = end
  }
  return decoded
}

/** Determines which batches of an answer are not shown, as the protocol defines it: a transaction ends with its marker. */
class Abortions {
  /** Those that begin later, the next one last. */
  readonly #later: AbortedTransaction[]
  readonly #producers = new Set<number>()

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#later = aborted.toSorted((a, b) => b.firstOffset - a.firstOffset)
  }

  /** Whether the next batch is one of control records, or of an aborted transaction. `last`: its last offset. */
  hide(batch: Buffer, last: number): boolean {
    const attributes = batch.readInt16BE(batchAt.attributes)
    for (let next = this.#later.at(-1); next !== undefined && next.firstOffset <= last; next = this.#later.at(-1)) {
      this.#producers.add(next.producerId)
      this.#later.pop()
    }
    const producerId = Number(batch.readBigInt64BE(batchAt.producerId))
    if ((attributes & controlMask) === 0) return (attributes & transactionalMask) > 0 && this.#producers.has(producerId)
    if (new Cursor(batch.subarray(batchAt.records), batch).record(nowhere)?.key?.equals(abortMarker))
      this.#producers.delete(producerId)
    return true
  }
}

const nowhere: TopicPartition = { topic: '', partition: 0 }

/** Returns why the batch cannot be read, or not to its end. */
async function decodeBatch(
  batch: Buffer,
  { firstOffset, offset: last }: { firstOffset: number; offset: number },
  { offset: from, ...place }: Position,
  { records, unread }: Decoded,
  room: Room,
): Promise<string | undefined> {
  const codec = batch.readInt16BE(batchAt.attributes) & codecMask
  const count = batch.readInt32BE(batchAt.recordCount)
  if (codec !== 0 && count > batchRecordsMax)
    return `It has ${count} records; at most ${batchRecordsMax} where they are compressed.`
  let bytes = batch.subarray(batchAt.records)
  if (codec !== 0)
    try {
      bytes = await unpacked(codec, bytes)
      room.unpackedBytes -= bytes.length
    } catch (error) {
      return messageOf(error)
    }
  const cursor = new Cursor(bytes, batch)
  let passed = firstOffset - 1
  for (let index = 0, countAtYield = 0; index < count; index++) {
    const record = cursor.record(place)
    if (record === undefined) return 'Its records do not end where they say.'
    const { offset } = record
    // Brokers check these offsets only when they decompress. A reader that continued after a wrong offset would skip records or
    // leave the log.
    if (!(offset > passed && offset <= last)) return 'Its records have offsets that are not its own.'
    passed = offset
    if (cursor.headerCount > headersMax)
      unread.push({ firstOffset: offset, offset, problem: `It has ${cursor.headerCount} headers; at most ${headersMax}.` })
    else if (offset >= from) records.push(record)
    if (index + cursor.headersRead - countAtYield < yieldAfter) continue
    countAtYield = index + cursor.headersRead
    await yieldToEventLoop()
  }
  return undefined
}

const noHeaders: Record<string, Buffer> = Object.freeze({})

class Cursor {
  readonly #bytes: Buffer
  readonly #firstOffset: number
  readonly #firstMs: number
  /** The time at which the broker appended the batch, if that is the time of its records. */
  readonly #appendMs: number | undefined
  #at = 0
  headersRead = 0
  /** Of the last record. Too many of them are not read. */
  headerCount = 0

  /** `bytes`: the records of the batch, decompressed. */
  constructor(bytes: Buffer, batch: Buffer) {
    this.#bytes = bytes
    this.#firstOffset = Number(batch.readBigInt64BE(batchAt.firstOffset))
    this.#firstMs = Number(batch.readBigInt64BE(batchAt.firstTime))
    const isAppendTime = (batch.readInt16BE(batchAt.attributes) & appendTimeMask) > 0
    this.#appendMs = isAppendTime ? Number(batch.readBigInt64BE(batchAt.lastTime)) : undefined
  }

  /** The next record; undefined if the bytes are not a record. */
  record({ topic, partition }: TopicPartition): RecordIn | undefined {
    const length = this.#varint()
    const end = this.#at + length
    if (!(length >= 0 && end <= this.#bytes.length)) return undefined
    // Its attributes say nothing.
    this.#at++
    const timestampMs = this.#firstMs + this.#varint()
    const offset = this.#firstOffset + this.#varint()
    const key = this.#slice()
    const value = this.#slice()
    const count = this.#varint()
    if (!Number.isSafeInteger(offset) || key === undefined || value === undefined || !(count >= 0)) return undefined
    this.headerCount = count
    let headers: Record<string, Buffer> | undefined = noHeaders
    if (count > headersMax) this.#at = end
    else if (count > 0) headers = this.#headers(count)
    if (headers === undefined || this.#at !== end) return undefined
    const record: RecordIn = { topic, partition, offset, timestampMs, key, value, headers }
    if (this.#appendMs !== undefined) Object.assign(record, { timestampMs: this.#appendMs, byBroker: true })
    return record
  }

  /** Of repeated headers the last one, like Kafka's own lastHeader(). */
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

/** Before they are skipped: never silently. */
export function reportUnread(
  unread: readonly Unread[],
  { topic, partition }: TopicPartition,
  { logger, onUnread }: { logger: Pick<Logger, 'error'>; onUnread?: (() => void) | undefined },
): void {
  for (const { firstOffset, offset, problem } of unread) {
    onUnread?.()
    logger.error(
      { event: 'records-unreadable', topic, partition, firstOffset, offset },
      `Records of ${topic}/${partition} cannot be read and are skipped: ${problem}`,
    )
  }
}
