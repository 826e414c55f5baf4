/** The end of a job: its validity and its completion. */
import type { JobDefinition } from '../../schemas/index.ts'
import { type Decision, patchState } from '../state/index.ts'

/** Whether expireAt has come. It is exclusive, so a run has to start before it. */
export const isOver = ({ expireAt }: JobDefinition, now: number): boolean => expireAt !== null && now >= expireAt

/** Makes a job without future occurrence and active run COMPLETED, and sets its deletion. */
export function completeIfDone(draft: Decision, now: number): void {
  const { state, definition } = draft.job
  if (state === undefined || state.nextFireAt !== null || state.active.length > 0) return
  if (state.queuedFor !== null || state.backfill !== null || state.followUps !== null) return
  if (state.status === 'INVALID' || definition?.spec === undefined) return
  const { retainCompletedMs, retainFailedMs } = definition.spec
  const failed = state.lastRun !== null && !['SUCCEEDED', 'CANCELLED', 'DISPATCHED'].includes(state.lastRun.status)
  patchState(draft, { status: 'COMPLETED', finishedAt: now, deleteAt: now + (failed ? retainFailedMs : retainCompletedMs) })
}
