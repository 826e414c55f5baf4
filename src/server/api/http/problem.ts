/** Errors as RFC 9457 problem details: errors of Duelog, of fastify, and faults. */
import type { ErrorObject } from 'ajv'
import type { FastifyError, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Problem } from '../../../../streams/text/index.ts'
import { routes } from '../../../ground/answers/index.ts'
import { DuelogError, type ErrorCode, errorTable } from '../../../ground/errors/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import { bodyBytesMax, retryAfterSeconds } from '../schemas/index.ts'
import { problemsOf } from './request-checks.ts'

export const problemType = 'application/problem+json'

export interface ProblemDetails {
  type: string
  title: string
  status: number
  detail: string
  /** One of src/ground/errors/errors.ts. */
  code: ErrorCode
  retriable: boolean
  /** Names the request in the log of the server. */
  instance?: string
  /** Everything that is wrong with the request. */
  problems?: Problem[]
}

/** An error with a list of everything that was wrong, for one answer. */
export class RequestError extends DuelogError {
  readonly problems: Problem[]
  constructor(code: ErrorCode, problems: Problem[]) {
    super(code, problems.map((problem) => problem.message).join(' '))
    this.problems = problems
  }
}

export function problemOf(
  code: ErrorCode,
  detail: string,
  more: { instance?: string; problems?: Problem[] } = {},
): ProblemDetails {
  const { status, retriable, meaning } = errorTable[code]
  return { type: `urn:duelog:error:${code}`, title: meaning, status, detail, code, retriable, ...more }
}

export const callerGone = 'The caller has closed the connection.'

/** Where a field is, for the sentence. Those of a body and headers need no words. */
const parts: Record<string, string> = { querystring: 'In the query: ', params: 'In the path: ' }

/** The code and text for the user of any thrown error. The text of a fault stays in the log. */
export function describe(error: unknown): { code: ErrorCode; detail: string; problems?: Problem[] } {
  if (error instanceof RequestError) return { code: error.code, detail: error.message, problems: error.problems }
  if (error instanceof DuelogError) return { code: error.code, detail: error.message }
  const { code, statusCode, validation, validationContext, message } = error as Partial<FastifyError>
  if (validation !== undefined) {
    const problems = problemsOf(validation as unknown as ErrorObject[])
    return {
      code: 'bad-request',
      detail: `${parts[validationContext ?? ''] ?? ''}${problems.map((one) => one.message).join(' ')}`,
      problems,
    }
  }
  // A streamed answer whose caller disconnects before its first byte.
  if (code === 'ERR_STREAM_PREMATURE_CLOSE') return { code: 'bad-request', detail: callerGone }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return {
      code: 'unsupported-media-type',
      detail: `This route does not accept the media type of the body. Send Content-Type: application/json, or application/x-ndjson to ${routes.writeJobs[1]}.`,
    }
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return { code: 'payload-too-large', detail: `The body is larger than ${bodyBytesMax} bytes, the most that a route accepts.` }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return { code: 'bad-request', detail: `${message}.` }
  return {
    code: 'internal',
    detail: 'Internal error of Duelog. The log of the server has the details under the ID of this request.',
  }
}

export function sendProblem(reply: FastifyReply, problem: ProblemDetails): FastifyReply {
  if (problem.status === 503 || problem.status === 429) void reply.header('retry-after', retryAfterSeconds)
  return reply.code(problem.status).type(problemType).send(JSON.stringify(problem))
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, ...rest } = describe(error)
  const problem = problemOf(code, rest.detail, {
    instance: `urn:duelog:request:${request.id}`,
    ...(rest.problems && { problems: rest.problems }),
  })
  const facts = { err: error, method: request.method, url: request.url }
  const logger: Pick<Logger, 'error' | 'debug'> = request.log
  // Other statuses from 500 up are states of the system that its own parts report; one line for each refused request would bury
  // them.
  if (problem.status === 500) logger.error({ event: 'request-failed', ...facts }, 'A request failed.')
  else if (problem.status > 500)
    logger.debug({ event: 'request-refused', ...facts }, 'A request was refused; it may succeed later.')
  return sendProblem(reply, problem)
}

/** `allowed`: the methods that the path has. */
export function answerNotFound(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? ''
  const shown = `${request.method} ${path.slice(0, 200)}`
  const instance = `urn:duelog:request:${request.id}`
  if (allowed.length > 0) {
    const methods = allowed.join(', ')
    void reply.header('allow', methods)
    return sendProblem(reply, problemOf('method-not-allowed', `There is no ${shown}; this path has ${methods}.`, { instance }))
  }
  const detail = `There is no ${shown}. A slash inside a job id is written as %2F.`
  return sendProblem(reply, problemOf('not-found', detail, { instance }))
}

/** Sorted; empty if no route has this path. `path` is as in the URL, without the query. */
export function allowedMethods(routes: readonly Pick<RouteOptions, 'url' | 'method'>[], path: string): string[] {
  const parts = path.split('/')
  const found = routes.filter(({ url }) => hasForm(url.split('/'), parts)).flatMap(({ method }) => method)
  return [...new Set(found)].sort()
}

/** `:name` stands for one part, and `*` at the end for all that follow. */
function hasForm(form: readonly string[], parts: readonly string[]): boolean {
  const isOpen = form.at(-1) === '*'
  if (isOpen ? parts.length < form.length : parts.length !== form.length) return false
  return form.every((part, at) => part === '*' || (part.startsWith(':') ? parts[at] !== '' : part === parts[at]))
}
