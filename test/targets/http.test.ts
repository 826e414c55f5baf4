/** Jobs whose target is http, from the definition to the request. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { jobAt, openPlace } from './harness.ts'

test('a request is sent when it is due, repeated after a 503, and its answer is the result', async () => {
  const requests: { headers: IncomingMessage['headers']; body: string }[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    requests.push({ headers: request.headers, body })
    response.writeHead(requests.length === 1 ? 503 : 201).end('fine')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const place = await openPlace()
  const system = await place.start({
    DUELOG_HTTP_SIGNING_KEY: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    DUELOG_HTTP_ALLOW: '127.0.0.1',
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await place.client.schedule({
    id: 'hook',
    schedule: { delayMs: 0 },
    target: { http: { url, headers: { 'x-mine': 'yes' } } },
    payload: { n: 1 },
    retry: { backoff: { fixed: { delayMs: 0 } } },
  })
  const job = await vi.waitUntil(
    async () => {
      const found = await jobAt(system.url, 'hook')
      return found.status === 'COMPLETED' ? found : undefined
    },
    { timeout: 60_000 },
  )
  expect(job.lastRun).toMatchObject({ status: 'SUCCEEDED', attempts: 2, result: { status: 201, body: 'fine' } })
  expect(requests.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":1}'])
  const [first, second] = requests.map(({ headers }) => headers)
  expect(second).toMatchObject({
    'x-mine': 'yes',
    'content-type': 'application/json',
    'idempotency-key': expect.stringMatching(/^hook\/1@\d+-[0-9a-z]+$/),
    'webhook-id': first?.['idempotency-key'],
  })
  expect(first?.['idempotency-key']).toBe(second?.['idempotency-key'])
})
