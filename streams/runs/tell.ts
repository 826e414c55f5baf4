/**
 * The worker of a pinned run is told of it again. It reads what it is told from its start on, so one that was away, or starts again after
 * it has given a run back, would never hear of it. A worker that has the attempt already takes it once.
 */
import type { ActiveRun } from '../../schemas/index.ts'
import { type Context, type Decision, patchRun } from '../state/index.ts'
import { executionOf } from './dispatch.ts'

/** The longest time between two tellings. A worker that comes back waits for its runs as long as it was away, and not longer than this. */
export const redeliverMsMax = 120_000

/** A lease after the run was due, then as long after that as it has waited already. */
export function redeliver(draft: Decision, run: ActiveRun, { now }: Context): void {
  const { tellAt, dueAt, dispatchedAt, leaseMs } = run
  if (tellAt !== null && tellAt > now) {
    // The clock went back since the timer was taken.
    draft.deferUntil = tellAt
    return
  }
  const waitedMs = Math.min(now - Math.max(dueAt, dispatchedAt), redeliverMsMax)
  const told = patchRun(draft, run, { tellAt: now + Math.max(waitedMs, leaseMs) })
  draft.out.push({ kind: 'tell', execution: executionOf(draft.job, told, dispatchedAt) })
}
