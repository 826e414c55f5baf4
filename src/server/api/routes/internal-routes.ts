/**
 * What other API processes ask of this one, by the table of peers/calls.ts. The front of an engine passes on to it what a scheduler answers. An
 * engine passes none on, so none runs in a loop.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SharedAnswer } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { allShown } from '../../../ground/metrics/index.ts'
import { isRefused } from '../../../ground/network/index.ts'
import type { Acknowledgement, Asker, FaultChoice, HistoryFilter } from '../../../ground/ports/index.ts'
import { version } from '../../../ground/process/index.ts'
import {
  type Call,
  callerHeader,
  callPath,
  calls,
  countsOf,
  encodeInternalJson,
  type Owner,
  type PeerState,
  type RemoteQueries,
  standbyCalls,
} from '../../peers/index.ts'
import type { ApiContext } from '../context/index.ts'
import { disconnectSignal, requestChecks } from '../http/index.ts'
import { closed } from '../schemas/index.ts'

// Definitions are complete here, with everything that viewers may not see.
const config = { role: 'operator', internal: true } as const

type Answers = Record<string, (...args: never[]) => unknown>

export function internalRoutes(instance: FastifyInstance, context: ApiContext): void {
  const { local, engine } = context
  const own = ownAnswers(context)
  const checkOf = requestChecks(false)
  for (const [name, call] of Object.entries<Call>(calls)) {
    const { args, needed = args.length, isAllowed, asks, audit } = call
    const check = checkOf({ type: 'array', items: args, additionalItems: false, minItems: needed, maxItems: args.length }, 'body')
    const stale = Object.hasOwn(standbyCalls, name) ? { stale: { type: 'boolean' } } : {}
    instance.route<{ Querystring: { args?: string; stale?: boolean } }>({
      method: audit === undefined ? 'GET' : 'POST',
      url: callPath(name),
      config: { ...config, ...(audit && { audit }) },
      schema: { hide: true, querystring: closed({ args: { type: 'string' }, ...stale }) },
      async handler(request, reply) {
        const given = parsed(request.query.args ?? '[]')
        if (!check(given) || isAllowed?.(...(given as never[])) === false)
          throw new DuelogError('bad-request', 'These are not the arguments of this call, or they ask for too much.')
        const all = [...(given as never[]), ...Array<never>(args.length - (given as never[]).length)]
        if (asks) all.push(askerOf(request, reply) as never)
        const answerers = own[name] === undefined ? schedulerOf(local ?? engine, request.query.stale) : own
        const answer = await answerers[name]?.(...all)
        return reply.type('application/json').send(encodeInternalJson({ answer }))
      },
    })
  }
}

function schedulerOf(found: Owner | undefined, isStale = false): Answers {
  if (found !== undefined) return (isStale ? found.standbyReads : found) as unknown as Answers
  throw new DuelogError('not-ready', 'This process has no scheduler role, so it owns no partition.')
}

/** What this process answers itself in any role. */
function ownAnswers(context: ApiContext): Answers {
  const { local, engine, localProof, localHistory, metrics, clock } = context
  const shown = new SharedAnswer(() => allShown(metrics.registry, metrics.sources, 'scheduler'))
  const history = () => {
    if (localHistory !== undefined) return localHistory
    throw new DuelogError('not-ready', 'This process does not have the role history.')
  }
  return {
    partitions: () => local?.partitions() ?? engine?.partitions() ?? [],
    async counts() {
      const { instance } = context
      const startedAt = Math.round(clock.nowMs() - process.uptime() * 1_000)
      return (await engine?.counts()) ?? { ...(await countsOf(metrics)), instance, version, startedAt }
    },
    health: context.health,
    alive: () => (engine === undefined ? context.peers?.alive() : engineState(engine)) ?? 'alive',
    hears: (instance: string) => (engine === undefined ? context.peers?.hears(instance) : engine.hears(instance)) ?? null,
    metrics: () => shown.get(),
    historyPage: (filter: HistoryFilter, limit: number, before: string | null) => history().page(filter, limit, before),
    historyCounts: (filter: HistoryFilter & { from: number; to: number }, bucketMs: number) => history().counts(filter, bucketMs),
    historyHandlers: (from: number, to: number) => history().handlers(from, to),
    proof: () => localProof?.proof() ?? [],
    acknowledge: (choice: FaultChoice, said: Acknowledgement) => localProof?.acknowledge(choice, said) ?? 0,
  }
}

/** What a front says of its engine, which has answered it before. */
async function engineState(engine: RemoteQueries): Promise<PeerState> {
  try {
    return await engine.alive()
  } catch (error) {
    if (isRefused(error)) return 'gone'
    throw error
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function askerOf({ headers }: FastifyRequest, reply: FastifyReply): Asker {
  const caller = headers[callerHeader]
  return { caller: typeof caller === 'string' ? caller : '', signal: disconnectSignal(reply) }
}
