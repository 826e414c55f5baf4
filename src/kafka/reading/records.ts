/**
 * Converts fetched messages of kafkajs to our records. Hot path: every definition, event and execution of the process passes
 * here.
 */
import type { KafkaMessage } from 'kafkajs'
import type { RecordIn } from '../../ports/index.ts'
import { unreadOf } from './unreadable-records.ts'

/** Shared by all records without headers, which are nearly all. */
const noHeaders: Record<string, Buffer> = Object.freeze({})

/** Timestamp type of a batch with broker append time. */
const appendTime = 1

/** Leaves out unreadable messages. */
export function recordsOf(topic: string, partition: number, messages: KafkaMessage[]): RecordIn[] {
  const records: RecordIn[] = []
  for (const message of messages) {
    if (unreadOf(message) !== undefined) continue
    const record: RecordIn = {
      topic,
      partition,
      offset: +message.offset,
      timestampMs: +message.timestamp,
      key: message.key,
      value: message.value,
      headers: headersOf(message.headers),
    }
    // kafkajs passes the batch's own fields along, without declaring them in its types.
    const { batchContext } = message as { batchContext?: { timestampType?: number } }
    if (batchContext?.timestampType === appendTime) record.byBroker = true
    records.push(record)
  }
  return records
}

const ordinary = { configurable: true, enumerable: true, writable: true } as const

function headersOf(headers: KafkaMessage['headers']): Record<string, Buffer> {
  // Headers of our own decoder need no check (decoding/record-batches.ts), and there may be very many.
  if (headers !== undefined && Object.getPrototypeOf(headers) === null) return headers as Record<string, Buffer>
  let result = noHeaders
  for (const name in headers) {
    if (result === noHeaders) result = {}
    const value = headers[name]
    // Of repeated headers the last one counts, like Kafka's own lastHeader().
    const last = Array.isArray(value) ? value[value.length - 1] : value
    const bytes = Buffer.isBuffer(last) ? last : Buffer.from(last ?? '')
    // A header is only a name, so `__proto__` must not change the prototype.
    if (name === '__proto__') Object.defineProperty(result, name, { ...ordinary, value: bytes })
    else result[name] = bytes
  }
  return result
}
