/** Jobs one by one: create, replace, delete. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { JobDefinition } from '../../../schemas/index.ts'
import type { AuditAction } from '../audit-trail/index.ts'
import type { ApiContext } from '../context/index.ts'
import { askerOf, checkedId, definitionOf, etagOf, keyedJobId, parseIfMatch, type Version } from '../http/index.ts'
import { cyclesInForce, cycleWarning, followersOf, keyOf, type Written } from '../jobs/index.ts'
import { cycleJobsMax, deleteJobSchema, postJobSchema, putJobSchema } from '../schemas/index.ts'

interface OneJob {
  Params: { id: string }
  Querystring: { wait?: 'applied' }
}

export function jobRoutes(instance: FastifyInstance, { writes, owners, partitions, checks }: ApiContext): void {
  const write = (audit: AuditAction) => ({ role: 'operator', audit }) as const

  /** Warnings about a cycle that the definition closes. A job without followers has none, and no owner is asked. */
  const warningsOf = async (id: string, definition: JobDefinition): Promise<{ warnings?: string[] }> => {
    if (followersOf(definition).length === 0) return {}
    const cycles = cyclesInForce({ owners, partitions }, cycleJobsMax)
    cycles.set(id, definition)
    const { path } = await cycles.through(id)
    return path === undefined ? {} : { warnings: [cycleWarning(path)] }
  }

  /** Waits if requested; the status is 202 if the wait ends first. */
  const answerWritten = async (
    reply: FastifyReply,
    id: string,
    { unjudged, ...version }: Version & { unjudged?: boolean },
    asked: boolean,
    status: number,
    more: { warnings?: string[] } = {},
  ): Promise<FastifyReply> => {
    // A condition that the owner has not judged yet is waited for as well.
    const wait = asked || unjudged === true
    const applied = wait && !unjudged && (await writes.applied(version.partition, { jobs: version.offset }))
    void reply.header('etag', etagOf(version))
    const answer = { id, etag: etagOf(version), partition: version.partition, offset: version.offset, applied, ...more }
    if (wait && !applied) return reply.code(202).send({ ...answer, ...(await writes.timeoutOf([version.partition])) })
    if (status === 204) return reply.code(204).send()
    return reply.code(status).send(applied ? { ...answer, ...(await writes.statusInForce(id, version)) } : answer)
  }

  instance.put<OneJob>('/v1/jobs/:id', { config: write('PUT'), schema: putJobSchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const definition = await checks.of(askerOf(request, reply)).run(() => definitionOf(request.body, id))
    const { created, ...version } = await writes.put(id, definition, parseIfMatch(request.headers['if-match']))
    return answerWritten(
      reply,
      id,
      version,
      request.query.wait === 'applied',
      created ? 201 : 200,
      await warningsOf(id, definition),
    )
  })

  instance.post<Omit<OneJob, 'Params'>>(
    '/v1/jobs',
    { config: write('CREATE'), schema: postJobSchema },
    async (request, reply) => {
      const key = keyOf(request)
      const made = randomUUID()
      const definition = await checks.of(askerOf(request, reply)).run(() => definitionOf(request.body, made))
      const id = key === undefined ? made : keyedJobId(request.actor, key, definition)
      request.audited = { jobId: id }
      const written = key === undefined ? await writes.create(id, definition) : await writes.createOnce(id, definition)
      const { created = true, ...version } = written as Written & { created?: boolean }
      void reply.header('location', `/v1/jobs/${id}`)
      return answerWritten(reply, id, version, request.query.wait === 'applied', created ? 201 : 200)
    },
  )

  instance.delete<OneJob>('/v1/jobs/:id', { config: write('DELETE'), schema: deleteJobSchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const version = await writes.delete(id, parseIfMatch(request.headers['if-match']))
    return answerWritten(reply, id, version, request.query.wait === 'applied', 204)
  })
}
