/** Answers on their way out: unchanged ones are not sent again, long ones are compressed, and unread ones are bounded. */
import { hash } from 'node:crypto'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import {
  compressedAtOnceMax,
  compressedCharsMax,
  compressedCharsMin,
  hashedCharsMax,
  hashedCharsMin,
  unreadCharsMax,
} from '../schemas/index.ts'

/**
 * Bounds the memory of answers that clients do not read. An answer of a few megabytes costs the client one line, and one packet
 * holds hundreds of such lines. Above the limit connections are closed: first of the address whose answers hold most, and among
 * those the one that has waited longest.
 */

/** Call it after all hooks that change answers. Answers between processes are bounded by their requests. */
export function limitUnread(instance: FastifyInstance): void {
  const unread = new Unread()
  instance.addHook('onSend', async ({ raw: { socket }, routeOptions: { config } }, { raw }, payload) => {
    // A stream waits for its reader. A file of the dashboard is in memory once, for any number of readers.
    const size = typeof payload === 'string' ? payload.length : compressedBytes(payload)
    if (size === 0 || config.internal === true || socket.destroyed) return payload
    unread.add(socket, size)
    let isUnread = true
    const read = (): void => {
      if (isUnread) unread.remove(socket, size)
      isUnread = false
    }
    raw.once('finish', read).once('close', read)
    while (unread.size > unreadCharsMax) {
      const longest = unread.longest(socket)
      if (longest === undefined) break
      unread.forget(longest)
      longest.destroy()
    }
    return payload
  })
}

interface Held {
  address: string
  size: number
  answers: number
}

/** Sizes are in characters; a text may take twice as many bytes. */
class Unread {
  size = 0
  /** In the order in which their oldest answer started to wait. */
  readonly #bySocket = new Map<Socket, Held>()
  readonly #byAddress = new Map<string, number>()
  readonly #watched = new WeakSet<Socket>()

  add(socket: Socket, size: number): void {
    const held = this.#bySocket.get(socket) ?? { address: socket.remoteAddress ?? '', size: 0, answers: 0 }
    this.#bySocket.set(socket, held)
    held.answers++
    this.#change(held, size)
    if (this.#watched.has(socket)) return
    this.#watched.add(socket)
    // An answer that waits on its connection gets no close event.
    socket.once('close', () => this.forget(socket))
  }

  remove(socket: Socket, size: number): void {
    const held = this.#bySocket.get(socket)
    if (held === undefined) return
    held.answers--
    this.#change(held, -size)
    if (held.answers === 0) this.#bySocket.delete(socket)
  }

  forget(socket: Socket): void {
    const held = this.#bySocket.get(socket)
    if (held === undefined) return
    this.#change(held, -held.size)
    this.#bySocket.delete(socket)
  }

  /** One answer may exceed the limit: it stays while it is the only one. */
  longest(last: Socket): Socket | undefined {
    const [[most] = []] = [...this.#byAddress].sort(([, left], [, right]) => right - left)
    for (const [socket, { address }] of this.#bySocket) if (address === most && socket !== last) return socket
    const held = this.#bySocket.get(last)
    return held !== undefined && held.address === most && held.answers > 1 ? last : undefined
  }

  #change(held: Held, by: number): void {
    held.size += by
    this.size += by
    const left = (this.#byAddress.get(held.address) ?? 0) + by
    if (left > 0) this.#byAddress.set(held.address, left)
    else this.#byAddress.delete(held.address)
  }
}

/**
 * Answers 304 without a body to a caller that has the same answer already. Pages ask for their lists again and again, and most of them have
 * not changed. The ETag is a hash of the answer. Where the answer is a job, its ETag is the version of the job (If-Match) and stays so.
 */

/** Call it before `compressAnswers`: what is not sent needs no compression. Answers with the header `without` get no ETag. */
export function answerUnchanged(instance: FastifyInstance, without: string): void {
  instance.addHook('onSend', async ({ headers, method, routeOptions: { config } }, reply, payload) => {
    if (typeof payload !== 'string' || payload.length < hashedCharsMin || payload.length > hashedCharsMax) return payload
    if (method !== 'GET' || reply.statusCode !== 200 || config.internal === true || reply.hasHeader('etag')) return payload
    if (reply.hasHeader(without)) return payload
    if (!/^application\/json\b/.test(String(reply.getHeader('content-type') ?? ''))) return payload
    const etag = `W/"${hash('sha1', payload, 'base64url')}"`
    void reply.header('etag', etag)
    if (!names(headers['if-none-match'], etag)) return payload
    void reply.code(304).removeHeader('content-type').removeHeader('content-length')
    return ''
  })
}

/** A proxy may have made the ETag of a compressed answer weak or not; only the hash counts. */
const names = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',', 20).some((part) => part.trim().replace(/^W\//, '') === etag.slice(2))

/**
 * Compresses answers of text for callers that accept it: a list of 50 jobs is a tenth of its size then. Streams are left alone, because an
 * event must not wait for the next one. The work is done by the thread pool that files use too, so few answers are compressed at once, and
 * others go as they are.
 */

const gzipped = promisify(gzip)
/** A tenth of the time of the default level, for a few percent more bytes. */
const options = { level: constants.Z_BEST_SPEED }
const textual = /^(application\/(json|problem\+json)|text\/(plain|html))\b/

/** Answers that this process has compressed, which no other answer shares. */
const compressed = new WeakSet<object>()

export const compressedBytes = (payload: unknown): number =>
  Buffer.isBuffer(payload) && compressed.has(payload) ? payload.byteLength : 0

/** Call it before `limitUnread`, which counts what is sent. Answers between processes stay as they are: their way is short. */
export function compressAnswers(instance: FastifyInstance): void {
  let running = 0
  instance.addHook('onSend', async ({ headers, method, routeOptions: { config } }, reply, payload) => {
    if (typeof payload !== 'string' || payload.length < compressedCharsMin || config.internal === true || method === 'HEAD')
      return payload
    if (!textual.test(String(reply.getHeader('content-type') ?? '')) || reply.hasHeader('content-encoding')) return payload
    void reply.header('vary', varying(reply.getHeader('vary')))
    if (!acceptsGzip(headers['accept-encoding'])) return payload
    if (running >= compressedAtOnceMax || payload.length > compressedCharsMax) return payload
    running++
    try {
      const bytes = await gzipped(payload, options)
      compressed.add(bytes)
      void reply.header('content-encoding', 'gzip').header('content-length', bytes.byteLength)
      return bytes
    } finally {
      running--
    }
  })
}

/** Whether the header names gzip and does not refuse it with q=0. */
function acceptsGzip(header: string | string[] | undefined): boolean {
  const parts = String(header ?? '').split(',', 20)
  return parts.some((part) => /^\s*gzip\s*(;|$)/i.test(part) && !/;\s*q=0(\.0*)?\s*$/i.test(part))
}

function varying(before: unknown): string {
  const names = before === undefined ? '' : String(before)
  return /\baccept-encoding\b/i.test(names) ? names : [names, 'accept-encoding'].filter((name) => name !== '').join(', ')
}
