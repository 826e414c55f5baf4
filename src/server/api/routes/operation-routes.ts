/** Operations: changes of many jobs or dead runs, which go on in the background. */
import type { FastifyInstance } from 'fastify'
import type { OperationRequest } from '../../../../schemas/index.ts'
import { readPayload, validateJobId } from '../../../../streams/definitions/index.ts'
import { notAllowed, type Problem } from '../../../../streams/text/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Operation, OperationAction, Operations } from '../../../ground/ports/index.ts'
import { hasEnded, runActions } from '../../../ground/records/index.ts'
import type { ApiContext } from '../context/index.ts'
import { operationToJson, RequestError, timeOf, whileAsked } from '../http/index.ts'
import { keyOf } from '../jobs/index.ts'
import {
  cancelOperationSchema,
  countOperationSchema,
  createOperationSchema,
  getOperationSchema,
  listOperationsSchema,
  operationPayloadBytesMax,
} from '../schemas/index.ts'

/** A filter of dead runs by their ends. */
interface EndsQuery {
  from?: string | undefined
  to?: string | undefined
  errorType?: string
  errorKind?: string
}

const endsOf = ({ from, to }: EndsQuery) => ({
  diedFrom: from === undefined ? null : timeOf('filter.from', from),
  diedTo: to === undefined ? null : timeOf('filter.to', to),
})

interface Given {
  action: OperationAction
  filter?: { tag?: string; handler?: string; status?: string; idPrefix?: string; idContains?: string; state?: string } & EndsQuery
  jobIds?: string[]
  runIds?: string[]
  payload?: unknown
  payloadBase64?: string
}

export function operationRoutes(instance: FastifyInstance, { operations, lists }: ApiContext): void {
  const all = (): Operations => {
    if (operations !== undefined) return operations
    throw new DuelogError('not-ready', 'This process carries out no operations; send the request to one with the role api.')
  }

  instance.post<{ Body: Given }>(
    '/v1/operations',
    { config: { role: 'operator', audit: 'OPERATION' }, schema: createOperationSchema },
    async (request, reply) => {
      const asked = requestOf(request.body, request.actor)
      const operation = await all().create(asked, keyOf(request))
      const view = operationToJson(operation)
      const { filter, jobIds, runIds } = request.body
      const ofRuns = runIds?.map((runId) => runId.slice(0, runId.lastIndexOf('/')))
      request.audited = {
        ...{ action: `${view.action}_MANY`, target: operation.id },
        ...(filter === undefined ? { jobIds: [...new Set(jobIds ?? ofRuns)] } : { filter }),
      }
      return reply.code(202).header('location', `/v1/operations/${operation.id}`).send(view)
    },
  )

  instance.post<{ Body: Given }>(
    '/v1/operations/count',
    { config: { role: 'viewer' }, schema: countOperationSchema },
    async (request, reply) => {
      const asked = requestOf(request.body, request.actor)
      const count = await whileAsked(request, reply, (asker) => lists.run(() => all().count(asked, asker), asker))
      return { count }
    },
  )

  instance.get<{ Querystring: { active?: boolean; limit: number } }>(
    '/v1/operations',
    { config: { role: 'viewer' }, schema: listOperationsSchema },
    async ({ query: { active, limit } }) => {
      const found = (await all().list()).filter((operation) => active !== true || !hasEnded(operation))
      return { operations: found.slice(0, limit).map(operationToJson) }
    },
  )

  instance.get<{ Params: { id: string } }>(
    '/v1/operations/:id',
    { config: { role: 'viewer' }, schema: getOperationSchema },
    async ({ params: { id } }) => operationToJson(existing(id, await all().get(id))),
  )

  instance.post<{ Params: { id: string } }>(
    '/v1/operations/:id/cancel',
    { config: { role: 'operator', audit: 'CANCEL_OPERATION' }, schema: cancelOperationSchema },
    async ({ params: { id }, actor }, reply) =>
      reply.code(202).send(operationToJson(existing(id, await all().cancel(id, actor)))),
  )
}

function existing(id: string, operation: Operation | undefined): Operation {
  if (operation !== undefined) return operation
  const text = `There is no operation ${JSON.stringify(id)}; it never was, or it ended long ago.`
  throw new DuelogError('not-found', text)
}

/** Throws `bad-request` with everything that the schema cannot say. */
function requestOf({ action, filter, jobIds, runIds, ...body }: Given, actor: string | null): OperationRequest {
  const problems: Problem[] = []
  const given = [filter, jobIds, runIds].filter((choice) => choice !== undefined).length
  if (given !== 1) problems.push(notAllowed('filter', given, 'exactly one of filter, jobIds and runIds'))
  const isOfRuns = (runActions as readonly string[]).includes(action)
  if (runIds !== undefined && !isOfRuns) problems.push(notAllowed('runIds', action, `used with ${runActions.join(' or ')} only`))
  const { from, to, errorType = null, errorKind = null } = filter ?? {}
  const byEnds = [from, to, errorType, errorKind].some((each) => each != null)
  if (byEnds && action !== 'REDRIVE' && action !== 'DISCARD')
    problems.push(notAllowed('filter', action, 'with from, to, errorType and errorKind used with REDRIVE or DISCARD only'))
  if (filter?.state !== undefined && action !== 'CANCEL_RUN')
    problems.push(notAllowed('filter.state', filter.state, 'used with CANCEL_RUN only'))
  for (const id of jobIds ?? []) {
    const problem = validateJobId(id)
    if (problem !== undefined) problems.push({ ...problem, field: 'jobIds' })
  }
  for (const id of runIds ?? []) {
    const [, jobId = '', runNo] = /^(.*)\/([1-9]\d{0,15})$/s.exec(id) ?? []
    if (!Number.isSafeInteger(Number(runNo)) || validateJobId(jobId) !== undefined)
      problems.push(notAllowed('runIds', id, 'ids of runs, <jobId>/<runNo>'))
  }
  const payload = payloadOf(action, body, problems)
  if (problems.length > 0) throw new RequestError('bad-request', problems.slice(0, 20))
  const { tag = null, handler = null, status = null, idPrefix = null, idContains = null, state: runStatus = null } = filter ?? {}
  return {
    ...endsOf({ from, to }),
    ...{ errorType, errorKind },
    ...{ action, jobIds: jobIds ?? null, runIds: runIds ?? null },
    ...{
      tag,
      handler,
      status,
      idPrefix,
      idContains,
      runStatus,
      actor,
      payload,
      payloadIsJson: payload !== null && body.payloadBase64 === undefined,
    },
  }
}

/** Null: each job has its own. Throws `payload-too-large`. */
function payloadOf(action: OperationAction, body: Pick<Given, 'payload' | 'payloadBase64'>, problems: Problem[]): Buffer | null {
  const { payload } = readPayload(body, problems) as { payload: Buffer | null }
  if (payload === null) return null
  if (action !== 'TRIGGER') problems.push(notAllowed('payload', action, 'used with TRIGGER only'))
  if (payload.length <= operationPayloadBytesMax) return payload
  const text = `The payload has ${payload.length} bytes. An operation gives it to each of its jobs, so at most ${operationPayloadBytesMax} are taken.`
  throw new DuelogError('payload-too-large', text)
}
