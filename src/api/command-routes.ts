/** Commands to one job. Each answers when the owner has applied it, so that its effect can be told. */
import type { FastifyInstance } from 'fastify'
import { readPayload } from '../../streams/jobs/payload-json.ts'
import type { Problem } from '../../streams/jobs/problem.ts'
import type { JobView } from '../ports.ts'
import type { ApiContext } from './context.ts'
import { checkedId } from './definition-body.ts'
import { waitTimeout } from './job-routes.ts'
import { jobNotFound } from './job-writes.ts'
import { RequestError } from './problem.ts'
import { pauseSchema, triggerSchema } from './schemas/runs.ts'
import { runIdOf } from './views.ts'

interface Command {
  Params: { id: string }
  Body: { payload?: unknown; payloadBase64?: string } | null | undefined
}

export function commandRoutes(instance: FastifyInstance, { owners, writes }: ApiContext): void {
  const config = { role: 'operator' } as const
  const existing = async (given: string): Promise<JobView> => {
    const id = checkedId(given)
    const job = await writes.current(id)
    if (job === undefined) throw jobNotFound(id)
    return job
  }

  instance.post<Command>('/v1/jobs/:id/trigger', { config, schema: triggerSchema }, async (request, reply) => {
    const job = await existing(request.params.id)
    const payload = payloadOf(request.body, job)
    const { partition, offset, commandId } = await writes.command(job.id, 'TRIGGER', { payload, actor: request.role })
    void reply.code(202)
    if (!(await writes.applied(partition, { commands: offset }))) return { commandId, applied: false, ...waitTimeout }
    const [after, runs] = await owners.ask(partition, (owner) =>
      Promise.all([owner.job(partition, job.id), owner.runs(partition, job.id)]),
    )
    if (after === undefined) throw jobNotFound(job.id)
    const run = [...after.active, after.lastRun, ...(runs?.active ?? []), ...(runs?.finished ?? [])].find(
      (candidate) => candidate?.commandId === commandId,
    )
    // Without a run the owner has refused it, for example because as many runs as the job allows are active.
    if (run == null) return { commandId, applied: true, runId: null, reason: after.reason, status: after.status }
    return { commandId, applied: true, runId: runIdOf(job.id, run.runNo), reason: null, status: after.status }
  })

  for (const type of ['PAUSE', 'RESUME'] as const) {
    instance.post<Command>(`/v1/jobs/:id/${type.toLowerCase()}`, { config, schema: pauseSchema }, async (request, reply) => {
      const job = await existing(request.params.id)
      const { partition, offset, commandId } = await writes.command(job.id, type, { actor: request.role })
      if (!(await writes.applied(partition, { commands: offset }))) {
        return reply.code(202).send({ commandId, applied: false, ...waitTimeout })
      }
      const after = await owners.ask(partition, (owner) => owner.job(partition, job.id))
      if (after === undefined) throw jobNotFound(job.id)
      return { commandId, applied: true, reason: after.reason, status: after.status }
    })
  }
}

/** The payload is read as the job's own would be, so that its media type stays true. */
function payloadOf(body: Command['Body'], job: JobView): Buffer | null {
  const problems: Problem[] = []
  const { payload } = readPayload({ ...body, contentType: job.definition?.contentType ?? undefined }, problems)
  if (problems.length > 0) throw new RequestError('bad-request', problems)
  return payload as Buffer | null
}
