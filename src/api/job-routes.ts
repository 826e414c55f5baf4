/** Jobs one by one: create, replace, read, delete, list. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { JobStatus } from '../../schemas/generated.ts'
import type { AuditAction } from './audit/audit-action.ts'
import type { ApiContext } from './context.ts'
import { checkedId, definitionOf } from './definition-body.ts'
import { listJobs } from './job-list.ts'
import { jobNotFound } from './job-writes.ts'
import { deleteJobSchema, getJobSchema, listJobsSchema, postJobSchema, putJobSchema } from './schemas/jobs.ts'
import { whySchema } from './schemas/runs.ts'
import { Reading } from './stale.ts'
import { timeOf } from './time-input.ts'
import { etagOf, parseIfMatch, type Version } from './version.ts'
import { jobToJson, whyToJson } from './views.ts'

interface OneJob {
  Params: { id: string }
  Querystring: { wait?: 'applied' }
}
interface ListQuery {
  status?: JobStatus
  tag?: string
  handler?: string
  dueBefore?: string
  idPrefix?: string
  active?: boolean
  limit: number
  cursor?: string
  stale?: boolean
}
interface StaleRead {
  Params: { id: string }
  Querystring: { stale?: boolean }
}

export function jobRoutes(instance: FastifyInstance, { owners, partitions, writes }: ApiContext): void {
  const write = (audit: AuditAction) => ({ role: 'operator', audit }) as const
  const read = { role: 'viewer' } as const

  /** Waits where that was asked for; the status is 202 when the wait was in vain. */
  const answerWritten = async (
    reply: FastifyReply,
    id: string,
    { unjudged, ...version }: Version & { unjudged?: boolean },
    asked: boolean,
    status: number,
  ): Promise<FastifyReply> => {
    // A condition that the owner has not judged yet is waited for as well.
    const wait = asked || unjudged === true
    const applied = wait && !unjudged && (await writes.applied(version.partition, { jobs: version.offset }))
    void reply.header('etag', etagOf(version))
    const answer = { id, etag: etagOf(version), partition: version.partition, offset: version.offset, applied }
    if (wait && !applied) return reply.code(202).send({ ...answer, ...waitTimeout })
    return status === 204 ? reply.code(204).send() : reply.code(status).send(answer)
  }

  instance.put<OneJob>('/v1/jobs/:id', { config: write('PUT'), schema: putJobSchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const definition = definitionOf(request.body, id)
    const { created, ...version } = await writes.put(id, definition, parseIfMatch(request.headers['if-match']))
    return answerWritten(reply, id, version, request.query.wait === 'applied', created ? 201 : 200)
  })

  instance.post<Omit<OneJob, 'Params'>>(
    '/v1/jobs',
    { config: write('CREATE'), schema: postJobSchema },
    async (request, reply) => {
      const id = randomUUID()
      request.audited = { jobId: id }
      const version = await writes.create(id, definitionOf(request.body, id))
      void reply.header('location', `/v1/jobs/${id}`)
      return answerWritten(reply, id, version, request.query.wait === 'applied', 201)
    },
  )

  instance.get<StaleRead>('/v1/jobs/:id', { config: read, schema: getJobSchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const reading = new Reading(owners, request.query.stale)
    const job = await writes.current(id, reading)
    // No write may rest on what may be out of date.
    const isStale = reading.mark(reply)
    if (job === undefined) throw jobNotFound(id)
    if (!isStale) void reply.header('etag', etagOf(job))
    return jobToJson(job, request.role)
  })

  instance.get<StaleRead>('/v1/jobs/:id/why', { config: read, schema: whySchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const reading = new Reading(owners, request.query.stale)
    const why = await writes.why(id, reading)
    reading.mark(reply)
    if (why === undefined) throw jobNotFound(id)
    return whyToJson(id, why)
  })

  instance.delete<OneJob>('/v1/jobs/:id', { config: write('DELETE'), schema: deleteJobSchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const version = await writes.delete(id, parseIfMatch(request.headers['if-match']))
    return answerWritten(reply, id, version, request.query.wait === 'applied', 204)
  })

  instance.get<{ Querystring: ListQuery }>('/v1/jobs', { config: read, schema: listJobsSchema }, async (request, reply) => {
    const { limit, cursor, dueBefore, stale, ...filter } = request.query
    const due = dueBefore === undefined ? {} : { dueBefore: timeOf('dueBefore', dueBefore) }
    const reading = new Reading(owners, stale)
    const page = await listJobs(reading, partitions, { filter: { ...filter, ...due }, limit, cursor })
    const jobs = page.jobs.map((job) => jobToJson(job, request.role))
    return { jobs, cursor: page.cursor ?? null, ...(reading.mark(reply) && { stale: reading.stale }) }
  })
}

/** Says in the body of a 202 what the status alone does not. */
export const waitTimeout = {
  code: 'wait-timeout',
  detail: 'The change is durable in the log, but its owner had not applied it within 5 s; it will.',
} as const
