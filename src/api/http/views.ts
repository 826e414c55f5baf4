/** Jobs, runs and partitions as answers show them: times in ISO 8601, results as JSON. */
import type { AttemptError, Execution, FinishedRun } from '../../../schemas/index.ts'
import { definitionToJson, textOrBase64, valueOrText, writePayload } from '../../../streams/definitions/index.ts'
import { hiddenHash } from '../../../streams/hashing/index.ts'
import { isoTime } from '../../../streams/text/index.ts'
import type { ActiveRunView, JobView, WhyView } from '../../ports/index.ts'
import type { Role } from '../guards/index.ts'
import { hiddenTexts, redactedLine, redactedRun, shownTo } from './redact.ts'
import { etagOf } from './version.ts'

type Json = Record<string, unknown>

const timeOrNull = (ms: number | null | undefined): string | number | null => (ms == null ? null : isoTime(ms))

/** The id of a run in requests: of the present life of the job. Handlers get an id that also names the life. */
export const runIdOf = (jobId: string, runNo: number): string => `${jobId}/${runNo}`

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
  const isShown = (run: ActiveRunView | FinishedRun): boolean => ('finishedAt' in run ? isKnown(run) : isOfThis(run))
  return {
    line: (run, line) => (role === 'viewer' ? redactedLine(line, run !== undefined && isShown(run) ? hidden : undefined) : line),
    active: (run) => (isOfThis(run) ? ofThis : ofOthers)(activeRunToJson(id, run, stacks)),
    finished: (run) => (isKnown(run) ? ofThis : ofOthers)(finishedRunToJson(id, run, stacks)),
  }
}

/**
 * `role`: of the caller; null without authentication. A viewer sees no credentials. A job that is paused keeps the time of the first
 * occurrence that it has missed; that is not its next one.
 */
export function jobToJson(job: JobView, role: Role | null, nowMs: number): Json {
  const definition = job.definition === undefined ? null : definitionToJson(job.definition)
  const shown = runsOf(role, job.id, job)
  const isMissed = job.status === 'PAUSED' && job.nextFireAt !== null && (job.nextDueAt ?? job.nextFireAt) <= nowMs
  return {
    id: job.id,
    etag: etagOf(job),
    status: job.status,
    reason: job.reason,
    nextFireAt: isMissed ? null : timeOrNull(job.nextFireAt),
    nextDueAt: isMissed ? null : timeOrNull(job.nextDueAt),
    ...(job.place !== undefined && { place: placeToJson(job.place) }),
    runNo: job.runNo,
    scheduledRuns: job.scheduledRuns,
    succeeded: job.succeeded,
    failed: job.failed,
    skipped: job.skipped,
    cancelled: job.cancelled,
    deadRuns: job.deadRuns,
    active: job.active.map(shown.active),
    lastRun: job.lastRun === null ? null : shown.finished(job.lastRun),
    definition: definition === null ? null : shownTo(role, definition),
  }
}

function placeToJson({ anchorAt, decidedFor, latestFiredFor }: NonNullable<JobView['place']>): Json {
  return {
    anchorAt: isoTime(anchorAt),
    decidedFor: decidedFor === null ? null : { at: isoTime(decidedFor.at), offsetMs: decidedFor.offsetMs },
    latestFiredFor: timeOrNull(latestFiredFor),
  }
}

export function whyToJson(id: string, { status, reasons }: WhyView): Json {
  return { id, status, why: reasons.map(({ at, ...reason }) => ({ ...reason, at: timeOrNull(at) })) }
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
    attempts: run.attempt,
    dueAt: isoTime(run.dueAt),
    dispatchedAt: isoTime(run.dispatchedAt),
    startDeadlineAt: isoTime(run.startDeadlineAt),
    waitsFor: run.waitsFor,
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

export function finishedRunToJson(jobId: string, run: FinishedRun, stacks = false): Json {
  return {
    runId: runIdOf(jobId, run.runNo),
    jobId,
    runNo: run.runNo,
    status: run.status,
    trigger: run.trigger,
    commandId: run.commandId,
    scheduledFor: isoTime(run.scheduledFor),
    attempts: run.attempts,
    // An owner of an earlier version does not send them.
    ...(run.dueAt != null && { dueAt: isoTime(run.dueAt) }),
    ...(run.dispatchedAt != null && { dispatchedAt: isoTime(run.dispatchedAt) }),
    startedAt: timeOrNull(run.startedAt),
    finishedAt: isoTime(run.finishedAt),
    worker: run.worker,
    result: resultToJson(run.result),
    note: run.note,
    errors: run.errors.map((error) => errorToJson(error, stacks)),
  }
}

/** A dead run of which only the input is kept: its end and errors are only in executions.dlq. */
export function deadRunToJson({ jobId, runNo, trigger, scheduledFor, attempt }: Execution): Json {
  return {
    runId: runIdOf(jobId, runNo),
    jobId,
    runNo,
    status: 'DEAD',
    trigger,
    commandId: null,
    scheduledFor: isoTime(scheduledFor),
    attempts: attempt,
    startedAt: null,
    finishedAt: null,
    worker: null,
    result: null,
    errors: [],
  }
}

function errorToJson({ dueAt, dispatchedAt, startedAt, stack, ...error }: AttemptError, stacks: boolean): Json {
  return {
    ...error,
    at: isoTime(error.at),
    ...{ dueAt: timeOrNull(dueAt), dispatchedAt: timeOrNull(dispatchedAt), startedAt: timeOrNull(startedAt) },
    ...(stacks && { stack: stack ?? null }),
  }
}

/** The input of an attempt, in the words of a definition. */
export function executionToJson(execution: Execution): Json {
  const { handler, pool, priority, payload, contentType, headers, httpTarget, topicTarget, attempt, specOffset } = execution
  const bytes = Object.entries(headers).map(([name, value]) => [name, textOrBase64(value)])
  const target = topicTarget !== null ? { topic: topicTarget.name } : { handler, pool, ...(httpTarget && { http: httpTarget }) }
  return {
    target,
    priority,
    attempt,
    specOffset,
    ...(contentType !== null && { contentType }),
    ...writePayload({ payload, contentType }),
    headers: Object.fromEntries(bytes),
  }
}

/** The result of the handler; text if a foreign worker did not send JSON. */
export function resultToJson(result: Buffer | null): unknown {
  if (result === null) return null
  const text = Buffer.from(result).toString()
  return text === 'null' ? null : (valueOrText(text) ?? text)
}
