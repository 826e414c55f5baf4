/** Metrics of a commit cycle, and the facts of an applied input that they count. */
import type { ActiveRun } from '../../../schemas/index.ts'
import type { AttemptId, Input, Job, Note } from '../../../streams/state/index.ts'
import type { Shared } from '../options/index.ts'
import type { BatchResult } from './batch-result.ts'

/** Counts what a commit has sent, and how late it was. */
export function measureDispatches(
  { clock, metrics }: Shared,
  { dispatched, topicRecords, receipts, startedLateMs, retries }: BatchResult,
): void {
  const now = clock.nowMs()
  for (const { pool, dueAt } of dispatched) {
    metrics.dispatched.inc({ pool })
    metrics.dueToCommit.observe((now - dueAt) / 1_000)
  }
  for (const { topic, scheduledFor } of topicRecords) {
    metrics.targetRecords.inc({ topic })
    metrics.targetLateness.observe((now - scheduledFor) / 1_000)
  }
  for (const lateMs of startedLateMs) metrics.reportedLateness.observe(lateMs / 1_000)
  metrics.retries.inc(retries)
  for (const outcome of receipts) metrics.receipts.inc({ outcome })
}

/** Counts the notes of the steps of a cycle. */
export function count({ metrics }: Shared, notes: Note[]): void {
  for (const note of notes) {
    if (note.kind === 'skipped') metrics.skipped.inc({ reason: note.reason }, note.count)
    else if (note.kind === 'stale') metrics.staleEvents.inc({ type: note.what })
    else if (note.kind === 'lease-lost') metrics.leasesLost.inc()
    else if (note.kind === 'waiting') metrics.waits.inc({ reason: note.reason })
    else if (note.kind === 'moved') metrics.zoneMoved.inc()
    else if (note.kind === 'refused') metrics.refused.inc({ what: note.what, reason: note.reason }, note.count)
    else if (note.kind === 'shortened') metrics.shortened.inc({ what: 'state' })
    else if (note.kind === 'invalid') metrics.invalid.inc({ reason: 'bad-definition' })
    else {
      metrics.runs.inc({ status: note.status })
      if (note.status === 'DEAD') metrics.deadLetters.inc()
    }
  }
}

/** Start lateness of the handler in ms if the input is the first report of it; never below 0. */
export function startLatenessMs(before: Job, input: Input): number | undefined {
  if (input.kind !== 'event') return undefined
  const { type, startedAt, at, runNo, attempt, specOffset } = input.event
  if (type !== 'STARTED' && startedAt === null) return undefined
  const run = before.state?.active.find((candidate) => candidate.runNo === runNo)
  if (run?.status !== 'DISPATCHED' || run.attempt !== attempt || run.specOffset !== specOffset) return undefined
  return Math.max(0, (startedAt ?? at) - run.dueAt)
}

/** Whether the attempt is in-flight: it was dispatched and has not ended. */
export function isActive({ state }: Job, { runNo, attempt, specOffset }: AttemptId): boolean {
  const run = state?.active.find((candidate) => candidate.runNo === runNo)
  return (run?.status === 'DISPATCHED' || run?.status === 'RUNNING') && run.attempt === attempt && run.specOffset === specOffset
}

/** Number of runs whose attempt failed and will be retried. */
export function retriesIn(before: readonly ActiveRun[], after: readonly ActiveRun[]): number {
  let retries = 0
  for (const run of after) {
    const earlier = before.find(({ runNo }) => runNo === run.runNo)
    if (earlier !== undefined && run.attempt > earlier.attempt && run.errors.at(-1) !== earlier.errors.at(-1)) retries++
  }
  return retries
}
