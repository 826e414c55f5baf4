/** The session of the caller, and live statistics for pages. */
import { PassThrough } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { DuelogError } from '../../errors/index.ts'
import { version } from '../../process/index.ts'
import type { ApiContext } from '../context/index.ts'
import { countsOf } from '../owners/index.ts'
import {
  eventsSchema,
  internalCountsSchema,
  listenerBytesMax,
  listenersMax,
  listenersPerCallerMax,
  sessionSchema,
} from '../schemas/index.ts'
import { StatsBroadcast } from './stats-broadcast.ts'

export function eventsRoutes(instance: FastifyInstance, context: ApiContext): void {
  const config = { role: 'viewer' } as const
  const pulse = new StatsBroadcast(context)
  /** Open streams with their callers. */
  const open = new Map<PassThrough, string | null>()
  const listenersOf = (caller: string): number => [...open.values()].filter((each) => each === caller).length

  instance.get('/v1/session', { config, schema: sessionSchema }, (request) => ({
    role: request.role ?? 'admin',
    authentication: request.role !== null,
    name: request.role === null ? null : request.actor,
  }))

  instance.get('/v1/events', { config: { ...config, streams: true }, schema: eventsSchema }, (request, reply) => {
    // Without authentication all clients count as one caller.
    const caller = request.role === null ? null : request.actor
    if (open.size >= listenersMax || (caller !== null && listenersOf(caller) >= listenersPerCallerMax)) {
      throw new DuelogError(
        'overloaded',
        `This process already has ${listenersMax} listeners, or ${listenersPerCallerMax} of one caller; try another process, or try again later.`,
      )
    }
    const stream = new PassThrough()
    open.set(stream, caller)
    const leave = pulse.listen((message) => {
      if (stream.writableLength < listenerBytesMax) stream.write(`event: pulse\ndata: ${message}\n\n`)
    })
    const close = (): void => {
      leave()
      open.delete(stream)
      stream.end()
    }
    request.raw.once('close', close)
    stream.once('close', close)
    stream.write('retry: 2000\n\n')
    void reply.header('cache-control', 'no-store').header('x-accel-buffering', 'no').type('text/event-stream')
    return reply.send(stream)
  })
  // An open stream would delay a stop until it is cut off.
  instance.addHook('preClose', async () => {
    for (const stream of open.keys()) stream.end()
  })

  instance.get(
    '/internal/v1/counts',
    { config: { role: 'operator', internal: true }, schema: internalCountsSchema },
    async () => ({
      counts: (await context.engine?.counts()) ?? {
        ...(await countsOf(context.metrics)),
        instance: context.instance,
        version,
        startedAt: Math.round(context.clock.nowMs() - process.uptime() * 1_000),
      },
    }),
  )
}
