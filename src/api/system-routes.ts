/** Partitions, metrics and probes. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { expose } from '../exposition.ts'
import type { ApiContext } from './context.ts'
import { problemOf, sendProblem } from './problem.ts'
import { metricsSchema, partitionsSchema, probeSchema } from './schemas/system.ts'

export function systemRoutes(instance: FastifyInstance, { owners, metrics, health }: ApiContext): void {
  const config = { role: 'viewer' } as const

  instance.get('/v1/partitions', { config, schema: partitionsSchema }, async () => ({ partitions: await owners.views() }))

  instance.get('/metrics', { config, schema: metricsSchema }, async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await expose(metrics.registry, metrics.sources)),
  )

  // Probes need no token: the platform that asks has none, and they tell nothing of any job.
  const probe = (which: 'live' | 'ready') => async (_request: FastifyRequest, reply: FastifyReply) => {
    const found = health()
    if (found[which]) return { status: 'ok' }
    return sendProblem(reply, problemOf('not-ready', found.reasons.join(' ') || `The process is not ${which}.`))
  }
  instance.get('/livez', { schema: probeSchema }, probe('live'))
  instance.get('/readyz', { schema: probeSchema }, probe('ready'))
}
