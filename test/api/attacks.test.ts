/** The usual attacks, one after another. Each test asserts: no access, nothing written, and a problem as the answer. */
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { bodyBytesMax, bodyReceiveMs } from '../../src/server/api/schemas/limits.ts'
import { peerToken } from '../../src/server/peers/peer-note.ts'
import { admin, apiTokens, bearer, expectRefusal, type Headers, operator, viewer } from './attackers.ts'
import { atNoon, createSystem } from './system-in-memory.ts'

const json = { 'content-type': 'application/json' }

afterEach(() => void vi.useRealTimers())

const hook = { http: { url: 'https://example.org/' } }

/** Sends raw bytes and returns the answer. */
async function raw(url: string, text: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(text)
  let answer = ''
  for await (const piece of socket) answer += piece
  return answer
}

describe('without a token, or with too small a role', () => {
  it('no route that has a role lets an unauthorized caller in', async () => {
    await using described = createSystem()
    const { paths } = (await described.api.instance.inject('/openapi.json')).json()
    let guarded = 0
    for (const [path, methods] of Object.entries(paths as Record<string, Record<string, { description: string }>>)) {
      for (const [method, { description }] of Object.entries(methods)) {
        const role = /Least role: (\w+)/.exec(description)?.[1]
        if (role === undefined) continue
        guarded++
        // Each route starts with a new system, because otherwise the guesses would be noticed.
        await using system = createSystem({ apiTokens })
        const call = { method: method.toUpperCase() as 'GET', url: path.replace(/\{runNo\}/, '1').replace(/\{\w+\}/, 'a') }
        expectRefusal(await system.api.instance.inject(call), [401])
        expectRefusal(await system.api.instance.inject({ ...call, headers: bearer('wrong') }), [401])
        if (role !== 'viewer') expectRefusal(await system.api.instance.inject({ ...call, headers: viewer }), [403])
        if (role === 'admin') expectRefusal(await system.api.instance.inject({ ...call, headers: operator }), [403])
        expect(system.log.written).toEqual([])
      }
    }
    expect(guarded).toBeGreaterThan(20)
  })

  it.each([
    { 'x-http-method-override': 'DELETE' },
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-original-url': '/livez' },
    { 'x-duelog-role': 'admin' },
    { cookie: 'token=root-token-0123456789' },
    { authorization: `Basic ${Buffer.from('admin:root-token-0123456789').toString('base64')}` },
    { authorization: 'Bearer root-token-0123456789, Bearer look-token-0123456789' },
    { authorization: 'Bearer Root-Token-0123456789' },
  ])('%j gives no access', async (headers) => {
    await using system = createSystem({ apiTokens })
    system.add('a')
    expectRefusal(await system.api.instance.inject({ method: 'DELETE', url: '/v1/jobs/a', headers }), [401])
    expectRefusal(
      await system.api.instance.inject({ method: 'GET', url: '/v1/jobs/a?token=root-token-0123456789', headers }),
      [401],
    )
    expect(system.log.written).toEqual([])
  })
})

describe('paths', () => {
  it.each([
    '/v1/../internal/v1/partitions',
    '//internal/v1/partitions',
    '/internal/v1/partitions',
    '/internal%2Fv1%2Fpartitions',
    '/%69nternal/v1/partitions',
    '/INTERNAL/v1/partitions',
    '/internal/v1/partitions/',
    '/v1/jobs/..;/..',
    '/V1/jobs',
    '/v1/jobs;role=admin',
    '/v1/jobs/%2e%2e%2faudit',
    '/v1/jobs?__proto__[role]=admin',
    '/livez/../v1/jobs',
    '/livez%2F..%2Fv1%2Fjobs',
    '/docs/../v1/jobs',
    'http://127.0.0.1/v1/jobs',
  ])('%s passes no guard', async (path) => {
    await using system = createSystem({ apiTokens })
    const url = await system.api.listen('127.0.0.1', 0)
    const answer = await raw(url, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 (400|401|404) /)
    expect(answer).toContain('application/problem+json')
  })

  it.each([
    '/docs/../package.json',
    '/docs/..%2f..%2fpackage.json',
    '/docs/%2e%2e/package.json',
    '/docs/package.json',
    '/docs/x\u0000',
  ])('%j returns no file', async (path) => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    const answer = await raw(url, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 (400|404) /)
  })

  it('an id of dots and slashes is an id', async () => {
    await using system = createSystem()
    const id = '../../internal/v1/partitions'
    const url = `/v1/jobs/${encodeURIComponent(id)}`
    expect((await system.api.instance.inject({ method: 'PUT', url, payload: atNoon })).json().id).toBe(id)
  })
})

describe('bodies', () => {
  it.each([
    ['with its length', { 'content-length': String(bodyBytesMax + 1) }],
    ['in pieces', { 'transfer-encoding': 'chunked' }],
  ])('a body that is too large %s is refused', async (_how, headers) => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    const head = Object.entries({ host: '127.0.0.1', ...json, ...headers, connection: 'close' })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
    const piece = 'x'.repeat(65_536)
    const pieces = 'content-length' in headers ? piece : `10000\r\n${piece}\r\n`.repeat(17)
    const answer = await raw(url, `PUT /v1/jobs/a HTTP/1.1\r\n${head}\r\n${pieces}`)
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).toContain(`larger than ${bodyBytesMax} bytes`)
    expect(system.log.written).toEqual([])
  })

  it('a body that never ends is aborted after its time limit', async () => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const begun = new Promise((resolve) => system.api.instance.server.once('request', resolve))
    const answer = raw(
      url,
      'PUT /v1/jobs/a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
    )
    await begun
    await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(bodyReceiveMs)
    expect(await answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*was not complete within/)
    expect(system.log.written).toEqual([])
  })

  it('a request without a body may wait for its answer without limit', async () => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const asked = Promise.withResolvers<void>()
    const late = Promise.withResolvers<undefined>()
    system.owner.job = () => {
      asked.resolve()
      return late.promise
    }
    const answer = raw(url, 'GET /v1/jobs/a HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
    await asked.promise
    await vi.advanceTimersByTimeAsync(bodyReceiveMs)
    late.resolve(undefined)
    expect(await answer).toMatch(/^HTTP\/1\.1 404 /)
  })

  it.each([
    ['many levels', `{"payload":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['a property __proto__', '{"__proto__":{"role":"admin"}}'],
    ['a property constructor.prototype', '{"target":{"constructor":{"prototype":{"role":"admin"}}}}'],
    ['a header __proto__', '{"schedule":{"at":0},"target":{"handler":"a"},"headers":{"__proto__":"a"}}'],
  ])('with %s changes nothing but itself', async (_what, payload) => {
    await using system = createSystem()
    const answer = await system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', headers: json, payload })
    expectRefusal(answer, [400])
    expect(({} as { role?: string }).role).toBeUndefined()
    const lines = await system.api.instance.inject({
      ...{ method: 'POST', url: '/v1/jobs/batch', headers: { 'content-type': 'application/x-ndjson' }, payload },
    })
    expect(lines.body).toContain('"ok":false')
    expect(({} as { role?: string }).role).toBeUndefined()
    expect(system.log.written).toEqual([])
  })

  it('a body that two readers may take for two requests is refused', async () => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    const hidden = 'DELETE /v1/jobs/a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
    const head = `POST /v1/jobs/a/pause HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${hidden.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    expect(await raw(url, head + hidden)).toMatch(/^HTTP\/1\.1 400 /)
    expect(system.log.written).toEqual([])
  })

  it('endless headers are refused', async () => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    const answer = await raw(url, `GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('what the API writes to Kafka', () => {
  it.each([
    ['an id with a line end', 'a%0d%0aduelog-moved%3a1', {}],
    ['an id with a null', 'a%00', {}],
    ['a header with a line end for an http target', 'a', { target: hook, headers: { a: 'b\r\nc: d' } }],
    ['a header name with a line end for an http target', 'a', { target: hook, headers: { 'a\r\nb': 'c' } }],
    ['an http header with a line end', 'a', { target: { http: { url: 'https://example.org/', headers: { a: 'b\r\nc: d' } } } }],
    ['an http header of ours', 'a', { target: { http: { url: 'https://example.org/', headers: { 'Webhook-Id': 'x' } } } }],
    ['a password in a URL', 'a', { target: { http: { url: 'https://a:hidden@example.org/' } } }],
    ['a URL of a file', 'a', { target: { http: { url: 'file:///etc/passwd' } } }],
  ])('holds no %s', async (_what, id, change) => {
    await using system = createSystem()
    const payload = { ...atNoon, ...change }
    const answer = await system.api.instance.inject({ method: 'PUT', url: `/v1/jobs/${id}`, payload })
    expectRefusal(answer, [400])
    expect(answer.body).not.toContain('hidden')
    expect(system.log.written).toEqual([])
  })

  it('contains no header that a request sent', async () => {
    await using system = createSystem()
    const headers = { 'duelog-moved': '1', 'duelog-observed-offset': '0', 'duelog-reply-topic': 'x' }
    await system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', headers, payload: atNoon })
    expect(system.log.written).toHaveLength(1)
    expect(system.log.written[0]?.headers ?? {}).toEqual({})
  })
})

describe('what the API answers', () => {
  it('has the headers that keep browsers from misusing it, and none that opens it to other pages', async () => {
    await using system = createSystem({ apiTokens })
    const origin = 'https://evil.example.org'
    for (const url of ['/v1/jobs', '/livez', '/docs', '/nowhere', '/openapi.json']) {
      const { headers } = await system.api.instance.inject({ url, headers: { origin } })
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' })
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'/)
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
    const preflight = await system.api.instance.inject({ method: 'OPTIONS', url: '/v1/jobs', headers: { origin } })
    expect(preflight.statusCode).toBe(405)
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  })

  it('contains no secret, and neither does the log', async () => {
    let logged = ''
    const logger = pino(
      { level: 'trace' },
      new Writable({
        write(chunk, _encoding, done) {
          logged += chunk
          done()
        },
      }),
    )
    const metrics = newMetrics()
    await using system = createSystem({ apiTokens, logger, metrics })
    system.log.hold = () => Promise.reject(new Error('the disk is full of private things'))
    let answered = ''
    const secret = 'payload-that-is-private'
    for (const headers of [{}, bearer('wrong-token-that-is-secret'), viewer, operator, admin]) {
      for (const method of ['GET', 'PUT', 'DELETE'] as const) {
        const payload = method === 'PUT' ? { payload: { ...atNoon, payload: { secret } } } : {}
        const answer = await system.api.instance.inject({ method, url: '/v1/jobs/a', headers, ...payload })
        answered += JSON.stringify(answer.headers) + answer.body
      }
    }
    answered += (await system.api.instance.inject({ url: '/metrics', headers: viewer })).body
    expect(answered).not.toContain('private')
    expect(logged).not.toContain(secret)
    for (const text of [logged, answered, JSON.stringify(system.log.audited)])
      for (const { token } of [...apiTokens, { token: 'wrong-token-that-is-secret' }]) expect(text).not.toContain(token)
  })

  it('shows a viewer no credential that a job sends to others', async () => {
    await using system = createSystem({ apiTokens })
    const url = '/v1/jobs/hook'
    const http = {
      url: 'https://example.org/',
      headers: { Authorization: 'Bearer hidden-1', 'x-plain': 'shown', 'X-Api-Key': 'hidden-2' },
    }
    const payload = { schedule: { at: 0 }, target: { http }, headers: { cookie: 'hidden-3', traceparent: 'shown' } }
    await system.api.instance.inject({ method: 'PUT', url, headers: operator, payload })
    const inside = ['partitions', 'list?args=[0,{},1]', 'job?args=[0,"hook"]', 'stored?args=[0,"hook"]'].map(
      (call) => `/internal/v1/${call}`,
    )
    for (const path of inside) expectRefusal(await system.api.instance.inject({ url: path, headers: viewer }), [403])
    for (const path of [url, '/v1/jobs']) {
      const looked = await system.api.instance.inject({ url: path, headers: viewer })
      expect(looked.body).toContain('shown')
      expect(looked.body).not.toContain('hidden')
      const worked = await system.api.instance.inject({ url: path, headers: operator })
      for (const hidden of ['hidden-1', 'hidden-2', 'hidden-3']) expect(worked.body).toContain(hidden)
    }
  })

  it('is delayed for a caller that asks too often, and for no other caller', async () => {
    await using system = createSystem({ apiTokens, ratePerSecond: 5 })
    const ask = async (headers: Headers, url = '/v1/jobs') => (await system.api.instance.inject({ url, headers })).statusCode
    for (let index = 0; index < 10; index++) expect(await ask(viewer)).toBe(200)
    expect(await ask(viewer)).toBe(429)
    expect(await ask(operator)).toBe(200)
    expect(await ask({}, '/livez')).toBe(200)
    expect(await ask(bearer(peerToken(apiTokens) ?? ''), '/internal/v1/partitions')).toBe(200)
  })
})
