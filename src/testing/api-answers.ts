/** Refusals as the API answers them, and its answers under their types. */
import type { FinishedRun } from '../../schemas/index.ts'
import { definitionToJson } from '../../streams/definitions/index.ts'
import type { Problem } from '../../streams/text/index.ts'
import type { Job as JobAnswer, Run as RunAnswer } from '../answers/index.ts'
import { DuelogError } from '../errors/index.ts'
import { type ActiveRunView, activeRunToJson, finishedRunToJson, type JobView, jobEtag, jobToFields } from '../ports/index.ts'

/** A job, as the API answers it. */
export function jobAnswer(job: JobView, nowMs: number): JobAnswer {
  const { place: _, ...fields } = jobToFields(job, nowMs)
  return {
    ...fields,
    active: job.active.map((run) => activeRunAnswer(job.id, run)),
    lastRun: job.lastRun === null ? null : endedRunAnswer(job.id, job.lastRun),
    definition: job.definition === undefined ? null : definitionToJson(job.definition),
  } as unknown as JobAnswer
}

/** An active run, as the API answers it in lists. */
export const activeRunAnswer = (jobId: string, run: ActiveRunView): RunAnswer =>
  activeRunToJson(jobId, run) as unknown as RunAnswer

/** An ended run, as the API answers it in lists. */
export const endedRunAnswer = (jobId: string, run: FinishedRun): RunAnswer =>
  finishedRunToJson(jobId, run) as unknown as RunAnswer

export const notFound = (id: string): DuelogError => new DuelogError('not-found', `There is no job ${JSON.stringify(id)}.`)
export const refusal = (problems: readonly Problem[]): DuelogError =>
  new DuelogError('bad-request', problems.map(({ message }) => message).join(' '), { cause: problems })

export function conflict(id: string, job: JobView | undefined): DuelogError {
  const now = job === undefined ? 'does not exist' : `has the version ${jobEtag(job)}`
  return new DuelogError('version-conflict', `The condition does not hold: job ${JSON.stringify(id)} ${now}.`)
}
