/**
 * Repeated delivery of a run that was sent to one worker. A worker reads worker-control only from its own start. So a worker that was down, or
 * that restarts after it has released a run, would never get it. A worker that already has the attempt takes it only once.
 */
import type { ActiveRun } from '../../schemas/index.ts'
import { type Context, type Decision, patchRun } from '../state/index.ts'
import { controlRetentionMs } from '../topics/index.ts'
import { executionOf } from './dispatch.ts'
import { sendElsewhere } from './missing-handler.ts'

/** The longest time between two deliveries. A worker that comes back waits for its runs as long as it was down, but not longer than this. */
export const redeliverMsMax = 120_000

/** The first delivery is repeated one lease after the due time. Later the wait is as long as the run has waited already. */
export function redeliver(draft: Decision, run: ActiveRun, context: Context): void {
  const { now } = context
  const { tellAt, dueAt, dispatchedAt, leaseMs } = run
  if (tellAt !== null && tellAt > now) {
    // The clock was set back since the timer was taken.
    draft.deferUntil = tellAt
    return
  }
  if (sendElsewhere(draft, run, context)) return
  // A worker that was chosen because it was there reads the first copy, however long its backlog is. It forgets the oldest of many attempts, so a
  // second copy could run twice.
  const isRead = run.routedTo !== null && now - Math.max(dueAt, dispatchedAt) < controlRetentionMs / 2
  const waitedMs = Math.min(now - Math.max(dueAt, dispatchedAt), redeliverMsMax)
  const redelivered = patchRun(draft, run, { tellAt: now + Math.max(waitedMs, leaseMs) })
  const execution = executionOf(draft.job, redelivered, dispatchedAt)
  const to = run.routedTo ?? execution.pinTo
  if (to !== null && !isRead) draft.out.push({ kind: 'redeliver', execution, to })
}
