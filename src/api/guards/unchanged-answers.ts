/**
 * Answers 304 without a body to a caller that has the same answer already. Pages ask for their lists again and again, and most of them have
 * not changed. The ETag is a hash of the answer. Where the answer is a job, its ETag is the version of the job (If-Match) and stays so.
 */
import { hash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { hashedCharsMax, hashedCharsMin } from '../schemas/index.ts'

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
