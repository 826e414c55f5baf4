/** Checks of attempts that a living worker has begun: each ends with a report, unless its owner has cancelled it. */
import type { MemoryLog } from '../../tools/memory-log.ts'
import type { Facts } from './facts.ts'
import { read, readable, shown, topics } from './reading.ts'
import { attemptName, type Reports } from './reports.ts'

/** How long a report may take in a cluster at rest, in ms. */
const patienceMs = 3_000

const isFinal = (type: string): boolean => type === 'SUCCEEDED' || type === 'FAILED' || type === 'RELEASED'

/** The cluster must be at rest. */
export function begunProblems(log: MemoryLog, reports: Reports, { begun, nowMs }: Facts): string[] {
  const cancelled = shown(log, topics.control).flatMap(({ record }) => {
    const said = readable(read.control, record?.value)
    return said?.type === 'CANCEL' ? [said] : []
  })
  return begun.flatMap(({ worker, execution, atMs }) => {
    if (atMs + patienceMs > nowMs) return []
    const { jobId, runNo, attempt, specOffset } = execution
    if ((reports.get(attemptName(execution)) ?? []).some(({ type }) => isFinal(type))) return []
    const isMeant = cancelled.some(
      (said) =>
        said.jobId === jobId &&
        said.runNo === runNo &&
        said.attempt === attempt &&
        (said.specOffset === null || said.specOffset === specOffset),
    )
    return isMeant ? [] : [`${worker} began ${jobId}/${runNo}/${attempt} of ${specOffset} and never reported its end`]
  })
}
