/** Settings, partitions, series, metrics and probes. Metrics and probes are served in every role. */
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { isoTime } from '../../../../streams/text/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import { SharedAnswer, withTimeout } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { expose } from '../../../ground/metrics/index.ts'
import type { Health } from '../../../ground/ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import { problemOf, sendProblem } from '../http/index.ts'
import { listPartitions } from '../owners/index.ts'
import {
  livenessSchema,
  metricsSchema,
  partitionsSchema,
  readinessSchema,
  seriesSchema,
  settingsSchema,
} from '../schemas/index.ts'
import type { SeriesRange } from '../series/index.ts'

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

/** Probes wait for 5 s. An engine that commits or restores answers in between. */
const answerMsMax = 3_000
/** Probes are free for everybody, so not each of them reaches the engine. */
const answerKeptMs = 250

const silent: Health = {
  live: false,
  ready: false,
  reasons: [`The process of the scheduler has not answered within ${answerMsMax / 1_000} s.`],
}

/** The health of a front with that of its engine: whoever looks at the address of a Duelog sees both. */
export function engineHealth(own: () => Health, ask: () => Promise<Health>, clock: Clock): () => Promise<Health> {
  let known: { health: Health; atMs: number } | undefined
  const asked = new SharedAnswer(async () => {
    if (known !== undefined && clock.steadyMs() - known.atMs < answerKeptMs) return known.health
    const health = (await withTimeout(clock, answerMsMax, ask())) ?? silent
    known = { health, atMs: clock.steadyMs() }
    return health
  })
  return async () => {
    const [here, there] = [own(), await asked.get()]
    return { live: here.live && there.live, ready: here.ready && there.ready, reasons: [...here.reasons, ...there.reasons] }
  }
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

export function seriesRoutes(instance: FastifyInstance, { series, clock }: ApiContext): void {
  instance.get<{ Querystring: { range: SeriesRange } }>(
    '/v1/series',
    { config: { role: 'viewer' }, schema: seriesSchema },
    ({ query }) => {
      const { from, marks, ...rest } = series.keeper.view(query.range, clock.nowMs())
      return {
        ...rest,
        from: from === null ? null : isoTime(from),
        marks: marks.map((mark) => ({ ...mark, at: isoTime(mark.at) })),
      }
    },
  )
}
