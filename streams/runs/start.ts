/** The beginning of a run. */
import type { ActiveRun, JobDefinition, Trigger } from '../../schemas/generated.ts'
import { patchState, pristineState } from '../draft.ts'
import type { Context, Decision } from '../job.ts'
import { dispatch } from './dispatch.ts'

/** Begins a run and dispatches its first attempt. */
export function startRun(
  draft: Decision,
  spec: JobDefinition,
  trigger: Trigger,
  scheduledFor: number,
  dueAt: number,
  context: Context,
  more: Partial<ActiveRun> = {},
): ActiveRun {
  const before = draft.job.state ?? pristineState(draft.job)
  const runNo = before.runNo + 1
  const run: ActiveRun = {
    runNo,
    specOffset: draft.job.definition?.offset ?? -1,
    scheduledFor,
    trigger,
    commandId: null,
    status: 'DISPATCHED',
    attempt: 1,
    releasedAttempts: 0,
    dueAt,
    parked: false,
    tellAt: null,
    snapshot: false,
    startDeadlineAt: Math.min(Math.max(dueAt, context.now) + spec.startDeadlineMs, spec.expireAt ?? Number.POSITIVE_INFINITY),
    leaseMs: spec.leaseMs,
    attemptTimeoutMs: spec.attemptTimeoutMs,
    dispatchedAt: context.now,
    startedAt: null,
    worker: null,
    errors: [],
    ...more,
  }
  const scheduled = trigger === 'SCHEDULE'
  const scheduledRuns = before.scheduledRuns + (scheduled ? 1 : 0)
  const spent = spec.maxRuns !== null && scheduledRuns >= spec.maxRuns
  patchState(draft, {
    runNo,
    scheduledRuns,
    latestFiredFor: scheduled ? Math.max(scheduledFor, before.latestFiredFor ?? scheduledFor) : before.latestFiredFor,
    nextFireAt: spent ? null : before.nextFireAt,
    active: [...before.active, run],
    finishedAt: null,
    deleteAt: null,
  })
  dispatch(draft, run, context)
  return run
}
