/** The handler of http targets, against a real server. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { HttpTarget } from '../../../schemas/generated.ts'
import { systemClock } from '../../../src/ground/clock/clock.ts'
import { readConfig } from '../../../src/ground/config/config.ts'
import { addressGuard } from '../../../src/worker/executor/handlers/address-guard.ts'
import type { Run } from '../../../src/worker/executor/handlers/handler.ts'
import { delayOf, httpHandler, signingKeyOf } from '../../../src/worker/executor/handlers/http.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

interface Seen {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: Buffer
}

async function serve(answer: (seen: Seen, response: ServerResponse) => void) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
    seen.push(one)
    answer(one, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?x=1` }
}

/** A server with the responses of the test that keeps its connections open. */
async function saying(text: string): Promise<string> {
  const server = createNetServer((socket) => socket.on('error', () => {}).once('data', () => socket.write(text)))
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const answering = (status: number, headers: Record<string, string> = {}, body = '') =>
  serve((_, response) => response.writeHead(status, headers).end(body))

const target = (url: string, more: Partial<HttpTarget> = {}): HttpTarget => ({ url, method: 'POST', headers: {}, ...more })

const run = (http: HttpTarget, more: Partial<Run> = {}) =>
  ({
    jobId: 'a.b/ä',
    runNo: 7,
    executionId: 'a.b/ä/7',
    attempt: 2,
    scheduledFor: 5,
    payloadBytes: Buffer.from([1, 255]),
    contentType: 'application/x-own',
    headers: { traceparent: Buffer.from('00-1-2-03') },
    cause: null,
    signal: new AbortController().signal,
    http,
    ...more,
  }) as unknown as Run

const handler = (deny: string[] = [], signingKey: Buffer | undefined = undefined) =>
  httpHandler({ guard: addressGuard({ deny }), signingKey, clock: systemClock })
const call = async (wanted: Run, use = handler()) => use(wanted)

it('sends payload and headers, and the same idempotency key with each attempt', async () => {
  const { seen, url } = await answering(200, {}, 'done')
  const result = await call(run(target(url, { headers: { Authorization: 'Bearer x' } })))
  expect(result).toEqual({ status: 200, body: 'done' })
  expect(seen[0]).toMatchObject({ method: 'POST', url: '/hook?x=1', body: Buffer.from([1, 255]) })
  expect(seen[0]?.headers).toMatchObject({
    authorization: 'Bearer x',
    'content-type': 'application/x-own',
    'content-length': '2',
    'idempotency-key': 'a%2Eb%2F%C3%A4/7',
    'duelog-attempt': '2',
    'duelog-scheduled-for': '5',
    traceparent: '00-1-2-03',
  })
  expect(seen[0]?.headers['webhook-signature']).toBeUndefined()
  await call(run(target(url), { attempt: 3 }))
  expect(seen[1]?.headers['idempotency-key']).toBe(seen[0]?.headers['idempotency-key'])
})

it('says which run a follow-up follows, in a header of ASCII that no job sets for another run', async () => {
  const { seen, url } = await answering(200)
  const [headers, result] = [{ 'duelog-cause': Buffer.from('made up') }, 'x'.repeat(60_000)]
  const error = { type: 'Fehler', message: `Betrag ungültig 😀\n${'x'.repeat(900)}` }
  const of = { jobId: 'rechnung-ä', runNo: 3, life: '1-2', outcome: 'DEAD', scheduledFor: 1, finishedAt: 2 } as const
  await call(run(target(url), { headers, cause: { ...of, error, result } }))
  await call(run(target(url), { headers }))
  const told = String(seen[0]?.headers['duelog-cause'])
  expect(told).toMatch(/^[\x20-\x7e]{1,600}$/)
  expect(JSON.parse(told)).toEqual({
    ...of,
    error: { ...error, message: expect.stringMatching(/^Betrag ungültig 😀\nx{100,}$/) },
  })
  expect(seen[1]?.headers['duelog-cause']).toBeUndefined()
})

it('closes a connection that is idle, also where the server does not, and none that waits for its answer', async () => {
  const closed = Promise.withResolvers<void>()
  const slow = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    request.resume().socket.setTimeout(0).once('close', closed.resolve)
    void slow.promise.then(() => response.end('done'))
  })
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const handle = httpHandler({ guard: addressGuard({ deny: [] }), signingKey: undefined, clock: systemClock, idleMs: 1 })
  const result = call(run(target(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)), handle)
  // Much longer than the allowed idle time.
  setTimeout(slow.resolve, 100)
  expect(await result).toEqual({ status: 200, body: 'done' })
  await closed.promise
})

it('signs as Standard Webhooks say, when it has a key', async () => {
  const { seen, url } = await answering(204)
  await call(run(target(url)), handler([], signingKeyOf(secret)))
  const { headers, body } = seen[0] as Seen
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`
  const expected = createHmac('sha256', key).update(text).update(body).digest('base64')
  expect(headers['webhook-signature']).toBe(`v1,${expected}`)
  expect(headers['webhook-id']).not.toContain('.')
})

it('is tried again after 408, 425, 429 and 5xx, and after nothing else that a server answers', async () => {
  for (const status of [408, 425, 429, 500, 503]) {
    const { url } = await answering(status, {}, 'no')
    await expect(call(run(target(url)))).rejects.toMatchObject({
      name: 'HttpStatusError',
      message: `the server answered ${status}: no`,
    })
  }
  for (const status of [400, 401, 404, 410, 422]) {
    const { url } = await answering(status)
    await expect(call(run(target(url)))).rejects.toMatchObject({ name: 'NonRetryableError' })
  }
})

it('waits as long as Retry-After says', async () => {
  const { url } = await answering(503, { 'retry-after': '120' })
  await expect(call(run(target(url)))).rejects.toMatchObject({ retryAfterMs: 120_000 })
  const now = Date.UTC(2030, 0, 1)
  expect(delayOf('Tue, 01 Jan 2030 00:00:09 GMT', now)).toBe(9_000)
  expect(delayOf('Tue, 01 Jan 2019 00:00:09 GMT', now)).toBe(0)
  expect(delayOf('soon', now)).toBeUndefined()
})

it('follows no redirect', async () => {
  const other = await answering(200)
  const { url } = await answering(307, { location: other.url })
  await expect(call(run(target(url)))).rejects.toMatchObject({ name: 'NonRetryableError', message: /redirects are not followed/ })
  expect(other.seen).toEqual([])
})

it('keeps the first kilobyte of the answer', async () => {
  const { url } = await answering(200, {}, 'x'.repeat(500_000))
  expect(await call(run(target(url)))).toEqual({ status: 200, body: 'x'.repeat(1_024) })
})

it('keeps no half of a character at its end', async () => {
  const { url } = await answering(200, {}, `x${'\u{1f600}'.repeat(1_000)}`)
  expect(await call(run(target(url)))).toEqual({ status: 200, body: `x${'\u{1f600}'.repeat(255)}` })
})

it('ends when its signal is aborted, and is tried again when nobody listens', async () => {
  const abort = new AbortController()
  const { url } = await serve(() => abort.abort(new Error('enough')))
  await expect(call(run(target(url), { signal: abort.signal }))).rejects.toThrow()
  const closed = await answering(200)
  const nobody = closed.url.replace(/:\d+\//, ':1/')
  await expect(call(run(target(nobody)))).rejects.not.toMatchObject({ name: 'NonRetryableError' })
})

it('reaches no address that is denied, whatever name leads to it', async () => {
  const { seen, url } = await answering(200)
  const port = new URL(url).port
  const denied = handler(['127.0.0.0/8', '::1', '169.254.0.0/16'])
  const names = [`http://127.0.0.1:${port}/`, `http://2130706433:${port}/`, `http://localhost:${port}/`, `http://[::1]:${port}/`]
  for (const name of [...names, `http://[::ffff:7f00:1]:${port}/`, 'http://169.254.169.254/latest/meta-data'])
    await expect(call(run(target(name)), denied), name).rejects.toMatchObject({
      name: 'NonRetryableError',
      message: /DUELOG_HTTP_DENY/,
    })
  expect(seen).toEqual([])
  await call(run(target(url)), handler(['169.254.0.0/16']))
  expect(seen).toHaveLength(1)
})

it('reaches nothing that is not public while the settings say nothing else', async () => {
  const { httpDeny, httpAllow } = readConfig({})
  const { seen, url } = await answering(200)
  const { port } = new URL(url)
  const guarded = (allow: string[] = httpAllow) =>
    httpHandler({ guard: addressGuard({ deny: httpDeny, allow }), signingKey: undefined, clock: systemClock })
  const hosts = [
    ...[
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '0177.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      '[::]',
    ],
    ...['10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '169.254.169.254', '[::ffff:a9fe:a9fe]'],
    ...[
      '[::127.0.0.1]',
      '[::ffff:0:127.0.0.1]',
      '[64:ff9b:1::7f00:1]',
      '[64:ff9b:1:7f00:0:100::]',
      '[fec0::1]',
      '[2002:7f00:1::]',
    ],
    ...['[2001:0:7f00:1::]', '[2001::80ff:fffe]', '[::169.254.169.254]', '[::ffff:0:a9fe:a9fe]', '[fe80::5efe:7f00:1]'],
    ...['0', '0.1.2.3', '192.0.2.1', '[100::1]', '[2001:db8::1]', '[::]', '[0:0:0:0:0:ffff:7f00:0001]'],
    ...['[fd00:ec2::254]', '[fe80::1]', '[64:ff9b::a9fe:a9fe]', '168.63.129.16', '224.0.0.1', '255.255.255.255'],
  ]
  for (const host of hosts) {
    await expect(call(run(target(`http://${host}:${port}/`)), guarded()), host).rejects.toMatchObject({
      name: 'NonRetryableError',
      message: /DUELOG_HTTP_ALLOW/,
    })
  }
  expect(seen).toEqual([])
  await call(run(target(url)), guarded(['127.0.0.0/8']))
  await call(run(target(`http://localhost:${port}/`)), guarded(['127.0.0.1', '::1']))
  expect(seen).toHaveLength(2)
})

it('follows no redirect to an address that it may not reach', async () => {
  const inner = await answering(200)
  const outer = await answering(302, { location: inner.url })
  await expect(call(run(target(outer.url)))).rejects.toMatchObject({ name: 'NonRetryableError', message: /redirects are not/ })
  expect(inner.seen).toEqual([])
})

it.each([
  'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(11),
])('gives up a server that changes the protocol, or never comes to its answer, at once: %j', async (text) => {
  const sent = handler()(run(target(await saying(text))))
  await expect(sent).rejects.toMatchObject({ name: 'NonRetryableError', message: /not with a status that ends a request/ })
})

it('takes the answer that comes after early hints', async () => {
  const url = await saying('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  expect(await handler()(run(target(url)))).toEqual({ status: 200, body: 'ok' })
})
