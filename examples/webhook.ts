/**
 * A webhook with retries: the receiver fails twice, then answers. Each attempt carries the same idempotency key, and a signature
 * that proves to the receiver that the request comes from you.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createClient } from 'duelog/client'
import { cluster, signingKey } from './cluster.ts'

const secret = Buffer.from(signingKey.replace('whsec_', ''), 'base64')

// The receiver. In production it runs elsewhere.
const delivered = Promise.withResolvers<string>()
let requests = 0
const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature = '' } = request.headers
  const expected = `v1,${createHmac('sha256', secret).update(`${id}.${time}.${body}`).digest('base64')}`
  const genuine = signature.length === expected.length && timingSafeEqual(Buffer.from(String(signature)), Buffer.from(expected))
  const status = !genuine ? 401 : ++requests < 3 ? 503 : 200
  console.log(`attempt ${request.headers['duelog-attempt']} of ${request.headers['idempotency-key']}: ${status}`)
  response.writeHead(status).end()
  if (status === 200) delivered.resolve(body)
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const { port } = receiver.address() as { port: number }

// The workers of Duelog make the requests, which needs no code of yours. Addresses that are not public must be allowed: DUELOG_HTTP_ALLOW.
const client = createClient(cluster)
await client.schedule({
  id: 'order-7/paid',
  schedule: { delayMs: 0 },
  target: { http: { url: `http://127.0.0.1:${port}/hooks` } },
  payload: { order: 7, event: 'paid' },
  retry: { maxAttempts: 8, backoff: { exponential: { baseMs: 200, factor: 2, maxMs: 60_000 } } },
})

console.log(`delivered: ${await delivered.promise}`)
await client.close()
receiver.close()
