/** The end of a run: its record, the counters of the job, and the next steps of the job. */
import type { ActiveRun, Cause, FinishedRun, JobState, RunStatus } from '../../schemas/index.ts'
import { nextFireAfterEnd } from '../schedules/index.ts'
import { type Context, type Decision, patchState, pristineState, refuse, runNameOf } from '../state/index.ts'
import { hiddenHash } from '../text/index.ts'
import { goOnWithBackfill } from './backfill.ts'
import { triggerFollowers } from './chain.ts'
import { deadRunsKept, endedRunOf, endKept, unstartedAtEnd } from './ended-run.ts'
import { dropDeadSnapshot, dropSnapshot, hasOwnInput } from './snapshots.ts'
import { completeIfDone, startQueued } from './start.ts'

export interface Ending {
  status: Extract<RunStatus, 'SUCCEEDED' | 'DEAD' | 'EXPIRED' | 'CANCELLED'>
  finishedAt: number
  startedAt?: number | null
  worker?: string | null
  result?: Buffer | null
  /** Which part of its report is missing. */
  note?: string | undefined
  /** Why it ended so, if the status does not say it. */
  reason?: string
}

export function finishRun(draft: Decision, run: ActiveRun, ending: Ending, context: Context): void {
  const state = draft.job.state ?? pristineState(draft.job)
  const finished: FinishedRun = {
    runNo: run.runNo,
    scheduledFor: run.scheduledFor,
    trigger: run.trigger,
    commandId: run.commandId,
    status: ending.status,
    attempts: run.attempt,
    unstartedAttempts: unstartedAtEnd(run, ending.status),
    startedAt: ending.startedAt ?? run.startedAt,
    finishedAt: ending.finishedAt,
    worker: ending.worker ?? run.worker,
    result: ending.result ?? null,
    note: ending.note ?? null,
    errors: run.errors,
    hiddenHash: hiddenHashOf(draft, run),
    specOffset: run.specOffset,
    dueAt: run.dueAt,
    dispatchedAt: run.dispatchedAt,
    hasOwnInput: hasOwnInput(run),
  }
  draft.endedRuns.push(endedRunOf(draft.job, run, finished, ending.reason ?? (ending.status === 'DEAD' ? 'attempts' : undefined)))
  if (state.lastRun !== null) draft.historyPuts.push(state.lastRun)
  const { dropped, ...dead } = deadAfter(draft, state, finished, context)
  patchState(draft, {
    active: state.active.filter((other) => other.runNo !== run.runNo),
    lastRun: finished,
    waiting: false,
    ...dead,
    ...countersOf(state, ending.status),
  })
  dropSnapshot(draft, run)
  for (const runNo of dropped) dropDeadSnapshot(draft, runNo)
  if (ending.status !== 'SUCCEEDED') {
    const { status: what, finishedAt: at, reason = 'attempts' } = ending
    refuse(draft, { at, what, reason, scheduledFor: run.scheduledFor, runNo: run.runNo })
  }
  draft.notes.push({ kind: 'ended', status: ending.status })
  triggerAfter(draft, run, finished)
  armIntervalFromEnd(draft, run, ending)
  startQueued(draft, context)
  goOnWithBackfill(draft, context)
  completeIfDone(draft, ending.finishedAt)
}

/** Its snapshot is kept already. */
function deadAfter(
  draft: Decision,
  { deadRuns, deadRunsDropped }: JobState,
  run: FinishedRun,
  { mayKeepDead = true }: Context,
): Pick<JobState, 'deadRuns' | 'deadRunsDropped'> & { dropped: number[] } {
  if (run.status !== 'DEAD') return { deadRuns, deadRunsDropped, dropped: [] }
  draft.deadEnds.push(endKept(run))
  const first = deadRuns.length + 1 - deadRunsKept(draft.job.snapshots?.get(run.runNo), deadRuns.length, mayKeepDead)
  const dropped = deadRuns.slice(0, Math.max(0, first))
  return {
    deadRuns: [...deadRuns.slice(dropped.length), run.runNo],
    deadRunsDropped: deadRunsDropped + dropped.length,
    dropped,
  }
}

/** Ends a run before it has ended by itself. Later reports of its worker are stale. The worker gets a cancellation. */
export function cancelRun(draft: Decision, run: ActiveRun, reason: string, context: Context): void {
  announceCancellation(draft, run, reason)
  finishRun(draft, run, { status: 'CANCELLED', finishedAt: context.now, reason }, context)
}

/** Ends a run together with its job: nothing is left to decide about it. */
export function endWithJob(draft: Decision, run: ActiveRun, finishedAt: number): void {
  announceCancellation(draft, run, 'deleted')
  const { runNo, scheduledFor, trigger, commandId, attempt: attempts, startedAt, worker, specOffset, errors } = run
  const { dueAt, dispatchedAt } = run
  const made = { runNo, scheduledFor, trigger, commandId, attempts, startedAt, worker, specOffset, errors }
  const unstartedAttempts = unstartedAtEnd(run, 'CANCELLED')
  const unknown = { unstartedAttempts, result: null, note: null, hiddenHash: null, hasOwnInput: hasOwnInput(run) }
  const finished: FinishedRun = { ...made, dueAt, dispatchedAt, status: 'CANCELLED', finishedAt, ...unknown }
  draft.endedRuns.push(endedRunOf(draft.job, run, finished, 'deleted'))
  draft.notes.push({ kind: 'ended', status: 'CANCELLED' })
}

/** Announces to the workers that the attempt must not run or must stop. No worker knows an attempt that was not dispatched. */
export function announceCancellation(draft: Decision, { runNo, attempt, specOffset, status }: ActiveRun, reason: string): void {
  if (status !== 'RETRY_WAIT' && status !== 'WAITING') draft.out.push({ kind: 'cancel', runNo, attempt, specOffset, reason })
}

/** Null for a redriven run, because it uses the snapshot of the dead run. */
function hiddenHashOf({ job: { definition } }: Decision, { specOffset, trigger }: ActiveRun): number | null {
  if (definition?.spec === undefined || definition.offset !== specOffset || trigger === 'REDRIVE') return null
  return hiddenHash(definition.spec)
}

function countersOf({ succeeded, failed, cancelled }: JobState, status: Ending['status']): Partial<JobState> {
  if (status === 'SUCCEEDED') return { succeeded: succeeded + 1 }
  return status === 'CANCELLED' ? { cancelled: cancelled + 1 } : { failed: failed + 1 }
}

function triggerAfter(draft: Decision, run: ActiveRun, finished: FinishedRun): void {
  const { status, finishedAt } = finished
  const spec = draft.job.definition?.spec
  if (spec === undefined || (status !== 'SUCCEEDED' && status !== 'DEAD' && status !== 'EXPIRED')) return
  // By the life and not by an offset of `jobs`: a copy has other offsets, and may hold this command already.
  const [jobId, { runNo }, life] = [draft.job.id, run, draft.job.state?.life ?? '']
  const commandId = `after:${jobId}/${runNameOf({ runNo, life })}`
  const followers = status === 'SUCCEEDED' ? spec.onSuccess : spec.onFailure
  if (followers.length === 0) return
  const error = status === 'SUCCEEDED' ? undefined : finished.errors.at(-1)
  const cause: Cause = {
    ...{ jobId, runNo, life, outcome: status, scheduledFor: run.scheduledFor, finishedAt },
    ...{ errorType: error?.type ?? null, errorMessage: error?.message ?? null, result: finished.result },
  }
  triggerFollowers(draft, run, { commandId, at: finishedAt, cause }, followers)
}

function armIntervalFromEnd(draft: Decision, run: ActiveRun, { status, finishedAt }: Ending): void {
  const { state, definition } = draft.job
  const spec = definition?.spec
  if (state === undefined || spec === undefined || run.trigger !== 'SCHEDULE') return
  // The run that replaced it has an end of its own.
  if (status === 'CANCELLED' && state.active.some(({ trigger }) => trigger === 'SCHEDULE')) return
  if (spec.schedule.everyMs === null || spec.schedule.from !== 'END' || state.nextFireAt !== null) return
  if (spec.maxRuns !== null && state.scheduledRuns >= spec.maxRuns) return
  patchState(draft, { nextFireAt: nextFireAfterEnd(spec, finishedAt) })
}
