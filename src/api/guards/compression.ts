/**
 * Compresses answers of text for callers that accept it: a list of 50 jobs is a tenth of its size then. Streams are left alone, because an
 * event must not wait for the next one. The work is done by the thread pool that files use too, so few answers are compressed at once, and
 * others go as they are.
 */
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { compressedAtOnceMax, compressedCharsMax, compressedCharsMin } from '../schemas/index.ts'

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
