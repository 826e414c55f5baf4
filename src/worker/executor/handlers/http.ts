/**
 * Makes the request of an http target. 2xx is success. 408, 425, 429, 5xx and network errors are retried, after Retry-After if
 * the server sends it. Everything else is final. Redirects are not followed: a server must not choose where a payload goes.
 */
import { createHmac } from 'node:crypto'
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { HttpTarget } from '../../../../schemas/index.ts'
import { causeHeader } from '../../../../streams/runs/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import { activeContext } from '../../../ground/tracing/index.ts'
import type { AddressGuard } from './address-guard.ts'
import type { Handler, Run } from './handler.ts'
import { NonRetryableError, RetryLaterError } from './handler.ts'

export interface HttpHandlerOptions {
  guard: AddressGuard
  /** Key of the signature; absent: requests are not signed. */
  signingKey: Buffer | undefined
  clock: Clock
  /** Idle time after which a connection is closed, ms. Default 30 s. */
  idleMs?: number
}

/** A server need not close them, and there may be one for each name of a target. */
const idleMsDefault = 30_000

/** Bytes that are kept of a response body, and bytes that are read before the connection is dropped. */
const bodyKeptBytes = 1_024
const bodyReadBytesMax = 65_536
/** Statuses besides 5xx that a retry may change. */
const passing = new Set([408, 425, 429])

/** Responses before the final one, such as 103 Early Hints. */
const interimAnswersMax = 10

const switched = (status: number | undefined): NonRetryableError =>
  new NonRetryableError(`the server answered ${status}, and not with a status that ends a request`)

class HttpStatusError extends Error {
  override name = 'HttpStatusError'
}

export function httpHandler(options: HttpHandlerOptions): Handler {
  const { guard, idleMs = idleMsDefault } = options
  // The timeout counts only between requests. A request has the time of its attempt.
  const kept = { keepAlive: true, timeout: idleMs, lookup: guard.lookup }
  const agents = { 'http:': new PlainAgent(kept), 'https:': new TlsAgent(kept) }
  return async (run) => {
    const { http } = run
    if (http === null) throw new NonRetryableError('the handler http is for jobs with target.http; this one has none')
    const url = new URL(http.url)
    const refusal = guard.refusalOf(url.hostname)
    if (refusal !== undefined) throw new NonRetryableError(refusal)
    const secure = url.protocol === 'https:'
    const send = secure ? tlsRequest : plainRequest
    const agent = secure ? agents['https:'] : agents['http:']
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = send(url, { method: http.method, headers: headersOf(run, http, options), signal: run.signal, agent })
      request.on('response', resolve)
      // Neither is a final response, and none need follow: the slot would be held until the attempt ends.
      request.on('upgrade', (answer, socket) => {
        socket.destroy()
        reject(switched(answer.statusCode))
      })
      let interim = 0
      request.on('information', ({ statusCode }) => {
        if (statusCode === 101 || ++interim > interimAnswersMax) request.destroy(switched(statusCode))
      })
      request.on('error', reject)
      request.end(run.payloadBytes ?? undefined)
    })
    const status = answer.statusCode ?? 0
    const body = await startOf(answer)
    if (status >= 200 && status < 300) return { status, body }
    throw failureOf(status, body, answer.headers['retry-after'], options.clock.nowMs())
  }
}

function headersOf(run: Run, { headers }: HttpTarget, { signingKey, clock }: HttpHandlerOptions): Record<string, string> {
  const id = idempotencyKey(run)
  const given: Record<string, string> = {}
  for (const [name, value] of Object.entries(run.headers)) given[name.toLowerCase()] = value.toString('latin1')
  if (run.contentType !== null) given['content-type'] = run.contentType
  for (const [name, value] of Object.entries(headers)) given[name.toLowerCase()] = value
  for (const name of ['host', 'transfer-encoding', 'connection', 'expect', 'duelog-cause']) delete given[name]
  const context = activeContext()
  if (context !== undefined) delete given.tracestate
  const body = run.payloadBytes ?? Buffer.alloc(0)
  const ours = {
    'content-length': String(body.length),
    'idempotency-key': id,
    'duelog-attempt': String(run.attempt),
    'duelog-scheduled-for': String(run.scheduledFor),
    ...(run.cause !== null && { 'duelog-cause': causeHeader(run.cause) }),
  }
  return { ...given, ...context, ...ours, ...(signingKey === undefined ? {} : signed(id, body, signingKey, clock.nowMs())) }
}

/**
 * The execution's id in characters that every header and the signed text of Standard Webhooks can carry: the same for each
 * attempt.
 */
function idempotencyKey({ jobId, executionId }: Run): string {
  // Only the job's own part of the id can contain other characters.
  return `${encodeURIComponent(jobId).replaceAll('.', '%2E')}${executionId.slice(jobId.length)}`
}

function failureOf(status: number, body: string, retryAfter: string | undefined, nowMs: number): Error {
  const message = `the server answered ${status}${body === '' ? '' : `: ${body.slice(0, 200)}`}`
  if (status >= 300 && status < 400) return new NonRetryableError(`${message}; redirects are not followed`)
  if (status < 500 && !passing.has(status)) return new NonRetryableError(message)
  const afterMs = delayOf(retryAfter, nowMs)
  return afterMs === undefined ? new HttpStatusError(message) : new RetryLaterError(afterMs, message)
}

/** Retry-After is seconds or an HTTP date; any other value is ignored. */
export function delayOf(retryAfter: string | undefined, nowMs: number): number | undefined {
  if (retryAfter === undefined) return undefined
  if (/^\s*\d{1,9}\s*$/.test(retryAfter)) return Number(retryAfter) * 1_000
  const at = /[a-z]/i.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}

/** The first bytes of the body as text. The rest is read and dropped if that keeps the connection usable. */
async function startOf(answer: IncomingMessage): Promise<string> {
  const kept: Buffer[] = []
  let bytes = 0
  let keptBytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (keptBytes < bodyKeptBytes) {
      const part = chunk.subarray(0, bodyKeptBytes - keptBytes)
      kept.push(part)
      keptBytes += part.length
    }
    // Leaving the loop destroys the connection.
    if (bytes > bodyReadBytesMax) break
  }
  // Bytes at the end that are the begin of a character are left out.
  return new TextDecoder().decode(Buffer.concat(kept), { stream: bytes > keptBytes })
}

/** Bytes of a key such as `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`. */
export const signingKeyOf = (text: string): Buffer => Buffer.from(text.replace(/^whsec_/, ''), 'base64')

/**
 * Signs a request according to https://www.standardwebhooks.com, so that any of its libraries can verify the sender. `id` is
 * the same for each attempt of a run. It contains no full stop, which separates the signed parts.
 */
function signed(id: string, body: Buffer, key: Buffer, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
