/** The guard of the embedded registry: programs on this machine reach it, pages that point a name to this machine do not. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { guardRegistry } from '../../src/program/embedded/registry-guard.ts'
import { distinctPorts } from '../setup/free-ports.ts'

interface Seen {
  method: string | undefined
  url: string | undefined
  headers: IncomingHttpHeaders
  body: string
}

/** A registry that answers what it was asked, behind its guard. `starting`: it has started when this resolves. */
async function guarded({ starting = Promise.resolve(), startMs }: { starting?: Promise<void>; startMs?: number } = {}) {
  const seen: Seen[] = []
  const registry = createServer((asked, answer) => {
    let body = ''
    asked.on('data', (piece) => {
      body += piece
    })
    asked.on('end', () => {
      seen.push({ method: asked.method, url: asked.url, headers: asked.headers, body })
      answer.writeHead(201, { 'content-type': 'text/plain' }).end(`answer to ${asked.url}`)
    })
  }).listen(0, '127.0.0.1')
  await once(registry, 'listening')
  const [port = 0] = await distinctPorts(1)
  const place = { host: '127.0.0.1', port: (registry.address() as AddressInfo).port }
  /** Calls that hold the registry, and who waits for a number of them. */
  const held = { now: 0, ever: 0, look: () => {} }
  const count = (by: number): void => {
    held.now += by
    held.ever += Math.max(0, by)
    held.look()
  }
  const onDemand = {
    acquire: () => {
      count(1)
      return starting.then(() => place)
    },
    release: () => count(-1),
  }
  const holding = async (calls: number): Promise<void> => {
    while (held.now !== calls)
      await new Promise<void>((resolve) => {
        held.look = resolve
      })
  }
  const guard = await guardRegistry(port, onDemand, startMs)
  onTestFinished(async () => {
    await guard.close()
    registry.closeAllConnections()
    registry.close()
  })
  const ask = (headers: Record<string, string>, method = 'GET', body?: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path: '/subjects?x=1', method, headers }, (answer) => {
        let text = ''
        answer.on('data', (piece) => {
          text += piece
        })
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  return { ask, seen, port, registry, held, holding }
}

describe('the guard of the embedded registry', () => {
  it('hands over the requests of programs, whole', async () => {
    const { ask, seen, port } = await guarded()
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`])
      expect(await ask({ host, 'x-own': 'y' }, 'POST', '{"schema":"…"}')).toEqual({
        status: 201,
        text: 'answer to /subjects?x=1',
      })
    expect(seen).toMatchObject(
      [1, 2].map(() => ({ method: 'POST', url: '/subjects?x=1', body: '{"schema":"…"}', headers: { 'x-own': 'y' } })),
    )
  })
  it('hands over a request that asks for HTTP/2, as Java does, without that wish', async () => {
    const { ask, seen, port } = await guarded()
    const wish = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAAAAIAAAAB' }
    expect((await ask({ host: `127.0.0.1:${port}`, ...wish })).status).toBe(201)
    expect(Object.keys(seen[0]?.headers ?? {})).toEqual(['host', 'connection'])
  })
  it.each<[string, Record<string, string>]>([
    ['a name that points to this machine', { host: 'evil.example:8081' }],
    ['another page of this machine', { host: '127.0.0.1:8081', origin: 'http://127.0.0.1:3000' }],
    ['a page of another site', { host: '127.0.0.1:8081', 'sec-fetch-site': 'cross-site' }],
  ])('refuses %s', async (_, headers) => {
    const { ask, seen } = await guarded()
    for (const method of ['GET', 'DELETE', 'POST']) {
      const { status, text } = await ask(headers, method, method === 'POST' ? '{}' : undefined)
      expect([status, JSON.parse(text).error_code]).toEqual([403, 403])
    }
    expect(seen).toEqual([])
  })
  it('refuses bodies that are too long, with and without a length', async () => {
    const { ask, seen, port } = await guarded()
    const host = `127.0.0.1:${port}`
    const long = 'x'.repeat(4 * 1024 * 1024 + 1)
    expect((await ask({ host, 'content-length': String(long.length) }, 'POST', long)).status).toBe(413)
    expect(await ask({ host, 'transfer-encoding': 'chunked' }, 'POST', long).catch(() => ({ status: 502 }))).toMatchObject({
      status: 502,
    })
    expect(seen).toEqual([])
  })
  it.each(['GET', 'DELETE', 'POST'])('hands over the body of a %s without a length as its body', async (method) => {
    const { ask, seen, port } = await guarded()
    const body = 'DELETE /other HTTP/1.1\r\nhost: x\r\n\r\n'
    await ask({ host: `127.0.0.1:${port}`, 'transfer-encoding': 'chunked' }, method, body)
    await ask({ host: `127.0.0.1:${port}` })
    expect(seen.map((one) => [one.method, one.url, one.body])).toEqual([
      [method, '/subjects?x=1', body],
      ['GET', '/subjects?x=1', ''],
    ])
  })
  it('lets calls wait for the start, and holds the registry for each of them until it has its answer', async () => {
    const up = Promise.withResolvers<void>()
    const { ask, seen, port, held, holding } = await guarded({ starting: up.promise })
    const host = `127.0.0.1:${port}`
    const calls = [ask({ host }), ask({ host }, 'POST', 'x'.repeat(1_000_000))]
    await holding(2)
    expect(seen).toEqual([])
    up.resolve()
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([201, 201])
    expect(seen.map(({ body }) => body.length).toSorted()).toEqual([0, 1_000_000])
    await holding(0)
    expect(held.ever).toBe(2)
  })
  it('lets go what a caller has given up, also a call behind another of its connection', async () => {
    const up = Promise.withResolvers<void>()
    const { ask, seen, port, holding } = await guarded({ starting: up.promise })
    const caller = connect(port, '127.0.0.1')
    const call = `GET /mine HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`
    caller.write(`${call}${call}${call}`)
    await holding(3)
    caller.destroy()
    await holding(0)
    up.resolve()
    expect((await ask({ host: `127.0.0.1:${port}` })).status).toBe(201)
    expect(seen.map(({ url }) => url)).toEqual(['/subjects?x=1'])
    await holding(0)
  })
  it('refuses more calls than it holds, also of one connection', async () => {
    const up = Promise.withResolvers<void>()
    const { ask, port, holding } = await guarded({ starting: up.promise })
    const caller = connect(port, '127.0.0.1')
    onTestFinished(() => void caller.destroy())
    caller.write(`GET / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`.repeat(127))
    await holding(127)
    const last = ask({ host: `127.0.0.1:${port}` })
    await holding(128)
    const { status, text } = await ask({ host: `127.0.0.1:${port}` })
    expect([status, JSON.parse(text)]).toEqual([503, expect.objectContaining({ error_code: 503 })])
    up.resolve()
    expect((await last).status).toBe(201)
  })
  it('says that the start takes longer than a call waits', async () => {
    const { ask, seen, port, holding } = await guarded({ starting: new Promise(() => {}), startMs: 1 })
    const { status, text } = await ask({ host: `127.0.0.1:${port}` })
    expect([status, JSON.parse(text).message]).toEqual([503, 'The embedded registry is still starting. Ask again.'])
    await holding(0)
    expect(seen).toEqual([])
  })
  it('says in one sentence why the registry cannot start', async () => {
    const starting = Promise.reject<void>(new Error('There is no Java.'))
    starting.catch(() => {})
    const { ask, port, holding } = await guarded({ starting })
    const { status, text } = await ask({ host: `127.0.0.1:${port}` })
    const message = 'The embedded registry cannot be started: There is no Java.'
    expect([status, JSON.parse(text)]).toEqual([503, { error_code: 503, message }])
    await holding(0)
  })
  it('says that the registry does not answer', async () => {
    const { ask, port, registry } = await guarded()
    registry.close()
    const { status, text } = await ask({ host: `127.0.0.1:${port}` })
    expect([status, text]).toEqual([502, expect.stringContaining('The embedded registry does not answer: ')])
  })
})
