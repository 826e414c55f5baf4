/**
 * Guards of connections and requests: how many connections there are, one request at a time on each, rates, security headers, and the time
 * in which a body arrives.
 */

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../../../ground/clock/index.ts'
import { BoundedMap } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { bodiesMax, bodiesPerCallerMax, bodyReceiveMs, connectionsMax, rateCallersMax } from '../schemas/index.ts'

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

/**
 * Limits the requests of each caller by a token bucket that refills at the rate and holds two seconds' worth. A caller is a
 * token or subject, or an address without either. Refused sign-ins have their own buckets (sign-ins.ts).
 */

interface Bucket {
  left: number
  atMs: number
}

export class RateLimit {
  readonly #clock: Clock
  readonly #perSecond: number
  readonly #burst: number
  /** In the order of their last use. A full bucket need not be kept, so the oldest may always be dropped. */
  readonly #buckets = new BoundedMap<string, Bucket>(rateCallersMax)

  constructor(clock: Clock, perSecond: number, burst: number) {
    this.#clock = clock
    this.#perSecond = perSecond
    this.#burst = burst
  }

  /** Takes one token. False if none is left. */
  take(caller: string): boolean {
    const bucket = this.#filled(caller)
    this.#buckets.renew(caller, bucket)
    if (bucket.left < 1) return false
    bucket.left--
    return true
  }

  /** Tokens left, fractions included. */
  left(caller: string): number {
    return this.#filled(caller).left
  }

  #filled(caller: string): Bucket {
    const nowMs = this.#clock.nowMs()
    const bucket = this.#buckets.get(caller)
    if (bucket === undefined) return { left: this.#burst, atMs: nowMs }
    // A clock that was set back neither fills nor empties a bucket.
    const passedMs = Math.max(0, nowMs - bucket.atMs)
    bucket.left = Math.min(this.#burst, bucket.left + (passedMs * this.#perSecond) / 1_000)
    bucket.atMs = nowMs
    return bucket
  }
}

export function tooMany(what: string): DuelogError {
  return new DuelogError(
    'too-many-requests',
    `${what} Send the request again later, or ask the operator of Duelog for a higher limit.`,
  )
}

/**
 * Keeps room for new connections. A connection costs the client nothing. A client that holds the maximum number of them,
 * without a request or with one that never ends, would shut out all others. Such a connection is closed for a new one: first of
 * the address with the most of them, and among those the one that has waited longest. A connection with a request in progress
 * stays as long as there are others. If nearly all have one, for example because one client asks for thousands of plans, these
 * are closed in the same order: the few others may be new connections whose request has not arrived.
 */

export function keepRoom(server: Server): void {
  // New connections are accepted before another one is closed for them; beyond the spare ones they are refused unseen.
  server.maxConnections = connectionsMax + spare
  const waiting = new Places()
  const busy = new Places()
  const underWay = new Map<Socket, number>()
  // With TLS, requests come from another socket than the connection that carries it.
  const carriers = new Map<string, Socket>()
  const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
  let open = 0
  server.on('connection', (socket: Socket) => {
    open++
    const place = placeOf(socket)
    carriers.set(place, socket)
    socket.once('close', () => {
      if (carriers.get(place) === socket) carriers.delete(place)
      open--
      waiting.remove(socket)
      busy.remove(socket)
      underWay.delete(socket)
    })
    if (open > connectionsMax) ((waiting.size > newcomersMax ? waiting : busy).longest() ?? waiting.longest() ?? socket).destroy()
    if (!socket.destroyed) waiting.add(socket)
  })
  server.on('request', ({ socket: from }: IncomingMessage, response: ServerResponse) => {
    const socket = carriers.get(placeOf(from)) ?? from
    waiting.remove(socket)
    if (!socket.destroyed && !underWay.has(socket)) busy.add(socket)
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (underWay.get(socket) ?? 1) - 1
      underWay.set(socket, left)
      if (left > 0) return
      underWay.delete(socket)
      busy.remove(socket)
      if (!socket.destroyed) waiting.add(socket)
    })
  })
}

/** Some of these may still be closing. */
const spare = 64
/** Of the connections without a request this many may be new. */
const newcomersMax = 64

/** Connections without a request in progress, or with one, by address; each in the order in which they entered that state. */
class Places {
  readonly #byAddress = new Map<string, Set<Socket>>()
  readonly #addresses = new Map<Socket, string>()

  add(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    const sockets = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, sockets.add(socket))
    this.#addresses.set(socket, address)
  }

  remove(socket: Socket): void {
    const address = this.#addresses.get(socket)
    if (address === undefined) return
    this.#addresses.delete(socket)
    const sockets = this.#byAddress.get(address)
    sockets?.delete(socket)
    if (sockets?.size === 0) this.#byAddress.delete(address)
  }

  get size(): number {
    return this.#addresses.size
  }

  longest(): Socket | undefined {
    let most: Set<Socket> | undefined
    for (const sockets of this.#byAddress.values()) if (most === undefined || sockets.size > most.size) most = sockets
    return most?.values().next().value
  }
}

/**
 * Refuses pipelining. HTTP/1.1 lets a client send requests without waiting for answers, and Node hands all that have arrived to the program in
 * one turn of the event loop: a few megabytes of short requests would hold it for seconds. Here a connection has one request at a time. If
 * another one arrives before the answer, the first is answered with `Connection: close`, and the others are not read.
 */

/** What Node's socket of a server has beside its public methods. Without it, requests that have arrived are read and dropped. */
type ParsedSocket = Socket & { parser?: { pause?(): void } | null }

/** Call it after all listeners of requests were added. */
export function refusePipelining(server: Server): void {
  const listeners = server.listeners('request') as RequestListener[]
  const answers = new WeakMap<Socket, ServerResponse>()
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const socket: ParsedSocket = request.socket
    const earlier = answers.get(socket)
    if (earlier !== undefined) return closeAfter(earlier, socket)
    answers.set(socket, response)
    response.once('close', () => answers.delete(socket))
    for (const listen of listeners) listen.call(server, request, response)
  })
}

function closeAfter(answer: ServerResponse, socket: ParsedSocket): void {
  socket.parser?.pause?.()
  answer.shouldKeepAlive = false
  // Its head may say already that the connection stays open.
  if (answer.headersSent) answer.once('finish', () => socket.destroySoon())
}
