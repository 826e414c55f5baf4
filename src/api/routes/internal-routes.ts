/** Queries of other API processes to the scheduler of this process. It forwards none, so a query never runs in a circle. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DuelogError } from '../../errors/index.ts'
import type { Asker, DueRange, JobFilter, JobQueries, PartitionQueries } from '../../ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import { disconnectSignal } from '../http/index.ts'
import { callerHeader, encodeInternalJson } from '../owners/index.ts'
import {
  internalAppliedSchema,
  internalDeadRunSchema,
  internalForecastSchema,
  internalJobSchema,
  internalListSchema,
  internalPartitionsSchema,
  internalReadSchema,
  internalWorkersSchema,
} from '../schemas/index.ts'

interface PartitionParams {
  partition: number
}
type JobParams = PartitionParams & { id: string }
interface StaleQuery {
  stale?: boolean
}

const base = '/internal/v1/partitions'
// Definitions are complete here, with everything that viewers may not see.
const config = { role: 'operator', internal: true } as const

const answer = (reply: FastifyReply, value: unknown): FastifyReply =>
  reply.type('application/json').send(encodeInternalJson(value))

/** The caller of the other process; an earlier version does not send it. */
function askerOf({ headers }: FastifyRequest, reply: FastifyReply): Asker {
  const caller = headers[callerHeader]
  return { caller: typeof caller === 'string' ? caller : '', signal: disconnectSignal(reply) }
}

export function internalRoutes(instance: FastifyInstance, { local }: ApiContext): void {
  const scheduler = (): PartitionQueries => {
    if (local !== undefined) return local
    throw new DuelogError('not-ready', 'This process has no scheduler role, so it owns no partition.')
  }
  const jobs = ({ query }: { query: StaleQuery }): JobQueries => (query.stale === true ? scheduler().copies : scheduler())

  const partitions = () => ({ partitions: local?.partitions() ?? [] })
  instance.get(base, { config, schema: internalPartitionsSchema }, (_request, reply) => answer(reply, partitions()))

  const ofJob = (path: string, find: (from: JobQueries, partition: number, id: string) => Promise<object>): void => {
    instance.get<{ Params: JobParams; Querystring: StaleQuery }>(
      `${base}/:partition/jobs/:id${path}`,
      { config, schema: internalReadSchema },
      async (request, reply) => answer(reply, await find(jobs(request), request.params.partition, request.params.id)),
    )
  }
  ofJob('', async (from, partition, id) => ({ job: await from.job(partition, id) }))
  ofJob('/runs', async (from, partition, id) => ({ runs: await from.runs(partition, id) }))
  ofJob('/why', async (from, partition, id) => ({ why: await from.why(partition, id) }))

  instance.get<{ Params: PartitionParams; Querystring: JobFilter & StaleQuery & { limit: number; after?: string } }>(
    `${base}/:partition/jobs`,
    { config, schema: internalListSchema },
    async (request, reply) => {
      const { limit, after, stale: _, ...filter } = request.query
      return answer(reply, await jobs(request).list(request.params.partition, filter, limit, after, askerOf(request, reply)))
    },
  )

  instance.get<{ Params: JobParams & { runNo: number }; Querystring: StaleQuery }>(
    `${base}/:partition/jobs/:id/dead-runs/:runNo`,
    { config, schema: internalDeadRunSchema },
    async (request, reply) => {
      const { params } = request
      return answer(reply, { execution: await jobs(request).deadRun(params.partition, params.id, params.runNo) })
    },
  )

  instance.get<{ Params: JobParams }>(
    `${base}/:partition/jobs/:id/stored`,
    { config, schema: internalJobSchema },
    async (request, reply) => answer(reply, { job: await scheduler().stored(request.params.partition, request.params.id) }),
  )

  forecastRoute(instance, scheduler)

  instance.get<{ Params: PartitionParams }>(
    `${base}/:partition/workers`,
    { config, schema: internalWorkersSchema },
    async (request, reply) => answer(reply, { workers: await scheduler().workers(request.params.partition) }),
  )

  instance.get<{ Params: PartitionParams; Querystring: { jobs?: number; commands?: number; timeoutMs: number } }>(
    `${base}/:partition/applied`,
    { config, schema: internalAppliedSchema },
    async (request, reply) => {
      const { timeoutMs, ...offsets } = request.query
      return answer(reply, { applied: await scheduler().applied(request.params.partition, offsets, timeoutMs) })
    },
  )
}

function forecastRoute(instance: FastifyInstance, scheduler: () => PartitionQueries): void {
  instance.get<{ Params: PartitionParams; Querystring: DueRange }>(
    `${base}/:partition/forecast`,
    { config, schema: internalForecastSchema },
    async (request, reply) => {
      const { params, query } = request
      return answer(reply, { counts: await scheduler().forecast(params.partition, query, askerOf(request, reply)) })
    },
  )
}
