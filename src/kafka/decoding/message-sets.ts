/**
 * Decodes messages of formats 0 and 1, from before Kafka 0.11. Brokers keep old records, and foreign topics may hold them.
 * kafkajs decompresses such sets without a limit, and an error in one ends the fetches of all partitions, permanently.
 *
 *   0  offset i64 │ 8 length i32 │ 12 crc u32 │ 16 format i8 │ 17 attributes i8 │ in format 1: time i64 │ key │ value, each i32 and bytes
 *
 * A compressed message holds a message set in its value. Its offset is that of the last message in the set.
 */
import { messageOf } from '../../errors/index.ts'
import { batchAt, beforeLength } from './batch-layout.ts'
import { unpacked } from './decompression.ts'
import type { FetchedMessage, Room } from './fetched-message.ts'

const attributesAt = 17
const codecMask = 0x07
const appendTimeMask = 0x08
/** Size of a message without key and value. */
const bytesMin = 26
/** Length of an absent key or value. */
const none = -1

interface Message {
  offset: number
  codec: number
  isAppendTime: boolean
  /** -1 in format 0, as in Kafka. */
  timestamp: number
  format: number
  key: Buffer | null
  value: Buffer | null
}

/**
 * `bytes`: one whole message. Reduces `room` by the decompressed bytes. A set with more messages than `recordsMax` is not read.
 */
export async function decodeMessage(bytes: Buffer, messages: FetchedMessage[], room: Room, recordsMax: number): Promise<void> {
  const offset = Number(bytes.readBigInt64BE(0))
  const unread = (problem: string): void =>
    void messages.push({
      ...shown({ offset, timestamp: none, key: null, value: null }),
      unread: { firstOffset: offset, problem },
    })
  const message = messageIn(bytes)
  if (message === undefined) return unread('It does not end where it says.')
  if (message.codec === 0) return void messages.push(shown(message))
  try {
    const set = await unpacked(message.codec, message.value ?? Buffer.alloc(0))
    room.unpackedBytes -= set.length
    const inner = innerMessages(set, message, recordsMax)
    for (const one of inner) messages.push(shown(one))
  } catch (error) {
    unread(messageOf(error))
  }
}

/** Throws with the reason if they cannot be read. */
function innerMessages(set: Buffer, outer: Message, recordsMax: number): Message[] {
  const found: Message[] = []
  for (let at = 0; at < set.length; ) {
    const end = at + bytesMin <= set.length ? at + beforeLength + set.readInt32BE(at + batchAt.length) : Number.NaN
    const message = end - at >= bytesMin && end <= set.length ? messageIn(set.subarray(at, end)) : undefined
    if (message === undefined) throw new Error('Its messages do not end where they say.')
    if (message.codec !== 0) throw new Error('It holds a compressed message in a compressed one.')
    if (found.length >= recordsMax) throw new Error(`It has more than ${recordsMax} messages, the maximum.`)
    found.push(message)
    at = end
  }
  const last = found.at(-1)
  if (last === undefined) throw new Error('It holds no message.')
  // In format 1 the offsets are relative to the first message; in format 0 they are absolute.
  const base = outer.format === 1 ? outer.offset - last.offset : 0
  let before = -1
  for (const message of found) {
    message.offset += base
    if (outer.isAppendTime) Object.assign(message, { timestamp: outer.timestamp, isAppendTime: true })
    if (message.offset <= before || message.offset > outer.offset)
      throw new Error('Its messages have offsets that are not its own.')
    before = message.offset
  }
  return found
}

/** Undefined if the bytes are not one message. */
function messageIn(bytes: Buffer): Message | undefined {
  const format = bytes[batchAt.magic] as number
  const attributes = bytes[attributesAt] as number
  const timeBytes = format === 1 ? 8 : 0
  if (format > 1 || bytes.length < bytesMin + timeBytes) return undefined
  const keyAt = attributesAt + 1 + timeBytes
  const key = partAt(bytes, keyAt)
  const value = key && partAt(bytes, key.end)
  if (key === undefined || value === undefined || value.end !== bytes.length) return undefined
  return {
    ...{ offset: Number(bytes.readBigInt64BE(0)), codec: attributes & codecMask, format, key: key.bytes, value: value.bytes },
    isAppendTime: format === 1 && (attributes & appendTimeMask) > 0,
    timestamp: format === 1 ? Number(bytes.readBigInt64BE(attributesAt + 1)) : none,
  }
}

function partAt(bytes: Buffer, at: number): { bytes: Buffer | null; end: number } | undefined {
  if (at + 4 > bytes.length) return undefined
  const length = bytes.readInt32BE(at)
  const end = at + 4 + Math.max(0, length)
  if (length < none || end > bytes.length) return undefined
  return { bytes: length === none ? null : bytes.subarray(at + 4, end), end }
}

const noHeaders: Record<string, Buffer> = Object.freeze({})

/** The message as a batch of its own, without a transaction. */
function shown(message: Pick<Message, 'offset' | 'timestamp' | 'key' | 'value'> & Partial<Message>): FetchedMessage {
  const { offset, timestamp, key, value, isAppendTime = false } = message
  return {
    ...{ magicByte: 2, attributes: 0, timestamp: String(timestamp), offset: String(offset), key, value },
    ...{ headers: noHeaders, isControlRecord: false },
    batchContext: {
      ...{ firstOffset: String(offset), lastOffsetDelta: 0, producerId: '-1', inTransaction: false, isControlBatch: false },
      ...{ maxTimestamp: String(timestamp), timestampType: isAppendTime ? 1 : 0, magicByte: 2 },
    },
  }
}
