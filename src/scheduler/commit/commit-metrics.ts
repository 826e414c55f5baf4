/** Metrics of a commit cycle. */
import type { Note } from '../../../streams/state/index.ts'
import type { Shared } from '../options/index.ts'
import type { BatchResult } from './batch-result.ts'

/** Counts what a commit has sent, and how late it was. */
export function measureDispatches(
  { clock, metrics }: Shared,
  { dispatched, written, receipts, startedLateMs, retries }: BatchResult,
): void {
  const now = clock.nowMs()
  for (const { pool, dueAt } of dispatched) {
    metrics.dispatched.inc({ pool })
    metrics.dueToCommit.observe((now - dueAt) / 1_000)
  }
  for (const { topic, scheduledFor } of written) {
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
