/** Jobs, runs and refusals as the API answers them. */
import type { FinishedRun } from '../../schemas/index.ts'
import { definitionToJson } from '../../streams/definitions/index.ts'
import type { Problem } from '../../streams/text/index.ts'
import type { AttemptError, Job as JobAnswer, Run as RunAnswer } from '../answers/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { ActiveRunView, JobView } from '../ports/index.ts'
import { isoTime, parsedJson } from './json-values.ts'

/** A job, as the API answers it. */
export function jobAnswer(job: JobView): JobAnswer {
  const { id, definition, place: _, partition: __, offset: ___, active, lastRun, nextFireAt, nextDueAt, ...rest } = job
  return {
    id,
    etag: etagOf(job),
    ...rest,
    nextFireAt: nextFireAt === null ? null : isoTime(nextFireAt),
    nextDueAt: nextDueAt === null ? null : isoTime(nextDueAt),
    active: active.map((run) => activeRunAnswer(id, run)),
    lastRun: lastRun === null ? null : endedRunAnswer(id, lastRun),
    definition: definition === undefined ? null : (definitionToJson(definition) as JobAnswer['definition']),
  }
}

/** The version of a job. */
export const etagOf = ({ partition, offset }: JobView): string => `"${partition}.${offset}"`

/** An active run, as the API answers it. */
export function activeRunAnswer(jobId: string, run: ActiveRunView): RunAnswer {
  return {
    runId: `${jobId}/${run.runNo}`,
    jobId,
    runNo: run.runNo,
    status: run.status as RunAnswer['status'],
    trigger: run.trigger,
    commandId: run.commandId,
    scheduledFor: isoTime(run.scheduledFor),
    attempts: run.attempt,
    dueAt: isoTime(run.dueAt),
    dispatchedAt: isoTime(run.dispatchedAt),
    startDeadlineAt: isoTime(run.startDeadlineAt),
    waitsFor: run.waitsFor,
    startedAt: run.startedAt === null ? null : isoTime(run.startedAt),
    finishedAt: null,
    worker: run.worker,
    progress: run.heartbeat?.progress ?? null,
    message: run.heartbeat?.message ?? null,
    checkedAt: run.heartbeat === null ? null : isoTime(run.heartbeat.checkedAt),
    result: null,
    errors: run.errors.map(errorAnswer),
  }
}

/** An ended run, as the API answers it. */
export function endedRunAnswer(jobId: string, run: FinishedRun): RunAnswer {
  return {
    runId: `${jobId}/${run.runNo}`,
    jobId,
    runNo: run.runNo,
    status: run.status as RunAnswer['status'],
    trigger: run.trigger,
    commandId: run.commandId,
    scheduledFor: isoTime(run.scheduledFor),
    attempts: run.attempts,
    ...(run.dueAt !== null && { dueAt: isoTime(run.dueAt) }),
    ...(run.dispatchedAt !== null && { dispatchedAt: isoTime(run.dispatchedAt) }),
    startedAt: run.startedAt === null ? null : isoTime(run.startedAt),
    finishedAt: isoTime(run.finishedAt),
    worker: run.worker,
    result: run.result === null ? null : parsedJson(run.result),
    note: run.note,
    errors: run.errors.map(errorAnswer),
  }
}

/** The stack is only in the answer about one run. */
const errorAnswer = ({ stack: _, ...error }: FinishedRun['errors'][number]): AttemptError => ({
  ...error,
  at: isoTime(error.at),
  dueAt: timeOrNull(error.dueAt),
  dispatchedAt: timeOrNull(error.dispatchedAt),
  startedAt: timeOrNull(error.startedAt),
})

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

export const notFound = (id: string): DuelogError => new DuelogError('not-found', `There is no job ${JSON.stringify(id)}.`)
export const refusal = (problems: readonly Problem[]): DuelogError =>
  new DuelogError('bad-request', problems.map(({ message }) => message).join(' '), { cause: problems })

export function conflict(id: string, job: JobView | undefined): DuelogError {
  const now = job === undefined ? 'does not exist' : `has the version ${etagOf(job)}`
  return new DuelogError('version-conflict', `The condition does not hold: job ${JSON.stringify(id)} ${now}.`)
}
