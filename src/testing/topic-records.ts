/** What stands in the topics of a test system: records that jobs and handlers wrote, and lines of run.log. */
import type { RunLog } from '../../schemas/index.ts'
import { isoTime, parsedJson } from './json-values.ts'
import { codecs, names } from './processes.ts'
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

/** A line that a handler gave to `run.log`. */
export interface TestLogLine {
  attempt: number
  /** ISO 8601 in UTC. */
  at: string
  level: string
  text: string
  fields: Record<string, string | number | boolean | null> | null
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
          ...{ topic, partition, offset, at: isoTime(timestampMs), key: key?.toString() ?? null },
          ...{ value: value === null ? null : parsedJson(value), valueBytes: value, headers: Object.fromEntries(texts) },
        },
      ]
    })
}

/** The lines of a run in their order. A record that was written twice repeats its lines; they are there once. */
export function logLinesOf(log: MemoryLog, partition: number, jobId: string, runNo: number): TestLogLine[] {
  const lines = new Map<string, TestLogLine>()
  for (const { key, value } of log.at(names.runLogs, partition).read(0, Number.POSITIVE_INFINITY).records) {
    if (value === null || key?.toString() !== jobId) continue
    const written = codecs().runLog.decode(value) as RunLog
    if (written.runNo !== runNo) continue
    for (const [at, line] of written.lines.entries())
      lines.set(`${written.life} ${written.worker} ${written.attempt} ${written.firstNo + at}`, {
        ...{ attempt: written.attempt, at: isoTime(line.at), level: line.level, text: line.text },
        fields: line.fields === null ? null : JSON.parse(line.fields),
      })
  }
  return [...lines.values()]
}
