/** When a job is done. */
import { type Decision, patchState } from '../state/index.ts'

/** A job with nothing ahead and nothing active is COMPLETED, and its deletion is set. */
export function completeIfDone(draft: Decision, now: number): void {
  const { state, definition } = draft.job
  if (state === undefined || state.nextFireAt !== null || state.active.length > 0) return
  if (state.queuedFor !== null || state.backfill !== null) return
  if (state.status === 'INVALID' || definition?.spec === undefined) return
  const { retainCompletedMs, retainFailedMs } = definition.spec
  const failed = state.lastRun !== null && !['SUCCEEDED', 'CANCELLED', 'DISPATCHED'].includes(state.lastRun.status)
  patchState(draft, { status: 'COMPLETED', finishedAt: now, deleteAt: now + (failed ? retainFailedMs : retainCompletedMs) })
}
