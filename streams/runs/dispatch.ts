/** From a run to the record that a worker reads. */
import type { ActiveRun, Execution, Target } from '../../schemas/index.ts'
import { type Context, type Decision, type Job, patchRun } from '../state/index.ts'
import { snapshotNoOf } from './snapshots.ts'

/** What is further ahead than any lead may be was decided by a clock that was ahead; the most that DUELOG_LEAD_MS_MAX allows. */
export const aheadMsMax = 60_000

/** The Execution of a run's current attempt: from its snapshot, or from the definition that it was made from. */
export function executionOf(job: Job, run: ActiveRun, dispatchedAt: number): Execution {
  // With what the definition says now it would be another run: the rule fails, and with it this run alone.
  const snapshotNo = snapshotNoOf(run)
  const kept = snapshotNo === undefined ? undefined : job.snapshots?.get(snapshotNo)
  if (snapshotNo !== undefined && kept === undefined) {
    const problem = job.unreadableRuns?.get(snapshotNo) ?? 'it is not there'
    throw new Error(`What run ${run.runNo} was made with cannot be read: ${problem}`)
  }
  const spec = job.definition?.spec
  return {
    jobId: job.id,
    runNo: run.runNo,
    attempt: run.attempt,
    life: job.state?.life ?? '',
    specOffset: run.specOffset,
    handler: kept?.handler ?? (spec === undefined ? '' : handlerOf(spec.target)),
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
    tracked: kept?.tracked ?? spec?.trackRuns ?? true,
    httpTarget: kept !== undefined ? kept.httpTarget : (spec?.target.http ?? null),
    topicTarget: kept !== undefined ? kept.topicTarget : (spec?.target.topic ?? null),
  }
}

/** Which attempt it is, without what it is given: that may be what cannot be read, or what the log refuses. Never throws. */
export function bareExecution(job: Job, run: ActiveRun): Execution {
  const snapshotNo = snapshotNoOf(run)
  // Nobody knows the handler of a run whose making is lost, and that of the definition in force may be another.
  const isLost = snapshotNo !== undefined && !job.snapshots?.has(snapshotNo)
  const given = isLost
    ? executionOf({ ...job, definition: undefined }, { ...run, snapshot: false }, run.dispatchedAt)
    : executionOf(job, run, run.dispatchedAt)
  return { ...given, payload: null, contentType: null, headers: {}, httpTarget: null, topicTarget: null }
}

/** A worker holds what comes early until it is due. Nobody holds a record in a topic of the user's: it is written when it is due. */
export const mayBeEarly = (job: Job, run: ActiveRun): boolean => executionOf(job, run, run.dispatchedAt).topicTarget === null

/** The built-in handler that makes the requests of http targets. */
export const httpHandlerName = 'http'

const handlerOf = ({ handler, http }: Target): string => handler ?? (http === null ? '' : httpHandlerName)

/** Whether what is due then is too early for the usual lane, and would stand behind what is due later in the ahead lane, which is read in its order. */
export const overtaken = (dueAt: number, { now, leadMs, aheadFrom }: Context): boolean =>
  dueAt - now > leadMs && dueAt < aheadFrom

/** A worker that reads a record just before its topic loses it needs a moment to start it. */
const keptMarginMs = 600_000
/** So much after it is due an attempt may start however little its topic keeps: whoever empties a topic lets it keep nothing for a while. */
const startMsMin = 3_600_000

/** When the topic may lose what is dispatched now: then it can never start, and to wait on would hold the job up for nothing. A pinned one is told again. */
function keptUntil(pool: string, dueAt: number, { now, keptMs }: Context): number {
  const kept = keptMs?.(pool) ?? Number.POSITIVE_INFINITY
  return Math.max(now + kept - keptMarginMs, Math.max(dueAt, now) + startMsMin)
}

/** Hands the current attempt of a run to the workers, or writes the record that is all of it. */
export function dispatch(draft: Decision, run: ActiveRun, context: Context): void {
  const { now } = context
  const { topicTarget, pinTo, pool } = executionOf(draft.job, run, now)
  if (topicTarget !== null) return void draft.deliveries.push(run.runNo)
  if (pinTo === null && overtaken(run.dueAt, context)) {
    // Given back before its time, it would stand behind later ones: it waits for the usual lead.
    return void patchRun(draft, run, { status: 'RETRY_WAIT', parked: true, startedAt: null, worker: null })
  }
  const startDeadlineMs = run.startDeadlineAt - Math.max(run.dueAt, run.dispatchedAt)
  const dispatched = patchRun(draft, run, {
    status: 'DISPATCHED',
    parked: false,
    dispatchedAt: now,
    // With limits the gate has set it, and waiting does not move it.
    startDeadlineAt: Math.min(
      run.limits !== null ? run.startDeadlineAt : Math.max(run.dueAt, now) + startDeadlineMs,
      run.limits !== null ? Number.POSITIVE_INFINITY : (draft.job.definition?.spec?.expireAt ?? Number.POSITIVE_INFINITY),
      pinTo === null ? keptUntil(pool, run.dueAt, context) : Number.POSITIVE_INFINITY,
    ),
    waitsFor: null,
    tellAt: pinTo === null ? null : Math.max(run.dueAt, now) + run.leaseMs,
    startedAt: null,
    worker: null,
  })
  const execution = executionOf(draft.job, dispatched, now)
  // A pinned one travels apart from the others, where there is no ahead lane.
  const ahead = pinTo === null && run.dueAt - now > context.leadMs
  draft.out.push({ kind: 'dispatch', execution, ahead })
  if (!execution.tracked) draft.deliveries.push(run.runNo)
}
