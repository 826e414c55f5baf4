/** The session of the caller, and live statistics for pages: one broadcast for all listeners. */
import { PassThrough } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { DuelogError } from '../../../ground/errors/index.ts'
import { countsOf, type PartitionOwnerView, type ProcessCounts, sumOf } from '../../peers/index.ts'
import type { ApiContext } from '../context/index.ts'
import { SearchPreparer } from '../jobs/index.ts'
import {
  eventsSchema,
  listenerBytesMax,
  listenersMax,
  listenersPerCallerMax,
  sessionSchema,
  statsIntervalMs,
} from '../schemas/index.ts'
import { summaryOf } from './proof-routes.ts'

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
}

/**
 * Sends all listeners once a second the statistics of the system: counts of all owners and a view of each partition. Without
 * listeners no owner is asked; all listeners share one answer. A message is complete in itself, so a missed one does no harm.
 */

export interface StatsMessage {
  /** Epoch ms by the clock of this process. */
  at: number
  /** Sums over all owners. They fall when a process ends, so a negative difference means nothing. */
  counts: ProcessCounts
  partitions: PartitionOwnerView[]
  /** Findings of the auditors, and the time up to which they have judged; null if unknown. */
  proof: { found: number; unacknowledged: number; audited: number; judgedUntil: number | null } | null
}

type Listener = (message: string) => void

export class StatsBroadcast {
  readonly #context: ApiContext
  readonly #listeners = new Set<Listener>()
  readonly #searches: SearchPreparer
  #cancel: (() => void) | undefined
  #last: string | undefined

  constructor(context: ApiContext) {
    this.#context = context
    this.#searches = new SearchPreparer(context, () => this.#listeners.size > 0)
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** Calls `listener` with each following message, as JSON. Returns a function that ends it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    if (this.#last !== undefined) listener(this.#last)
    if (this.#listeners.size === 1) void this.#beat()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#cancel?.()
      this.#last = undefined
    }
  }

  async #beat(): Promise<void> {
    const { clock, logger } = this.#context
    this.#cancel?.()
    try {
      this.#last = JSON.stringify(await this.#message())
      for (const listener of this.#listeners) listener(this.#last)
    } catch (error) {
      // Without a message the listeners show that their data is old.
      logger.debug(
        { event: 'counts-not-read', err: error },
        'The counts could not be read from the owners; the read is repeated.',
      )
    }
    if (this.#listeners.size === 0) return
    void this.#searches.tick()
    this.#cancel?.()
    this.#cancel = clock.at(clock.nowMs() + statsIntervalMs, () => void this.#beat())
  }

  async #message(): Promise<StatsMessage> {
    const { owners, metrics, clock } = this.#context
    const [local, remote, partitions, proof] = await Promise.all([
      countsOf(metrics),
      owners.remoteCounts(),
      owners.views(),
      this.#proof(),
    ])
    return { at: clock.nowMs(), counts: sumOf([local, ...remote]), partitions, proof }
  }

  async #proof(): Promise<StatsMessage['proof']> {
    const { proofs, partitions } = this.#context
    // Without an answer of the auditors the rest of the message is still valid.
    const found = await proofs?.proofs().catch(() => undefined)
    if (found === undefined || found.length === 0) return null
    const { found: faults, unacknowledged, audited, judgedUntil } = summaryOf(found, partitions)
    return { found: faults, unacknowledged, audited, judgedUntil }
  }
}
