/** A receiver of webhooks for the demo. It is down until `recover`, and takes only requests with a right signature. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Receiver {
  url: string
  recover(): void
  /** Ids of the events, in order, each once: the idempotency key finds repeats. */
  delivered(): string[]
  close(): Promise<void>
}

/** `signingKey`: whsec_ and the secret in base64. */
export async function openReceiver(signingKey: string): Promise<Receiver> {
  const secret = Buffer.from(signingKey.replace('whsec_', ''), 'base64')
  const events = new Map<string, string>()
  let isUp = false
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': given = '' } = request.headers
    const signature = Buffer.from(`v1,${createHmac('sha256', secret).update(`${id}.${time}.${body}`).digest('base64')}`)
    const isGenuine = given.length === signature.length && timingSafeEqual(Buffer.from(String(given)), signature)
    const status = isGenuine ? (isUp ? 200 : 503) : 401
    if (status === 200) events.set(String(request.headers['idempotency-key']), (JSON.parse(body) as { id: string }).id)
    response.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    recover() {
      isUp = true
    },
    delivered: () => [...events.values()].sort(),
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
