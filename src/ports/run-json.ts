/**
 * Jobs and runs as the HTTP API answers them, whole: times in ISO 8601, results as JSON. The API hides from viewers what they must not see, and
 * test systems answer the same.
 */
import type { AttemptError, Execution, FinishedRun } from '../../schemas/index.ts'
import { textOrBase64, valueOrText, writePayload } from '../../streams/definitions/index.ts'
import { startedAttempts, startedAttemptsOf } from '../../streams/runs/index.ts'
import { isoTime } from '../../streams/text/index.ts'
import { shownPriority } from '../../streams/topics/index.ts'
import type { ActiveRunView, JobView } from './owner-queries.ts'

type Json = Record<string, unknown>

const timeOrNull = (ms: number | null | undefined): string | number | null => (ms == null ? null : isoTime(ms))

/** The id of a run in requests: of the present life of the job. Handlers get an id that also names the life. */
export const runIdOf = (jobId: string, runNo: number): string => `${jobId}/${runNo}`

/** The version of a job. */
export const jobEtag = ({ partition, offset }: { partition: number; offset: number }): string => `"${partition}.${offset}"`

/** A job without its runs and its definition. A job that is paused keeps the time of the first occurrence that it has missed; that is not its next one. An INVALID one fires nothing. */
export function jobToFields(job: JobView, nowMs: number): Json {
  const isMissed = job.status === 'PAUSED' && job.nextFireAt !== null && (job.nextDueAt ?? job.nextFireAt) <= nowMs
  const hasNone = isMissed || job.status === 'INVALID'
  return {
    id: job.id,
    etag: jobEtag(job),
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
    deadRunsDropped: job.deadRunsDropped ?? 0,
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

function errorToJson({ dueAt, dispatchedAt, startedAt, stack, ...error }: AttemptError, stacks: boolean): Json {
  return {
    ...error,
    at: isoTime(error.at),
    ...{ dueAt: timeOrNull(dueAt), dispatchedAt: timeOrNull(dispatchedAt), startedAt: timeOrNull(startedAt) },
    ...(stacks && { stack: stack ?? null }),
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
  const { handler, pool, payload, contentType, headers, httpTarget, topicTarget, attempt, specOffset } = execution
  const bytes = Object.entries(headers).map(([name, value]) => [name, textOrBase64(value)])
  const target = topicTarget !== null ? { topic: topicTarget.name } : { handler, pool, ...(httpTarget && { http: httpTarget }) }
  return {
    target,
    priority: shownPriority(execution),
    attempt,
    specOffset,
    ...(contentType !== null && { contentType }),
    ...writePayload({ payload, contentType }),
    headers: Object.fromEntries(bytes),
  }
}
