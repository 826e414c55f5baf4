/** What stands in the topics of a test system: records that jobs and handlers wrote, and lines of run.log. */
import type { RunLog } from '../../schemas/index.ts'
import type { RunLogLine } from '../answers/index.ts'
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

/** A line that a handler gave to `run.log`, as the API answers it. */
export type TestLogLine = RunLogLine

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
    const { life, worker, attempt, firstNo } = written
    for (const [at, line] of written.lines.entries()) {
      const no = firstNo + at
      const { level, text, fields, shortened } = line
      const values = fields === null ? null : JSON.parse(fields)
      const shown = { at: isoTime(line.at), level: level as RunLogLine['level'], text, fields: values, shortened }
      lines.set(`${life} ${worker} ${attempt} ${no}`, { ...shown, attempt, no, worker })
    }
  }
  return [...lines.values()]
}
