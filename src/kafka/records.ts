/** Turns what kafkajs fetched into our records. Hot: every definition, event and execution of the process passes here. */
import type { KafkaMessage } from 'kafkajs'
import type { RecordIn } from '../ports.ts'

/** Shared by all records without headers, which are nearly all. */
const noHeaders: Record<string, Buffer> = Object.freeze({})

/** Timestamp type of a batch whose records have the broker's time. */
const appendTime = 1

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
    // kafkajs hands the batch's own fields along, and does not say so in its types.
    const { batchContext } = message as { batchContext?: { timestampType?: number } }
    if (batchContext?.timestampType === appendTime) (records[index] as RecordIn).byBroker = true
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
