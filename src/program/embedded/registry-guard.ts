/**
 * The address of the embedded registry. Programs on this machine reach the registry through it; pages of others do not. A call waits until the
 * registry has started, and keeps it from ending.
 */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { messageOf } from '../../ground/errors/index.ts'
import { foreignBy } from '../../ground/network/index.ts'
import type { OnDemandRegistry } from './on-demand-registry.ts'
import type { Place } from './registry.ts'

/** Of a schema with its references: far more than any topic needs. */
const bodyBytesMax = 4 * 1024 * 1024
const connectionsMax = 128
/** Calls at the same time, also those that wait for the start: a connection may carry many. */
const callsMax = 128
/** For the start, which takes 3 to 6 s on an idle machine. It goes on, so that a later call finds it done. */
const startMsMax = 30_000
/** Between two signs of life of a caller or of the registry. */
const answerMsMax = 30_000

/** Headers about one connection (RFC 9110, 7.6.1). Java's client asks each server for HTTP/2, which the registry would begin and this guard cannot. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]

const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)))

export interface RegistryGuard {
  close(): Promise<void>
}

type Registry = Pick<OnDemandRegistry, 'acquire' | 'release'>

/** Listens on 127.0.0.1. Rejects if the port is taken. `startMs`: how long a call waits for a start, by default 30,000. */
export async function guardRegistry(port: number, registry: Registry, startMs = startMsMax): Promise<RegistryGuard> {
  let calls = 0
  const limits = { requestTimeout: startMs + answerMsMax, headersTimeout: 10_000, keepAliveTimeout: 5_000 }
  const server = createServer(limits, (asked, answer) => {
    const refuse = (status: number, message: string): void => refuseWith(asked, answer, status, message)
    if (foreignBy(asked.headers, asked.method) !== undefined)
      return refuse(403, 'The embedded registry answers programs on this machine only, at http://127.0.0.1 or http://localhost.')
    if (Number(asked.headers['content-length'] ?? 0) > bodyBytesMax)
      return refuse(413, `A request to the embedded registry has at most ${bodyBytesMax} bytes.`)
    if (calls >= callsMax) return refuse(503, `The embedded registry answers at most ${callsMax} calls at the same time.`)
    calls++
    const up = registry.acquire()
    // Also when the caller has gone, and for a call behind another of its connection.
    answer.on('close', () => {
      calls--
      registry.release()
    })
    const timer = setTimeout(refuse, startMs, 503, 'The embedded registry is still starting. Ask again.')
    up.then(
      (place) => {
        clearTimeout(timer)
        // Nothing of a call that was refused or given up reaches the registry.
        if (!answer.headersSent && !asked.socket.destroyed) handOver(asked, answer, place, refuse)
      },
      (error) => {
        clearTimeout(timer)
        refuse(503, `The embedded registry cannot be started: ${messageOf(error)}`)
      },
    )
  })
  server.maxConnections = connectionsMax
  // Of a connection on which nothing happens, such as that of a caller who does not read.
  server.timeout = startMs + answerMsMax
  server.listen({ host: '127.0.0.1', port, exclusive: true })
  await once(server, 'listening')
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Refuse = (status: number, message: string) => void

function refuseWith(asked: IncomingMessage, answer: ServerResponse, status: number, message: string): void {
  if (answer.headersSent) return void answer.destroy()
  asked.resume()
  // The form of errors of the Confluent API. A rest of the body is not read.
  answer.writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json', connection: 'close' })
  answer.end(JSON.stringify({ error_code: status, message }))
}

function handOver(asked: IncomingMessage, answer: ServerResponse, { host, port }: Place, refuse: Refuse): void {
  const { method, url: path } = asked
  const headers: IncomingHttpHeaders = { ...endToEnd(asked.headers), host: `${host}:${port}` }
  // Else Node would send the body of a GET or DELETE without a frame, so that the registry takes it for the next request.
  if (asked.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked'
  const sent = request({ host, port, path, method, headers, timeout: answerMsMax })
  let bytes = 0
  asked.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > bodyBytesMax) sent.destroy(new Error('the request is too long'))
  })
  sent.on('timeout', () => sent.destroy(new Error(`it did not answer within ${answerMsMax / 1_000} s`)))
  sent.on('error', (error) => refuse(502, `The embedded registry does not answer: ${error.message}.`))
  sent.on('response', (response) => {
    answer.writeHead(response.statusCode ?? 502, endToEnd(response.headers))
    pipeline(response, answer, () => {})
  })
  answer.on('close', () => sent.destroy())
  // An error of one ends the other, and is told above.
  pipeline(asked, sent, () => {})
}
