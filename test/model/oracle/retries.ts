/** Checks of delay topics: each retry in them is reported to its owner when its delay is over, and not before. */
import type { MemoryLog } from '../../tools/memory-log.ts'
import type { Facts } from './facts.ts'
import { read, readable, shown, topics } from './reading.ts'
import { attemptName, type Reports } from './reports.ts'

/** How much before its due time a retry is reported, and how long it takes through the log at rest, in ms. */
const leadMs = 100
const patienceMs = 3_000

const unitsMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The delay in the name of the topic (docs/TOPICS.md). */
function delayMsOf(topic: string): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(topic.slice(topics.retry.length)) ?? []
  const delayMs = Number(count) * (unitsMs[unit] ?? Number.NaN)
  if (!Number.isFinite(delayMs)) throw new Error(`${topic} names no delay.`)
  return delayMs
}

export function retryProblems(log: MemoryLog, reports: Reports, { exact, whole, nowMs, doersAheadMs }: Facts): string[] {
  const problems: string[] = []
  for (const { record, at } of shown(log, topics.retry)) {
    const execution = readable(read.execution, record?.value)
    if (record === undefined || execution === undefined) continue
    const dueMs = at + delayMsOf(record.topic)
    const said = (reports.get(attemptName(execution)) ?? []).filter(({ type }) => type === 'RETRY_DUE')
    const name = `${execution.jobId}/${execution.runNo}/${execution.attempt} of ${record.topic}`
    for (const report of said) {
      if (report.appendedAt < dueMs - leadMs - doersAheadMs)
        problems.push(`${name} was reported ${dueMs - report.appendedAt} ms before it was of age`)
    }
    // A record that has expired, or that the log has lost, cannot be reported.
    if (exact && whole && said.length === 0 && dueMs + patienceMs < nowMs)
      problems.push(`${name} is of age since ${dueMs} and was never reported`)
  }
  return problems
}
