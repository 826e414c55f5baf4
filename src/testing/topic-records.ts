/** What stands in the topics of a test system: records that jobs and handlers wrote. */
import { valueOrText } from '../../streams/definitions/index.ts'
import { isoTime } from '../../streams/text/index.ts'
import type { MemoryLog } from './simulation/index.ts'

/** A record of a topic. */
export interface TestRecord {
  topic: string
  partition: number
  offset: number
  /** When it was appended, ISO 8601 in UTC. */
  at: string
  /** As text; null without a key. */
  key: string | null
  /** The value of JSON; other bytes as text; null without a value. */
  value: unknown
  valueBytes: Buffer | null
  headers: Record<string, string>
}

/** Committed records in the order in which they were appended. */
export function recordsOf(log: MemoryLog, topic: string): TestRecord[] {
  const places = Array.from({ length: log.partitions }, (_, partition) => log.at(topic, partition))
  const entries = places
    .flatMap(({ entries }) => entries)
    .filter(({ transaction }) => transaction === undefined || transaction.state === 'committed')
  return entries
    .sort((a, b) => a.order - b.order)
    .flatMap(({ record }) => {
      if (record === undefined) return []
      const { partition, offset, timestampMs, key, value, headers } = record
      const texts = Object.entries(headers).map(([name, bytes]) => [name, bytes.toString()])
      return [
        {
          ...{ topic, partition, offset, at: String(isoTime(timestampMs)), key: key?.toString() ?? null },
          ...{ value: value === null ? null : parsedJson(value), valueBytes: value, headers: Object.fromEntries(texts) },
        },
      ]
    })
}

/** The value of JSON; other bytes as text. */
function parsedJson(bytes: Buffer): unknown {
  const text = bytes.toString()
  return text === 'null' ? null : (valueOrText(text) ?? text)
}
