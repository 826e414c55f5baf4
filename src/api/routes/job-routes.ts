/** Jobs one by one: create, replace, delete. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { JobDefinition } from '../../../schemas/index.ts'
import { definitionWarnings } from '../../../streams/definitions/index.ts'
import { type AuditAction, definitionChanges } from '../audit-trail/index.ts'
import type { ApiContext } from '../context/index.ts'
import { askerOf, checkedId, conditionOf, definitionOf, etagOf, keyedJobId, parseIfMatch, type Version } from '../http/index.ts'
import { cyclesInForce, cycleWarning, followersOf, keyOf, missingWarning, runTimeout, type Written } from '../jobs/index.ts'
import { cycleJobsMax, deleteJobSchema, postJobSchema, putJobSchema } from '../schemas/index.ts'

interface OneJob {
  Params: { id: string }
  Querystring: { wait?: 'applied' | 'ended'; timeoutMs: number }
}

interface Answer {
  id: string
  version: Version & { unjudged?: boolean }
  /** If nothing is waited for, or it has come. */
  status: number
  warnings?: string[]
}

export function jobRoutes(instance: FastifyInstance, context: ApiContext): void {
  const { writes, owners, partitions, reading } = context
  const write = (audit: AuditAction) => ({ role: 'operator', audit }) as const

  /** Warnings about a limit that other partitions do not share, a cycle that the definition closes, and followers that do not exist. */
  const warningsOf = async (id: string, definition: JobDefinition): Promise<{ warnings?: string[] }> => {
    const warnings = definitionWarnings(id, definition, partitions)
    // Without followers no owner is asked.
    if (followersOf(definition).length > 0) {
      const cycles = cyclesInForce({ owners, partitions }, cycleJobsMax)
      cycles.set(id, definition)
      const { path } = await cycles.through(id)
      if (path !== undefined) warnings.push(cycleWarning(path))
      const missing = await cycles.missing(id)
      if (missing.length > 0) warnings.push(missingWarning(missing))
    }
    return warnings.length === 0 ? {} : { warnings }
  }

  instance.put<OneJob>('/v1/jobs/:id', { config: write('PUT'), schema: putJobSchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const definition = await reading.run(() => definitionOf(request.body, id), askerOf(request, reply))
    const { created, before, ...version } = await writes.put(id, definition, conditionOf(request.headers))
    request.audited = { changes: definitionChanges(before, definition) }
    const status = created ? 201 : 200
    return answerWritten(context, request, reply, { id, version, status, ...(await warningsOf(id, definition)) })
  })

  instance.post<Omit<OneJob, 'Params'>>(
    '/v1/jobs',
    { config: write('CREATE'), schema: postJobSchema },
    async (request, reply) => {
      const key = keyOf(request)
      const made = randomUUID()
      const definition = await reading.run(() => definitionOf(request.body, made), askerOf(request, reply))
      const id = key === undefined ? made : keyedJobId(request.actor, key, definition)
      request.audited = { jobId: id }
      const written = key === undefined ? await writes.create(id, definition) : await writes.createOnce(id, definition)
      const { created = true, ...version } = written as Written & { created?: boolean }
      if (created) request.audited.changes = definitionChanges(undefined, definition)
      void reply.header('location', `/v1/jobs/${id}`)
      return answerWritten(context, request, reply, {
        ...{ id, version, status: created ? 201 : 200 },
        ...(await warningsOf(id, definition)),
      })
    },
  )

  instance.delete<OneJob>('/v1/jobs/:id', { config: write('DELETE'), schema: deleteJobSchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const { before, ...version } = await writes.delete(id, parseIfMatch(request.headers['if-match']))
    request.audited = { changes: definitionChanges(before, undefined) }
    return answerWritten(context, request, reply, { id, version, status: 204 })
  })
}

/** Waits if requested; the status is 202 if the wait ends first. */
async function answerWritten(
  { writes, runEnds }: ApiContext,
  request: FastifyRequest<Omit<OneJob, 'Params'>>,
  reply: FastifyReply,
  { id, version: { unjudged, ...version }, status, ...more }: Answer,
): Promise<FastifyReply> {
  const { wait, timeoutMs } = request.query
  // A condition that the owner has not judged yet is waited for as well.
  const waits = wait === 'applied' || unjudged === true
  const applied = waits && !unjudged && (await writes.applied(version.partition, { jobs: version.offset }))
  void reply.header('etag', etagOf(version))
  const answer = { id, etag: etagOf(version), partition: version.partition, offset: version.offset, applied, ...more }
  if (wait === 'ended') {
    const { ended, ...end } = await runEnds.wait(request, reply, version.partition, id, { specOffset: version.offset }, timeoutMs)
    if (!ended) return reply.code(202).send({ ...answer, ...runTimeout(timeoutMs) })
    return reply.code(status).send({ ...answer, applied: true, run: end.run, ...(end.reason !== null && { reason: end.reason }) })
  }
  if (waits && !applied) return reply.code(202).send({ ...answer, ...(await writes.timeoutOf([version.partition])) })
  if (status === 204) return reply.code(204).send()
  if (!applied) return reply.code(status).send(answer)
  const { warnings = [], ...state } = await writes.statusInForce(id, version)
  const all = [...(more.warnings ?? []), ...warnings]
  return reply.code(status).send({ ...answer, ...state, ...(all.length > 0 && { warnings: all }) })
}
