/** Jobs, runs and operations as the API shows them. */
import type { AttemptError, Execution, FinishedRun } from '../../../../schemas/index.ts'
import { definitionToJson, textOrBase64, valueOrText, writePayload } from '../../../../streams/definitions/index.ts'
import { startedAttempts, startedAttemptsOf } from '../../../../streams/runs/index.ts'
import { targetOf } from '../../../../streams/targets/index.ts'
import { hiddenHash, isoTime } from '../../../../streams/text/index.ts'
import { shownPriority } from '../../../../streams/topics/index.ts'
import type { ActiveRunView, JobView, Operation, WhyView } from '../../../ground/ports/index.ts'
import { hasEnded } from '../../../ground/records/index.ts'
import type { Role } from '../guards/index.ts'
import { hiddenTexts, redactedLine, redactedRun, shownTo } from './redact.ts'

type Json = Record<string, unknown>

/** How runs of a job are shown to the caller: whole, or redacted (redact.ts). `definition` is JSON; null if there is none. */
export function runsFor(role: Role | null, definition: Json | null): <Run extends Json>(run: Run) => Run {
  if (role !== 'viewer') return (run) => run
  const hidden = definition === null ? undefined : hiddenTexts(definition)
  return (run) => redactedRun(run, hidden)
}

type ShownJob = Pick<JobView, 'definition' | 'offset'>
export interface ShownRuns {
  active(run: ActiveRunView): Json
  finished(run: FinishedRun): Json
  /** A line of a run; of a run that is unknown, nobody knows what is hidden in it. */
  line<Line extends LineJson>(run: ActiveRunView | FinishedRun | undefined, line: Line): Line
}
type LineJson = { text: string; fields: Json | null; shortened: boolean }

/** The runs of a job as the caller may see them; with `stacks` also the stacks of their last errors. If a run was made with another definition, the values to hide are unknown. */
export function runsOf(role: Role | null, id: string, job: ShownJob | undefined, stacks = false): ShownRuns {
  const definition = job?.definition
  const ofThis = runsFor(role, role !== 'viewer' || definition === undefined ? null : definitionToJson(definition))
  const ofOthers = runsFor(role, null)
  const hash = role !== 'viewer' || definition === undefined ? undefined : hiddenHash(definition)
  const isKnown = (run: FinishedRun): boolean => run.hiddenHash === 0 || run.hiddenHash === hash
  // A redriven run names the definition in force, but uses the input of the dead run.
  const isOfThis = (run: ActiveRunView): boolean => run.specOffset === job?.offset && run.trigger !== 'REDRIVE'
  const hidden = role !== 'viewer' || definition === undefined ? undefined : hiddenTexts(definitionToJson(definition))
  // The target is that of the definition in force, so it is told only of its runs.
  const { handler = null, pool = null } = definition?.target ?? {}
  const targetOf = (specOffset: number | null) => (specOffset === job?.offset && handler !== null ? { handler, pool } : {})
  const isShown = (run: ActiveRunView | FinishedRun): boolean => ('finishedAt' in run ? isKnown(run) : isOfThis(run))
  return {
    line: (run, line) => (role === 'viewer' ? redactedLine(line, run !== undefined && isShown(run) ? hidden : undefined) : line),
    active: (run) => (isOfThis(run) ? ofThis : ofOthers)({ ...activeRunToJson(id, run, stacks), ...targetOf(run.specOffset) }),
    finished: (run) => (isKnown(run) ? ofThis : ofOthers)({ ...finishedRunToJson(id, run, stacks), ...targetOf(run.specOffset) }),
  }
}

/**
 * `role`: of the caller; null without authentication. A viewer sees no credentials.
 */
export function jobToJson(job: JobView, role: Role | null, nowMs: number): Json {
  const definition = job.definition === undefined ? null : definitionToJson(job.definition)
  const shown = runsOf(role, job.id, job)
  return {
    ...jobToFields(job, nowMs),
    active: job.active.map(shown.active),
    lastRun: job.lastRun === null ? null : shown.finished(job.lastRun),
    definition: definition === null ? null : shownTo(role, definition),
  }
}

export function whyToJson(id: string, { status, reasons }: WhyView): Json {
  return { id, status, why: reasons.map(({ at, ...reason }) => ({ ...reason, at: at === null ? null : isoTime(at) })) }
}

const timeOrNull = (ms: number | null | undefined): string | number | null => (ms == null ? null : isoTime(ms))

/** The id of a run in requests: of the present life of the job. Handlers get an id that also names the life. */
export const runIdOf = (jobId: string, runNo: number): string => `${jobId}/${runNo}`

/** The version of a job. */
export const etagOf = ({ partition, offset }: { partition: number; offset: number }): string => `"${partition}.${offset}"`

/** A job without its runs and its definition. A job that is paused keeps the time of the first occurrence that it has missed; that is not its next one. An INVALID one fires nothing. */
export function jobToFields(job: JobView, nowMs: number): Json {
  const isMissed = job.status === 'PAUSED' && job.nextFireAt !== null && (job.nextDueAt ?? job.nextFireAt) <= nowMs
  const hasNone = isMissed || job.status === 'INVALID'
  return {
    id: job.id,
    etag: etagOf(job),
    status: job.status,
    reason: job.reason,
    nextFireAt: hasNone ? null : timeOrNull(job.nextFireAt),
    nextDueAt: hasNone ? null : timeOrNull(job.nextDueAt),
    ...(job.place !== undefined && { place: placeToJson(job.place) }),
    runNo: job.runNo,
    scheduledRuns: job.scheduledRuns,
    succeeded: job.succeeded,
    failed: job.failed,
    skipped: job.skipped,
    cancelled: job.cancelled,
    deadRuns: job.deadRuns,
    deadRunsDropped: job.deadRunsDropped,
    backfill: job.backfill && backfillToJson(job.backfill),
    followUpsWaiting: job.followUpsWaiting,
  }
}

function backfillToJson({ commandId, from, to, nextAt, made }: NonNullable<JobView['backfill']>): Json {
  return { id: commandId, from: isoTime(from), to: isoTime(to), nextAt: isoTime(nextAt), made }
}

function placeToJson({ anchorAt, decidedFor, latestFiredFor }: NonNullable<JobView['place']>): Json {
  return {
    anchorAt: isoTime(anchorAt),
    decidedFor: decidedFor === null ? null : { at: isoTime(decidedFor.at), offsetMs: decidedFor.offsetMs },
    latestFiredFor: timeOrNull(latestFiredFor),
  }
}

export function activeRunToJson(jobId: string, run: ActiveRunView, stacks = false): Json {
  return {
    runId: runIdOf(jobId, run.runNo),
    jobId,
    runNo: run.runNo,
    status: run.status,
    trigger: run.trigger,
    commandId: run.commandId,
    scheduledFor: isoTime(run.scheduledFor),
    ...{ attempt: run.attempt, attempts: startedAttempts(run) },
    dueAt: isoTime(run.dueAt),
    dispatchedAt: isoTime(run.dispatchedAt),
    startDeadlineAt: isoTime(run.startDeadlineAt),
    waitsFor: run.waitsFor,
    limitKey: limitKeyOf(run),
    startedAt: timeOrNull(run.startedAt),
    finishedAt: null,
    worker: run.worker,
    progress: run.heartbeat?.progress ?? null,
    message: run.heartbeat?.message ?? null,
    checkedAt: timeOrNull(run.heartbeat?.checkedAt ?? null),
    result: null,
    errors: run.errors.map((error) => errorToJson(error, stacks)),
  }
}

/** Key of the limit that the run waits for. */
function limitKeyOf({ waitsFor, limits }: ActiveRunView): string | null {
  if (waitsFor === 'SLOT') return limits?.concurrencyKey ?? null
  return waitsFor === 'RATE' ? (limits?.rateKey ?? null) : null
}

export function finishedRunToJson(jobId: string, run: FinishedRun, stacks = false): Json {
  return {
    runId: runIdOf(jobId, run.runNo),
    jobId,
    runNo: run.runNo,
    status: run.status,
    trigger: run.trigger,
    commandId: run.commandId,
    scheduledFor: isoTime(run.scheduledFor),
    ...{ attempt: run.attempts, attempts: startedAttemptsOf(run) },
    dueAt: isoTime(run.dueAt),
    dispatchedAt: isoTime(run.dispatchedAt),
    startedAt: timeOrNull(run.startedAt),
    finishedAt: isoTime(run.finishedAt),
    worker: run.worker,
    result: resultToJson(run.result),
    note: run.note,
    errors: run.errors.map((error) => errorToJson(error, stacks)),
  }
}

function errorToJson({ dueAt, dispatchedAt, startedAt, stack, ...error }: AttemptError, stacks: boolean): Json {
  return {
    ...error,
    at: isoTime(error.at),
    ...{ dueAt: isoTime(dueAt), dispatchedAt: isoTime(dispatchedAt), startedAt: timeOrNull(startedAt) },
    ...(stacks && { stack }),
  }
}

/** The result of the handler; text if a foreign worker did not send JSON. */
export function resultToJson(result: Buffer | null): unknown {
  if (result === null) return null
  const text = Buffer.from(result).toString()
  return text === 'null' ? null : (valueOrText(text) ?? text)
}

/** The input of an attempt, in the words of a definition. */
export function executionToJson(execution: Execution): Json {
  const { payload, contentType, headers, attempt, specOffset } = execution
  const bytes = Object.entries(headers).map(([name, value]) => [name, textOrBase64(value)])
  return {
    target: targetOf(execution),
    priority: shownPriority(execution),
    attempt,
    specOffset,
    ...(contentType !== null && { contentType }),
    ...writePayload({ payload, contentType }),
    headers: Object.fromEntries(bytes),
  }
}

export function operationToJson(operation: Operation) {
  const { id, createdAt, request, progress } = operation
  const { action, jobIds, runIds, tag, handler, status, idPrefix, idContains, runStatus: state, payload, actor } = request
  const listed = jobIds ?? runIds
  const { errorType, errorKind, diedFrom, diedTo } = request
  const ends = { errorType, errorKind, from: diedFrom && isoTime(diedFrom), to: diedTo && isoTime(diedTo) }
  const filter = Object.entries({ tag, handler, status, idPrefix, idContains, state, ...ends }).filter(
    ([, value]) => value !== null,
  )
  const { total = null, applied = 0, refused = 0, reasons = [], problem = null, driver = null } = progress ?? {}
  return {
    ...{ id, action, filter: listed === null ? Object.fromEntries(filter) : null, listed: listed?.length ?? null },
    ...{ payloadBytes: payload?.length ?? null, actor, status: statusOf(operation), total, applied, refused },
    reasons: reasons.map(({ code, reason, count, example }) => ({ code, reason, count, example })),
    problem,
    createdAt: isoTime(createdAt),
    startedAt: progress === undefined ? null : isoTime(progress.startedAt),
    effectiveAt: progress?.effectiveAt == null ? null : isoTime(progress.effectiveAt),
    endedAt: progress?.endedAt == null ? null : isoTime(progress.endedAt),
    driver: driver === '' ? null : driver,
  }
}

function statusOf(operation: Operation): string {
  const { progress, cancel } = operation
  if (progress !== undefined && hasEnded(operation)) return progress.status
  if (cancel !== undefined) return 'CANCELLING'
  return progress?.status ?? 'WAITING'
}
