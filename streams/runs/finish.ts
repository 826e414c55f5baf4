/** The end of a run: its record, the job's counters, and what the job does next. */
import type { ActiveRun, FinishedRun, RunStatus } from '../../schemas/generated.ts'
import { patchState, pristineState } from '../draft.ts'
import type { Decision } from '../job.ts'
import { nextFireAfterEnd } from '../schedules/next-fire.ts'

export interface Ending {
  status: Extract<RunStatus, 'SUCCEEDED' | 'DEAD' | 'EXPIRED'>
  finishedAt: number
  startedAt?: number | null
  worker?: string | null
  result?: Buffer | null
}

export function finishRun(draft: Decision, run: ActiveRun, ending: Ending): void {
  const state = draft.job.state ?? pristineState(draft.job)
  const finished: FinishedRun = {
    runNo: run.runNo,
    scheduledFor: run.scheduledFor,
    trigger: run.trigger,
    commandId: run.commandId,
    status: ending.status,
    attempts: run.attempt,
    startedAt: ending.startedAt ?? run.startedAt,
    finishedAt: ending.finishedAt,
    worker: ending.worker ?? run.worker,
    result: ending.result ?? null,
    errors: run.errors,
  }
  if (state.lastRun !== null) draft.ring.push(state.lastRun)
  if (run.snapshot) draft.snapshotDeletes.push(run.runNo)
  const succeeded = ending.status === 'SUCCEEDED'
  patchState(draft, {
    active: state.active.filter((other) => other.runNo !== run.runNo),
    lastRun: finished,
    waiting: false,
    succeeded: state.succeeded + (succeeded ? 1 : 0),
    failed: state.failed + (succeeded ? 0 : 1),
  })
  draft.notes.push({ kind: 'ended', status: ending.status })
  armIntervalFromEnd(draft, run, ending.finishedAt)
  completeIfDone(draft, ending.finishedAt)
}

function armIntervalFromEnd(draft: Decision, run: ActiveRun, endedAt: number): void {
  const { state, definition } = draft.job
  const spec = definition?.spec
  if (state === undefined || spec === undefined || run.trigger !== 'SCHEDULE') return
  if (spec.schedule.everyMs === null || spec.schedule.from !== 'END' || state.nextFireAt !== null) return
  if (spec.maxRuns !== null && state.scheduledRuns >= spec.maxRuns) return
  patchState(draft, { nextFireAt: nextFireAfterEnd(spec, endedAt) })
}

/** A job with nothing ahead and nothing active is COMPLETED, and its deletion is set. */
export function completeIfDone(draft: Decision, now: number): void {
  const { state, definition } = draft.job
  if (state === undefined || state.nextFireAt !== null || state.active.length > 0) return
  if (state.status === 'INVALID' || definition?.spec === undefined) return
  const { retainCompletedMs, retainFailedMs } = definition.spec
  const failed = state.lastRun !== null && state.lastRun.status !== 'SUCCEEDED'
  patchState(draft, { status: 'COMPLETED', finishedAt: now, deleteAt: now + (failed ? retainFailedMs : retainCompletedMs) })
}
