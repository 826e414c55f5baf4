/** From a run to the record that a worker reads. */
import type { ActiveRun, Execution } from '../../schemas/generated.ts'
import { patchRun } from '../draft.ts'
import type { Context, Decision, Job } from '../job.ts'

/** The Execution of a run's current attempt: from its snapshot, or from the definition that it was made from. */
export function executionOf(job: Job, run: ActiveRun, dispatchedAt: number): Execution {
  const kept = run.snapshot ? job.snapshots?.get(run.runNo) : undefined
  const spec = job.definition?.spec
  return {
    jobId: job.id,
    runNo: run.runNo,
    attempt: run.attempt,
    specOffset: run.specOffset,
    handler: kept?.handler ?? spec?.target.handler ?? '',
    scheduledFor: run.scheduledFor,
    dueAt: run.dueAt,
    dispatchedAt,
    trigger: run.trigger,
    payload: kept !== undefined ? kept.payload : (spec?.payload ?? null),
    contentType: kept !== undefined ? kept.contentType : (spec?.contentType ?? null),
    headers: kept?.headers ?? spec?.headers ?? {},
    pool: kept?.pool ?? spec?.target.pool ?? 'default',
    priority: kept?.priority ?? spec?.priority ?? 'NORMAL',
    attemptTimeoutMs: run.attemptTimeoutMs,
    leaseMs: run.leaseMs,
    startDeadlineAt: run.startDeadlineAt,
    pinTo: kept !== undefined ? kept.pinTo : (spec?.pinTo ?? null),
  }
}

/** Hands the current attempt of a run to the workers. */
export function dispatch(draft: Decision, run: ActiveRun, context: Context): void {
  const { now } = context
  const startDeadlineMs = run.startDeadlineAt - Math.max(run.dueAt, run.dispatchedAt)
  const dispatched = patchRun(draft, run, {
    status: 'DISPATCHED',
    parked: false,
    dispatchedAt: now,
    startDeadlineAt: Math.min(
      Math.max(run.dueAt, now) + startDeadlineMs,
      draft.job.definition?.spec?.expireAt ?? Number.POSITIVE_INFINITY,
    ),
    startedAt: null,
    worker: null,
  })
  const execution = executionOf(draft.job, dispatched, now)
  // A pinned one travels apart from the others, where there is no ahead lane.
  const ahead = execution.pinTo === null && run.dueAt - now > context.leadMs
  draft.out.push({ kind: 'dispatch', execution, ahead })
}
