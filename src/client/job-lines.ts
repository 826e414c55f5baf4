/** Jobs as JSON for the HTTP API, alone or as lines of a batch. */
import { jsonOfValue } from '../../streams/definitions/index.ts'
import { JsonText, writeJson } from '../../streams/text/index.ts'
import { DuelogError, messageOf } from '../errors/index.ts'
import type { Job } from './job.ts'

/** The job with its payload as the text that is sent. Throws DuelogError `bad-definition` for what JSON cannot hold as it is. */
export function withJsonPayload<Given extends Pick<Job, 'payload'> & { id?: unknown }>(job: Given): Given {
  const { payload, id, ...fields } = job ?? {}
  requireNumbers(fields, '', depthMax)
  if (payload === undefined || payload === null || payload instanceof JsonText) return job
  const text = jsonOfValue(payload)
  if (typeof text === 'string') return { ...job, payload: new JsonText(text) }
  const of = typeof id === 'string' ? ` of job ${JSON.stringify(id)}` : ''
  throw new DuelogError('bad-definition', `The payload${of} is not JSON; allowed: ${text.limit}.`)
}

/** Fields of a job are not deeper. */
const depthMax = 8

/** JSON would have null in place of NaN, Infinity and an invalid Date, and a field that is null is absent. */
function requireNumbers(value: unknown, place: string, depth: number): void {
  const wrong = value instanceof Date ? Number.isNaN(value.getTime()) : typeof value === 'number' && !Number.isFinite(value)
  if (wrong)
    throw new DuelogError(
      'bad-definition',
      `${place} is ${value instanceof Date ? 'an invalid Date' : value}; give a number or a valid time.`,
    )
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || depth === 0) return
  for (const [name, inner] of Object.entries(value)) requireNumbers(inner, place === '' ? name : `${place}.${name}`, depth - 1)
}

/** One line for each job. A job that JSON cannot hold becomes a line that the API refuses; `onUnwritable` gets its place and the reason. */
export async function* jobLines(
  jobs: Iterable<Job> | AsyncIterable<Job>,
  onUnwritable: (index: number, error: DuelogError) => void,
): AsyncGenerator<string> {
  let index = 0
  for await (const job of jobs) {
    yield lineOf(job, (error) => onUnwritable(index, error))
    index++
  }
}

function lineOf(job: Job, onUnwritable: (error: DuelogError) => void): string {
  try {
    return writeJson(withJsonPayload(job))
  } catch (error) {
    const reason =
      error instanceof DuelogError ? error : new DuelogError('bad-definition', `The job is not JSON: ${messageOf(error)}.`)
    onUnwritable(reason)
    return JSON.stringify({ id: typeof job?.id === 'string' ? job.id : undefined })
  }
}
