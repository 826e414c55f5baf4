/** Dispatch of a run: the record that a worker reads, what is still known of it later, and whether an owner can have written it. */
import type { ActiveRun, Execution, FinishedRun } from '../../schemas/index.ts'
import { validateJobId } from '../definitions/index.ts'
import { type Context, type Decision, type Job, patchRun } from '../state/index.ts'
import { handlerOf } from '../targets/index.ts'
import { priorityOf, wordOf } from '../topics/index.ts'
import { chosenOf, routeOf, startDeadlineOf, waits } from './routing.ts'
import { snapshotNoOf } from './snapshots.ts'

/** The maximum of DUELOG_LEAD_MS_MAX. A decision that is further ahead was made by a clock that was ahead. */
export const leadMsLimit = 120_000

/** What an Execution takes from its run. */
export type ExecutedRun = Pick<
  ActiveRun,
  | ('runNo' | 'attempt' | 'specOffset' | 'scheduledFor' | 'dueAt' | 'trigger' | 'snapshot' | 'snapshotRunNo')
  | ('attemptTimeoutMs' | 'leaseMs' | 'startDeadlineAt')
>

/** The Execution of a run's current attempt: from its snapshot, or from the definition that it was made from. */
export function executionOf(job: Job, run: ExecutedRun, dispatchedAt: number): Execution {
  // Without its snapshot the run would use the wrong definition. So the rule throws, and only this run fails.
  const snapshotNo = snapshotNoOf(run)
  const kept = snapshotNo === undefined ? undefined : job.snapshots?.get(snapshotNo)
  if (snapshotNo !== undefined && kept === undefined) {
    const problem = job.unreadableRuns?.get(snapshotNo) ?? 'it is missing'
    throw new Error(`The snapshot of run ${run.runNo} cannot be read: ${problem}`)
  }
  const spec = job.definition?.spec
  const given = kept ?? spec ?? { priority: 'NORMAL', priorityLevel: null }
  return {
    jobId: job.id,
    runNo: run.runNo,
    attempt: run.attempt,
    life: job.state?.life ?? '',
    specOffset: run.specOffset,
    handler: kept?.handler ?? (spec === undefined ? null : handlerOf(spec.target)) ?? '',
    scheduledFor: run.scheduledFor,
    dueAt: run.dueAt,
    dispatchedAt,
    trigger: run.trigger,
    payload: kept !== undefined ? kept.payload : (spec?.payload ?? null),
    contentType: kept !== undefined ? kept.contentType : (spec?.contentType ?? null),
    headers: kept?.headers ?? spec?.headers ?? {},
    pool: kept?.pool ?? spec?.target.pool ?? 'default',
    // The word chooses the topic, also for workers that do not know the number.
    priority: given.priorityLevel === null ? given.priority : wordOf(priorityOf(given)),
    priorityLevel: given.priorityLevel,
    attemptTimeoutMs: run.attemptTimeoutMs,
    leaseMs: run.leaseMs,
    startDeadlineAt: run.startDeadlineAt,
    pinTo: kept !== undefined ? kept.pinTo : (spec?.pinTo ?? null),
    httpTarget: kept !== undefined ? kept.httpTarget : (spec?.target.http ?? null),
    topicTarget: kept !== undefined ? kept.topicTarget : (spec?.target.topic ?? null),
    cause: kept?.cause ?? null,
  }
}

/** The fields of an Execution that hold its target besides the handler, empty. */
export const noTarget = { httpTarget: null, topicTarget: null } satisfies Partial<Execution>

/** The identity of an attempt without payload, headers and target: these may be unreadable, or refused by the log. Never throws. */
export function bareExecution(job: Job, run: ActiveRun): Execution {
  const snapshotNo = snapshotNoOf(run)
  // If the snapshot is lost, the handler is unknown: the definition in force may have another one.
  const isLost = snapshotNo !== undefined && !job.snapshots?.has(snapshotNo)
  const given = isLost
    ? executionOf({ ...job, definition: undefined }, { ...run, snapshot: false }, run.dispatchedAt)
    : executionOf(job, run, run.dispatchedAt)
  return { ...given, payload: null, contentType: null, headers: {}, ...noTarget, cause: null }
}

/** Whether a run may be dispatched before it is due. A worker keeps such a run until then. A record in a target topic is written when it is due. */
export const mayBeEarly = (job: Job, run: ActiveRun): boolean => executionOf(job, run, run.dispatchedAt).topicTarget === null

/** Whether a run is too early for the usual topic, and would be behind later runs in the ahead topic, which is read in order. */
export const overtaken = (dueAt: number, { now, leadMs, aheadFrom }: Context): boolean =>
  dueAt - now > leadMs && dueAt < aheadFrom

/** Time for a worker to start a run whose record it reads just before the topic removes it. */
const keptMarginMs = 600_000
/** Least time after its due time in which an attempt may start, even if its topic keeps records for less: to empty a topic, operators set its retention to almost nothing for a while. */
const startMsMin = 3_600_000

/** When the topic may remove the record: then the run can never start, and waiting longer would delay the job in vain. A pinned run is sent again. */
function keptUntil(pool: string, dueAt: number, { now, keptMs }: Context): number {
  const kept = keptMs?.(pool) ?? Number.POSITIVE_INFINITY
  return Math.max(now + kept - keptMarginMs, Math.max(dueAt, now) + startMsMin)
}

/** Dispatches the current attempt of a run to the workers, or marks it for delivery to its topic. It waits if no worker has its handler, or its pool is paused. `run.worker` has given it back. */
export function dispatch(draft: Decision, run: ActiveRun, context: Context): void {
  const { now } = context
  const wanted = executionOf(draft.job, run, now)
  const { topicTarget, pinTo, pool } = wanted
  if (topicTarget !== null) return void draft.endingRuns.push(run.runNo)
  const route = routeOf(wanted, run.worker, context)
  if (waits(draft, run, route, context)) return
  const chosen = typeof route === 'object' ? chosenOf(route.workers, wanted) : null
  const to = chosen ?? pinTo
  if (to === null && overtaken(run.dueAt, context)) {
    // It was released before its time and would be behind later runs, so it waits for the usual lead.
    return void patchRun(draft, run, { status: 'RETRY_WAIT', parked: true, tellAt: null, startedAt: null, worker: null })
  }
  const dispatched = patchRun(draft, run, {
    status: 'DISPATCHED',
    parked: false,
    dispatchedAt: now,
    startDeadlineAt: Math.min(
      startDeadlineOf(draft, run, now),
      to === null ? keptUntil(pool, run.dueAt, context) : Number.POSITIVE_INFINITY,
    ),
    waitsFor: null,
    tellAt: to === null ? null : Math.max(run.dueAt, now) + run.leaseMs,
    routedTo: chosen,
    poolPausedAt: null,
    startedAt: null,
    worker: null,
  })
  const execution = executionOf(draft.job, dispatched, now)
  // A run for one worker is sent in another topic, which has no ahead topic.
  const ahead = to === null && run.dueAt - now > context.leadMs
  draft.out.push({ kind: 'dispatch', execution, ahead, to })
}

/**
 * Check whether an owner can have written a record of an attempt. Every client with the right to write can write to the topics, and no
 * record may stop its reader. Ids become keys and reports, so they must be valid there.
 */

/** Longest value that is decoded. An owner writes at most a megabyte, but a compressed batch can hold more. */
export const valueBytesMax = 2 * 1024 * 1024
const wordCharsMax = 255

/** The problem of an execution, or undefined. */
export function executionProblem({ jobId, runNo, attempt, life, handler, pool, dueAt }: Execution): string | undefined {
  const problem = validateJobId(jobId)
  if (problem !== undefined) return problem.message
  if (!(runNo >= 1 && attempt >= 1)) return `Run ${runNo}, attempt ${attempt}: both begin with 1.`
  if (!Number.isSafeInteger(dueAt)) return `The time ${dueAt} is none.`
  if (Math.max(life.length, handler.length, pool.length) > wordCharsMax) return `A name has more than ${wordCharsMax} characters.`
  return undefined
}

/** Why the value of a record is not decoded, or undefined. */
export function sizeProblem(value: Buffer): string | undefined {
  return value.length <= valueBytesMax ? undefined : `The value has ${value.length} bytes; at most ${valueBytesMax}.`
}

/** The input of a run, as far as it is still known: of an active run, of a dead run, or of an ended run whose definition is in force. */

/** Undefined: it is not kept. The snapshot of the run must be loaded. */
export function runInputOf(job: Job, finished: readonly FinishedRun[], runNo: number): Execution | undefined {
  const run = job.state?.active.find((candidate) => candidate.runNo === runNo)
  if (run !== undefined) {
    const snapshotNo = snapshotNoOf(run)
    if (snapshotNo === undefined ? job.definition?.spec === undefined : !job.snapshots?.has(snapshotNo)) return undefined
    return executionOf(job, run, run.dispatchedAt)
  }
  if (job.state?.deadRuns.includes(runNo)) return job.snapshots?.get(runNo)
  const ended = finished.find((candidate) => candidate.runNo === runNo)
  if (ended === undefined || !hasInputOfDefinition(job, ended)) return undefined
  return executionOf(job, executedRunOf(job, ended), ended.dispatchedAt)
}

function executedRunOf(
  { definition }: Job,
  { runNo, attempts: attempt, scheduledFor, trigger, dueAt, specOffset }: FinishedRun,
): ExecutedRun {
  const { attemptTimeoutMs = 0, leaseMs = 0, startDeadlineMs = 0 } = definition?.spec ?? {}
  return {
    ...{ runNo, attempt, scheduledFor, trigger, dueAt, specOffset, snapshot: false, snapshotRunNo: null },
    ...{ attemptTimeoutMs, leaseMs, startDeadlineAt: dueAt + startDeadlineMs },
  }
}

const hasInputOfDefinition = ({ definition }: Job, { specOffset, hasOwnInput }: FinishedRun): boolean =>
  definition?.spec !== undefined && definition.offset === specOffset && !hasOwnInput
