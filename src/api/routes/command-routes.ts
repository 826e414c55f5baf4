/** Commands to one job. Each answers when the owner has applied it, so that its effect can be reported. */
import type { FastifyInstance } from 'fastify'
import { readPayload } from '../../../streams/definitions/index.ts'
import { notAllowed, type Problem } from '../../../streams/text/index.ts'
import type { JobView } from '../../ports/index.ts'
import type { AuditAction } from '../audit-trail/index.ts'
import type { ApiContext } from '../context/index.ts'
import { RequestError, timeOf } from '../http/index.ts'
import { Commands, keyOf, type RunWait } from '../jobs/index.ts'
import { backfillSchema, cancelJobSchema, pauseSchema, resumeSchema, triggerSchema } from '../schemas/index.ts'

interface Command {
  Params: { id: string }
  Body: { payload?: unknown; payloadBase64?: string } | null | undefined
}
interface Backfill {
  Params: { id: string }
  Body: { from: string | number; to: string | number }
}

const simple = [
  ['PAUSE', pauseSchema],
  ['RESUME', resumeSchema],
  ['CANCEL', cancelJobSchema],
] as const

export function commandRoutes(instance: FastifyInstance, context: ApiContext): void {
  const config = (audit: AuditAction) => ({ role: 'operator', audit }) as const
  const commands = new Commands(context)

  instance.post<Command & { Querystring: RunWait }>(
    '/v1/jobs/:id/trigger',
    { config: config('TRIGGER'), schema: triggerSchema },
    async (request, reply) => {
      const job = await commands.existing(request.params.id)
      const payload = payloadOf(request.body, job)
      return commands.makeRun(request, reply, job.id, 'TRIGGER', { payload, actor: request.actor })
    },
  )

  for (const [type, schema] of simple) {
    instance.post<Command>(`/v1/jobs/:id/${type.toLowerCase()}`, { config: config(type), schema }, async (request, reply) => {
      const job = await commands.existing(request.params.id)
      return commands.carryOut(job.id, type, { actor: request.actor }, reply, keyOf(request))
    })
  }

  instance.post<Backfill>(
    '/v1/jobs/:id/backfill',
    { config: config('BACKFILL'), schema: backfillSchema },
    async (request, reply) => {
      const job = await commands.existing(request.params.id)
      const [from, to] = [timeOf('from', request.body.from), timeOf('to', request.body.to)]
      if (to <= from) throw new RequestError('bad-request', [notAllowed('to', request.body.to, 'a time after from')])
      return commands.carryOut(job.id, 'BACKFILL', { from, to, actor: request.actor }, reply, keyOf(request))
    },
  )
}

/** The payload is read like the job's own, so that its media type stays true. */
function payloadOf(body: Command['Body'], job: JobView): Buffer | null {
  const problems: Problem[] = []
  const { payload } = readPayload({ ...body, contentType: job.definition?.contentType ?? undefined }, problems)
  if (problems.length > 0) throw new RequestError('bad-request', problems)
  return payload as Buffer | null
}
