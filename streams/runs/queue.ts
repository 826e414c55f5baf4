/** Overlap QUEUE_ONE: the occurrence that waits for the active run to end. */
import { type Context, type Decision, patchState, skip } from '../state/index.ts'
import { startRun } from './start.ts'
import { isOver } from './validity.ts'

/** Starts what waits, if nothing is in its way any more. */
export function startQueued(draft: Decision, context: Context): void {
  const { state, definition } = draft.job
  const spec = definition?.spec
  if (state === undefined || spec === undefined || state.queuedFor === null) return
  if (state.status !== 'ACTIVE' || state.active.length > 0) return
  const { queuedFor } = state
  patchState(draft, { queuedFor: null })
  if (isOver(spec, context.now)) {
    return skip(draft, 'expired', 1, { at: context.now, scheduledFor: queuedFor })
  }
  startRun(draft, spec, 'SCHEDULE', queuedFor, Math.max(queuedFor, context.now), context)
}
