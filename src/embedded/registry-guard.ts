/**
 * The port of the embedded registry. The registry itself asks nobody who he is, so a web page could read, write and delete schemas through a
 * name that points to this machine. It listens at an address that nobody else knows; this guard hands it the requests of programs.
 */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { foreignBy } from '../network/index.ts'

/** Of a schema with its references: far more than any topic needs. */
const bodyBytesMax = 4 * 1024 * 1024
const connectionsMax = 128
/** The registry may have to wake up. */
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

export interface Place {
  host: string
  port: number
}

export interface RegistryGuard {
  close(): Promise<void>
}

/** Listens on 127.0.0.1. `registry`: where requests go. Rejects if the port is taken. */
export async function guardRegistry(port: number, registry: Place): Promise<RegistryGuard> {
  const server = createServer({ requestTimeout: answerMsMax, headersTimeout: 10_000, keepAliveTimeout: 5_000 }, (asked, answer) =>
    handOver(asked, answer, registry),
  )
  server.maxConnections = connectionsMax
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

function handOver(asked: IncomingMessage, answer: ServerResponse, { host, port }: Place): void {
  const refuse = (status: number, message: string): void => {
    if (answer.headersSent) return void answer.destroy()
    asked.resume()
    // The form of errors of the Confluent API. A rest of the body is not read.
    answer.writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json', connection: 'close' })
    answer.end(JSON.stringify({ error_code: status, message }))
  }
  if (foreignBy(asked.headers, asked.method) !== undefined)
    return refuse(403, 'The embedded registry answers programs on this machine only, at http://127.0.0.1 or http://localhost.')
  if (Number(asked.headers['content-length'] ?? 0) > bodyBytesMax)
    return refuse(413, `A request to the embedded registry has at most ${bodyBytesMax} bytes.`)
  const { method, url: path } = asked
  const headers = { ...endToEnd(asked.headers), host: `${host}:${port}` }
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
