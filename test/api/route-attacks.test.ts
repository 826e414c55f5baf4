/** Every route of the server itself. A new route without authorization fails here. */
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { connectionsMax } from '../../src/server/api/schemas/limits.ts'
import { peerToken } from '../../src/server/peers/peer-note.ts'
import { admin, apiTokens, bearer, expectRefusal, type Headers, operator, viewer } from './attackers.ts'
import { atNoon, codecs, createSystem, type MemorySystem } from './system-in-memory.ts'

const routesOf = (system: MemorySystem) =>
  system.api.routes.flatMap(({ method, url, config = {} }) =>
    [method].flat().map((each) => ({
      ...{
        method: each as 'GET',
        path: url,
        url: url
          .replace(/:runNo/, '1')
          .replace(/:partition/, '0')
          .replace(/:\w+|\*/g, 'a'),
      },
      config,
    })),
  )
const isRead = ({ method }: { method: string }): boolean => method === 'GET' || method === 'HEAD'
const { routes } = await (async () => {
  await using system = createSystem({ apiTokens })
  await system.api.instance.ready()
  return { routes: routesOf(system) }
})()
const changing = routes.filter((route) => !isRead(route))
/** These routes compute and write nothing. */
const computing = ['/v1/jobs/plan', '/v1/schedules/preview', '/v1/operations/count', '/v1/jobs/:id/backfill/count']

describe('of all routes', () => {
  it('the routes without a role are these, and they show nothing of any job', () => {
    const open = new Set(routes.filter(({ config }) => config.role === undefined).map(({ path }) => path))
    const pages = [
      '/',
      '/jobs',
      '/jobs/*',
      '/runs',
      '/dead-letters',
      '/workers',
      '/pools',
      '/calendar',
      '/proof',
      '/settings',
      '/handlers',
      '/history',
      '/audit',
      '/assets/*',
    ]
    const known = ['/livez', '/readyz', '/openapi.json', ...pages]
    expect([...open].filter((path) => !path.startsWith('/docs')).sort()).toEqual(known.sort())
    expect(routes.filter(({ config }) => config.role === undefined).every(isRead)).toBe(true)
  })

  it('the routes between processes are internal and hidden from viewers, and no others are internal', () => {
    for (const { path, config } of routes) expect([path, config.internal ?? false]).toEqual([path, path.startsWith('/internal/')])
    for (const { path, config } of routes) if (config.internal === true) expect([path, config.role]).toEqual([path, 'operator'])
  })

  it('the routes that change something need more than a viewer, and are in the audit trail', () => {
    expect(changing.length).toBeGreaterThan(12)
    for (const { method, path, config } of changing) {
      const isComputing = computing.includes(path)
      expect([method, path, config.role === 'viewer', config.audit === undefined]).toEqual([
        method,
        path,
        isComputing,
        isComputing,
      ])
    }
  })

  it('a change of many jobs that a person asks of an owner is in the audit trail; that of a process is there as its operation', async () => {
    await using system = createSystem({ apiTokens })
    const change = { action: 'PAUSE', filter: {}, commandId: 'x', isRepeat: false, limit: 1, cutOff: { jobsOffset: 1, at: 1 } }
    const query = `args=${encodeURIComponent(JSON.stringify([0, change]))}`
    const ask = (token: string) =>
      system.api.instance.inject({ method: 'POST', url: `/internal/v1/change?${query}`, headers: bearer(token) })
    expect((await ask(peerToken(apiTokens) ?? '')).json()).toEqual({ answer: { changed: 0, refused: [] } })
    const trail = () => system.log.audited.map(({ value }) => codecs.audit.decode(value as Buffer))
    expect(trail()).toEqual([])
    expect((await ask('work-token-0123456789')).statusCode).toBe(200)
    expect(trail()).toMatchObject([{ action: 'CHANGE_JOBS', actor: 'ci' }])
  })

  it('a call between processes asks an owner for no more than the public routes let a caller ask', async () => {
    await using system = createSystem({ apiTokens })
    const ask = async (call: string, args: unknown[]) => {
      const url = `/internal/v1/${call}?args=${encodeURIComponent(JSON.stringify(args))}`
      return (await system.api.instance.inject({ url, headers: operator })).statusCode
    }
    const tenYearsMs = 3_653 * 86_400_000
    const whole = { from: 1_000, to: 1_000 + tenYearsMs, bucketMs: tenYearsMs / 1_000 }
    const due = { from: 1_000, to: 1_000 + tenYearsMs, limit: 500 }
    expect([await ask('forecast', [0, whole]), await ask('dueJobs', [0, due])]).toEqual([200, 200])
    const tooMuch: [string, object][] = [
      ['forecast', { ...whole, bucketMs: 1 }],
      ['forecast', { ...whole, bucketMs: whole.bucketMs - 1 }],
      ['forecast', { ...whole, to: whole.to + 2 * whole.bucketMs }],
      ['forecast', { ...whole, to: 0 }],
      ['forecast', { ...whole, from: 1e300, to: 1e300 }],
      ['dueJobs', { ...due, to: due.to + 1 }],
      ['dueJobs', { ...due, to: 0 }],
      ['dueJobs', { ...due, limit: 501 }],
      ['targets', { action: 'PAUSE', commandPrefix: 'x', limit: 1, ids: Array(5_001).fill('') }],
    ]
    for (const [call, asked] of tooMuch) expect([call, asked, await ask(call, [0, asked])]).toEqual([call, asked, 400])
  })

  it.each(routes.filter(({ config }) => config.role !== undefined))(
    '$method $path admits exactly the roles that it names',
    async ({ method, url, config }) => {
      await using system = createSystem({ apiTokens })
      const ask = async (headers: Headers) => (await system.api.instance.inject({ method, url, headers })).statusCode
      const peer = bearer(peerToken(apiTokens) ?? '')
      expect(await ask({})).toBe(401)
      for (const wrong of [
        bearer('x'.repeat(32)),
        bearer(''),
        { authorization: 'Bearer' },
        { cookie: 'token=root-token-0123456789' },
      ])
        expect(await ask(wrong)).toBe(401)
      if (config.internal !== true) expect(await ask(peer)).toBe(401)
      if (config.role !== 'viewer') expect(await ask(viewer)).toBe(403)
      if (config.role === 'admin') expect(await ask(operator)).toBe(403)
      // A stream of events has no end, so the test does not wait for one.
      if (url !== '/v1/events') expect([401, 403]).not.toContain(await ask(admin))
      if (config.internal === true) expect([401, 403]).not.toContain(await ask(peer))
      expect(system.log.written.every(({ headers }) => headers?.authorization === undefined)).toBe(true)
    },
  )
})

describe('a page of another origin', () => {
  const pages: Headers[] = [
    { origin: 'http://localhost:3000' },
    { origin: 'http://127.0.0.1:3000' },
    { origin: 'https://evil.example.org' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    { host: 'rebound.example.org:8080', origin: 'http://rebound.example.org:8080' },
  ]

  it.each(changing)('changes nothing by $method $path', async ({ method, url }) => {
    await using system = createSystem()
    system.add('a')
    for (const page of pages) {
      for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
        const headers = { host: 'localhost:8080', 'content-type': type, ...page }
        expectRefusal(await system.api.instance.inject({ method, url, headers, payload: '{}' }), [403])
      }
    }
    expect(system.log.written).toEqual([])
    expect(system.log.audited).toEqual([])
  })

  it.each(routes.filter(({ method, url }) => method === 'GET' && url !== '/v1/events'))(
    'reads nothing by GET $path, and gets no cookie to misuse',
    async ({ url }) => {
      await using system = createSystem()
      for (const origin of ['http://localhost:3000', 'https://evil.example.org', 'null']) {
        const { headers, statusCode } = await system.api.instance.inject({ url, headers: { host: 'localhost:8080', origin } })
        expect(statusCode).toBe(403)
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control-') || name === 'set-cookie')).toEqual([])
        expect(headers['cross-origin-resource-policy']).toBe('same-origin')
      }
      await using guarded = createSystem({ apiTokens })
      const { headers } = await guarded.api.instance.inject({ url, headers: { ...admin, origin: 'https://evil.example.org' } })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-') || name === 'set-cookie')).toEqual([])
    },
  )
})

describe('a method', () => {
  const paths = [...new Set(routes.map(({ url }) => url))]
  it.each(['PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'LOCK', 'DELETE', 'PUT', 'POST'])(
    '%s that a route does not have does nothing there',
    async (method) => {
      await using system = createSystem()
      system.add('a')
      for (const url of paths) {
        if (routes.some((route) => route.url === url && route.method === (method as 'GET'))) continue
        const answer = await system.api.instance.inject({ method: method as 'GET', url, headers: { 'x-http-method': 'GET' } })
        expect([400, 404, 405, 415], `${method} ${url}`).toContain(answer.statusCode)
      }
      expect(system.log.written).toEqual([])
    },
  )

  it.each(['x-http-method-override', 'x-http-method', 'x-method-override'])(
    'that the header %s names is ignored',
    async (name) => {
      await using system = createSystem()
      system.add('a')
      const read = await system.api.instance.inject({ url: '/v1/jobs/a', headers: { [name]: 'DELETE' } })
      expect(read.statusCode).toBe(200)
      await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a?_method=DELETE', headers: { [name]: 'DELETE' } })
      expect(system.log.written).toEqual([])
    },
  )
})

describe('a body', () => {
  it.each([
    ...[
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
    ],
    ...['application/json-patch+json', 'text/json', 'application/octet-stream', 'application/json, text/plain', 'json', '*/*'],
  ])('of the type %s is not read as JSON', async (type) => {
    await using system = createSystem()
    const payload = JSON.stringify(atNoon)
    const answer = await system.api.instance.inject({
      method: 'PUT',
      url: '/v1/jobs/a',
      headers: { 'content-type': type },
      payload,
    })
    expectRefusal(answer, [400, 415])
    expect(system.log.written).toEqual([])
  })

  it('that is compressed is not decompressed', async () => {
    await using system = createSystem()
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const payload = Buffer.from('1f8b0800000000000003', 'hex')
    expectRefusal(await system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', headers, payload }), [400, 415])
    expect(system.log.written).toEqual([])
  })
})

describe('floods', () => {
  const raw = async (url: string, text: string): Promise<string> => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.write(text)
    let answer = ''
    for await (const piece of socket) answer += piece
    return answer
  }
  const head = 'Host: 127.0.0.1\r\nConnection: close\r\n'

  it.each([
    ['a URL without end', `GET /v1/jobs/${'a'.repeat(100_000)} HTTP/1.1\r\n${head}\r\n`],
    ['a query without end', `GET /v1/jobs?${'tag=a&'.repeat(20_000)} HTTP/1.1\r\n${head}\r\n`],
    [
      'headers without end',
      `GET /livez HTTP/1.1\r\n${head}${Array.from({ length: 10_000 }, (_, index) => `x-${index}: y\r\n`).join('')}\r\n`,
    ],
    ['one header without end', `GET /livez HTTP/1.1\r\n${head}x: ${'y'.repeat(1_000_000)}\r\n\r\n`],
    ['a token without end', `GET /v1/jobs HTTP/1.1\r\n${head}authorization: Bearer ${'y'.repeat(1_000_000)}\r\n\r\n`],
  ])('%s is refused, and the next request is answered', async (_what, request) => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    expect(await raw(url, request)).toMatch(/^(HTTP\/1\.1 4\d\d |$)/)
    expect((await fetch(`${url}/livez`)).status).toBe(200)
  })

  it('a query of many parameters, and an id as long as a URL may be, are answered like any other', async () => {
    await using system = createSystem()
    const many = await system.api.instance.inject(`/v1/jobs?${'tag=a&'.repeat(2_000)}`)
    expectRefusal(many, [400])
    expectRefusal(await system.api.instance.inject(`/v1/jobs/${'a'.repeat(1_000)}`), [400])
    expectRefusal(await system.api.instance.inject(`/v1/jobs/${'a'.repeat(10_000)}`), [400, 404])
  })

  it('the number of connections is limited, and their headers must arrive within a minute', async () => {
    await using system = createSystem()
    await system.api.listen('127.0.0.1', 0)
    const { server } = system.api.instance
    // A few more are accepted; each replaces one that waits.
    expect(server.maxConnections).toBeGreaterThanOrEqual(connectionsMax)
    expect(server.maxConnections).toBeLessThan(connectionsMax * 1.1)
    expect(server.headersTimeout).toBeGreaterThan(0)
    expect(server.headersTimeout).toBeLessThanOrEqual(60_000)
    expect(server.timeout).toBeGreaterThan(0)
  })
})
