/** Settings, partitions, metrics and probes. Metrics and probes are served in every role. */
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { SharedAnswer } from '../../concurrency/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { allShown, expose } from '../../metrics/index.ts'
import type { ApiContext } from '../context/index.ts'
import { problemOf, sendProblem } from '../http/index.ts'
import { engineHealth, listPartitions } from '../owners/index.ts'
import { closed, livenessSchema, metricsSchema, partitionsSchema, readinessSchema, settingsSchema } from '../schemas/index.ts'

export function systemRoutes(instance: FastifyInstance, context: ApiContext): void {
  const { owners, admin, names, metrics, engine, clock, settings = [], topics = [] } = context
  const health = engine === undefined ? context.health : engineHealth(context.health, () => engine.health(), clock)
  const config = { role: 'viewer' } as const

  instance.get('/v1/settings', { config, schema: settingsSchema }, () => ({ settings, topics, partitions: context.partitions }))

  const partitions = new SharedAnswer(async () => ({ partitions: await listPartitions(owners, admin, names) }))
  instance.get('/v1/partitions', { config, schema: partitionsSchema }, () => partitions.get())

  instance.get('/metrics', { config, schema: metricsSchema }, async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await expose(metrics.registry, metrics.sources)),
  )

  // Probes need no token: the platform has none, and the answers contain nothing about jobs.
  const probe = (which: 'live' | 'ready') => async (_request: FastifyRequest, reply: FastifyReply) => {
    const found = await health()
    if (found[which]) return { status: 'ok' }
    return sendProblem(reply, problemOf('not-ready', found.reasons.join(' ') || `The process is not ${which}.`))
  }
  instance.get('/livez', { schema: livenessSchema }, probe('live'))
  instance.get('/readyz', { schema: readinessSchema }, probe('ready'))
}

/** For the front of this process. */
export function engineRoutes(instance: FastifyInstance, { metrics, health }: ApiContext): void {
  const config = { role: 'operator', internal: true } as const
  const schema = { hide: true, querystring: closed({}) } as const
  instance.get('/internal/v1/health', { config, schema }, () => ({ health: health() }))
  const shown = new SharedAnswer(() => allShown(metrics.registry, metrics.sources, 'scheduler'))
  instance.get('/internal/v1/metrics', { config, schema }, async () => ({ metrics: await shown.get() }))
}

const inEveryRole: ReadonlySet<string> = new Set(['/metrics', '/livez', '/readyz'])

/** A hook for a process without the role api: only metrics, probes and internal queries are served. Throws `not-found` for others. */
export function withoutPublicApi(): onRequestAsyncHookHandler {
  return async ({ method, routeOptions: { url = '', config } }) => {
    if (inEveryRole.has(url) || config.internal === true) return
    throw new DuelogError(
      'not-found',
      `This process does not have the role api, so it does not answer ${method} for jobs or runs; send the request to a process with api in DUELOG_ROLES.`,
    )
  }
}
