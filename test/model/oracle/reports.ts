/** The reports of workers for each attempt: which are durable, and when they became durable. */
import type { ExecutionEvent } from '../../../schemas/generated.ts'
import type { MemoryLog } from '../../tools/memory-log.ts'
import { read, readable, shown, topics } from './reading.ts'

export interface Report {
  type: ExecutionEvent['type']
  errorType: string | undefined
  appendedAt: number
  /** When it became visible, and its order among all appends. */
  at: number
  order: number
  /** It has expired from the log since. */
  isGone: boolean
}

export type Reports = Map<string, Report[]>

/** The name of an attempt. */
export interface AttemptName {
  jobId: string
  specOffset: number
  runNo: number
  attempt: number
}

export const attemptName = ({ jobId, specOffset, runNo, attempt }: AttemptName): string =>
  `${jobId} ${specOffset} ${runNo} ${attempt}`

export function reportsOf(log: MemoryLog): Reports {
  const reports: Reports = new Map()
  for (const { record, at: appendedAt, visibleAt: at, visibleOrder: order } of shown(log, topics.events)) {
    const event = readable(read.event, record?.value)
    if (event === undefined || record?.key?.toString() !== event.jobId) continue
    const name = attemptName(event)
    const known = reports.get(name) ?? []
    reports.set(name, known)
    const isGone = record.offset < log.at(topics.events, record.partition).earliest
    known.push({ type: event.type, errorType: event.error?.type, appendedAt, at, order, isGone })
  }
  return reports
}
