/** Guards for every request: security headers, a rate for each caller, and a time limit for its body. */
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../../clock/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { bodiesMax, bodiesPerCallerMax, bodyReceiveMs } from '../schemas/index.ts'
import { RateLimit, tooMany } from './rate-limit.ts'

/** Only our own pages may show an answer, and an answer is never a page unless a route says so. */
const headers = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const

/** Call it before any other hook is added: refusals carry these headers too. */
export function securityHeaders(instance: FastifyInstance): void {
  instance.addHook('onRequest', async (_request, reply) => void reply.headers(headers))
}

/** So many refused requests of one connection close it. */
const refusedMax = 16

/**
 * Call it after the hook that identifies the caller. Probes, pages and unknown paths, which need no token, count for the address. Requests
 * between processes are not counted. A connection that keeps sending what is refused is closed.
 */
export function limitRates(instance: FastifyInstance, clock: Clock, perSecond: number): void {
  if (perSecond === 0) return
  const rates = new RateLimit(clock, perSecond, 2 * perSecond)
  const refused = new WeakMap<Socket, number>()
  instance.addHook('onRequest', async (request, reply) => {
    const { role, internal } = request.routeOptions.config
    if (internal === true) return
    const address = `address ${request.ip}`
    if (rates.take(role === undefined ? `open ${address}` : (callerOf(request) ?? address))) return
    const { socket } = request.raw
    const times = (refused.get(socket) ?? 0) + 1
    refused.set(socket, times)
    if (times >= refusedMax) void reply.header('connection', 'close')
    throw tooMany(`More than ${perSecond} requests a second came from one ${role === undefined ? 'address' : 'caller'}.`)
  })
}

/** Undefined for an unknown caller: without authentication all callers count as one. */
const callerOf = ({ role, actor }: FastifyRequest): string | undefined => (role === null ? undefined : `actor ${role} ${actor}`)

/**
 * Limits the time of a body, so that one that arrives byte by byte holds no connection for long. A batch may take as long as it
 * makes progress. The bodies of one moment leave connections free for requests without a body.
 */
export function limitBodyTimes(instance: FastifyInstance): void {
  let coming = 0
  const comingOf = new Map<string, number>()
  instance.addHook('preParsing', async (request, reply, payload) => {
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
    // Without a body there is nothing to wait for, and no listener for its errors.
    if (encoding === undefined && length === '0') return payload
    const caller = callerOf(request)
    // All viewers together count as one more caller, because there may be many of them.
    const parties = caller === undefined ? [] : request.role === 'viewer' ? [caller, 'viewers'] : [caller]
    if (coming >= bodiesMax || parties.some((party) => (comingOf.get(party) ?? 0) >= bodiesPerCallerMax)) {
      void reply.header('connection', 'close')
      throw new DuelogError(
        'overloaded',
        `This process is already receiving the bodies of ${bodiesMax} requests, or of ${bodiesPerCallerMax} from one caller or from all viewers; send the request again later.`,
      )
    }
    const body = payload as Readable
    coming++
    for (const party of parties) comingOf.set(party, (comingOf.get(party) ?? 0) + 1)
    let isComing = true
    const arrived = (): void => {
      if (!isComing) return
      isComing = false
      coming--
      for (const party of parties) {
        const left = (comingOf.get(party) ?? 1) - 1
        if (left > 0) comingOf.set(party, left)
        else comingOf.delete(party)
      }
    }
    body.once('close', arrived).once('end', arrived)
    if (request.routeOptions.config.streams === true) return payload
    const timer = setTimeout(() => {
      void reply.header('connection', 'close')
      const late = new DuelogError('bad-request', `The body was not complete within ${bodyReceiveMs} ms; send it faster.`)
      if (body.listenerCount('error') > 0) body.emit('error', late)
      else body.destroy()
    }, bodyReceiveMs)
    body.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
    return body
  })
}
