/**
 * Requests that fetch has no option for: to servers whose certificates a private authority signs, or which ask for a client certificate,
 * and requests whose answer comes while their body is still sent.
 */
import http from 'node:http'
import https, { Agent } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { messageOf } from '../errors/index.ts'

/** PEM texts. */
export interface Certificates {
  /** Authorities that are trusted instead of the public ones. */
  ca?: string | undefined
  cert?: string | undefined
  key?: string | undefined
}

export interface RequestInitOf {
  method?: string
  headers?: Record<string, string>
  /** A stream is read only as fast as it is sent, and the answer may come before its end. */
  body?: string | Readable
  signal?: AbortSignal
  redirect?: 'error'
}

/** The part of fetch that is needed here. */
export type Fetch = (url: string | URL, init?: RequestInitOf) => Promise<Response>

const socketsMax = 64
const noBody = new Set([204, 205, 304])

/** Agent for libraries that make their requests themselves. Undefined: the certificates of Node are enough. */
function agentOf(certificates: Certificates | undefined): Agent | undefined {
  const { ca, cert, key } = certificates ?? {}
  if (ca === undefined && cert === undefined) return undefined
  return new Agent({
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    minVersion: 'TLSv1.2',
    keepAlive: true,
    maxSockets: socketsMax,
  })
}

/**
 * The agent for the certificates of now, which `source` gives: another one as soon as they are others. A connection that is open shows the
 * certificate that it was opened with, so the idle ones of the agent before are closed.
 */
export function agentFrom(source: () => Certificates | undefined): () => Agent | undefined {
  let used: { certificates: Certificates | undefined; agent: Agent | undefined } | undefined
  return () => {
    const certificates = source()
    if (used !== undefined && used.certificates === certificates) return used.agent
    for (const socket of Object.values(used?.agent?.freeSockets ?? {}).flat()) socket?.destroy()
    used = { certificates, agent: agentOf(certificates) }
    return used.agent
  }
}

/**
 * fetch itself without certificates. With them: the same for https addresses, except that redirects are not followed. A function is asked for
 * the certificates at each request.
 */
export function fetchWith(certificates: Certificates | (() => Certificates | undefined) | undefined): Fetch {
  const agentNow = agentFrom(typeof certificates === 'function' ? certificates : () => certificates)
  return async (url, init = {}) => {
    const agent = agentNow()
    // A system that moves to HTTPS has processes of both kinds for a while.
    const ours = new URL(url).protocol === 'https:' ? agent : undefined
    const { body, ...rest } = init
    if (ours !== undefined || body instanceof Readable) return asked(ours, url, init)
    return fetch(url, { ...rest, ...(body !== undefined && { body }) })
  }
}

function asked(
  agent: Agent | undefined,
  url: string | URL,
  { method = 'GET', headers, body, signal, redirect }: RequestInitOf,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const { request } = new URL(url).protocol === 'https:' ? https : http
  const options = { method, ...(agent && { agent }), ...(headers && { headers }), ...(signal && { signal }) }
  const sent = request(url, options, (answer) => {
    const status = answer.statusCode ?? 0
    if (redirect === 'error' && status >= 300 && status < 400 && status !== 304) {
      answer.destroy()
      return reject(new TypeError(`it answered with a redirect (${status})`))
    }
    if (noBody.has(status)) answer.resume()
    const pairs = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    )
    const stream = noBody.has(status) ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>)
    resolve(new Response(stream, { status, headers: pairs }))
  })
  // The listener stays, because an unhandled error after the answer would end the process.
  sent.on('error', (error) => reject(signal?.aborted ? signal.reason : error))
  // An error of sending shows in the answer, or in its absence.
  if (body instanceof Readable) pipeline(body, sent).catch(() => {})
  else sent.end(body)
  return promise
}

const untrusted = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])

/** Whether a request failed because no known authority has signed the certificate of the server. */
export const isUntrusted = (thrown: unknown): boolean => untrusted.has(String((innermost(thrown) as { code?: unknown }).code))

/** Whether nothing listens at the address, or at any of those that a name has. */
export function isRefused(thrown: unknown): boolean {
  if (thrown instanceof AggregateError) return thrown.errors.length > 0 && thrown.errors.every(isRefused)
  if (!(thrown instanceof Error)) return false
  return (thrown as NodeJS.ErrnoException).code === 'ECONNREFUSED' || isRefused(thrown.cause)
}

/** The reason of a failed request: fetch itself only says "fetch failed". `limitMs`: the time limit of its signal. */
export function reasonOf(thrown: unknown, limitMs?: number): string {
  return limitMs !== undefined && isLate(thrown) ? `no answer within ${limitMs / 1_000} s` : messageOf(innermost(thrown))
}

/** Whether a request ended for its time limit: its effect is unknown. */
export function isLate(thrown: unknown): boolean {
  const inner = innermost(thrown)
  return inner instanceof Error && inner.name === 'TimeoutError'
}

function innermost(thrown: unknown): unknown {
  let inner = thrown
  for (let depth = 0; depth < 8 && inner instanceof Error; depth++) {
    const next = inner instanceof AggregateError ? inner.errors[0] : inner.cause
    if (next === undefined) break
    inner = next
  }
  return inner
}
