/** Turns what kafkajs fetched into our records. Hot: every definition, event and execution of the process passes here. */
import type { KafkaMessage } from 'kafkajs'
import type { RecordIn } from '../ports.ts'

/** Shared by all records without headers, which are nearly all. */
const noHeaders: Record<string, Buffer> = Object.freeze({})

export function recordsOf(topic: string, partition: number, messages: KafkaMessage[]): RecordIn[] {
  const records: RecordIn[] = new Array(messages.length)
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index] as KafkaMessage
    records[index] = {
      topic,
      partition,
      offset: +message.offset,
      timestampMs: +message.timestamp,
      key: message.key,
      value: message.value,
      headers: headersOf(message.headers),
    }
  }
  return records
}

function headersOf(headers: KafkaMessage['headers']): Record<string, Buffer> {
  let result = noHeaders
  for (const name in headers) {
    if (result === noHeaders) result = {}
    const value = headers[name]
    // Of repeated headers the last counts, as with Kafka's own lastHeader().
    const last = Array.isArray(value) ? value[value.length - 1] : value
    result[name] = Buffer.isBuffer(last) ? last : Buffer.from(last ?? '')
  }
  return result
}
