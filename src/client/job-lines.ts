/** Jobs as JSON for the HTTP API, alone or as lines of a batch. */
import { jsonOfValue } from '../../streams/definitions/index.ts'
import { JsonText, writeJson } from '../../streams/text/index.ts'
import { DuelogError, messageOf } from '../errors/index.ts'
import type { Job } from './job.ts'

/** The job with its payload as the text that is sent. Throws DuelogError `bad-definition` for a payload that JSON cannot hold as it is. */
export function withJsonPayload<Given extends Pick<Job, 'payload'> & { id?: unknown }>(job: Given): Given {
  const { payload, id } = job ?? {}
  if (payload === undefined || payload === null || payload instanceof JsonText) return job
  const text = jsonOfValue(payload)
  if (typeof text === 'string') return { ...job, payload: new JsonText(text) }
  const of = typeof id === 'string' ? ` of job ${JSON.stringify(id)}` : ''
  throw new DuelogError('bad-definition', `The payload${of} is not JSON; allowed: ${text.limit}.`)
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
