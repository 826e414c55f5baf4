import { describe, expect, it } from 'vitest'
import type { ApiToken } from '../../../src/server/api/context/context.ts'
import { peerToken } from '../../../src/server/peers/peer-note.ts'
import { atNoon, createSystem } from '../system-in-memory.ts'

const apiTokens: ApiToken[] = [
  { role: 'admin', token: 'root' },
  { role: 'viewer', token: 'look' },
  { role: 'operator', token: 'work' },
]

describe('with tokens', () => {
  const calls = [
    ['GET', '/v1/jobs', 'viewer'],
    ['HEAD', '/v1/jobs', 'viewer'],
    ['GET', '/v1/jobs/a', 'viewer'],
    ['GET', '/v1/jobs/a/runs', 'viewer'],
    ['GET', '/v1/partitions', 'viewer'],
    ['GET', '/metrics', 'viewer'],
    ['GET', '/internal/v1/partitions', 'operator'],
    ['POST', '/v1/schedules/preview', 'viewer'],
    ['PUT', '/v1/jobs/a', 'operator'],
    ['DELETE', '/v1/jobs/a', 'operator'],
    ['POST', '/v1/jobs', 'operator'],
    ['POST', '/v1/jobs/batch', 'operator'],
    ['POST', '/v1/jobs/a/trigger', 'operator'],
    ['POST', '/v1/jobs/a/pause', 'operator'],
  ] as const

  it.each(calls)('%s %s needs the role %s', async (method, url, role) => {
    await using system = createSystem({ apiTokens })
    const call = async (authorization?: string) =>
      (await system.api.instance.inject({ method, url, headers: authorization === undefined ? {} : { authorization } }))
        .statusCode
    for (const wrong of [undefined, 'Bearer', 'Bearer nothing', 'Bearer looks', 'Bearer loo', 'Basic look', 'look'])
      expect(await call(wrong)).toBe(401)
    expect(await call('Bearer look')).toSatisfy((status: number) => (status === 403) === (role === 'operator') && status !== 401)
    for (const enough of ['Bearer work', 'bearer root'])
      expect(await call(enough)).toSatisfy((status: number) => ![401, 403].includes(status))
  })

  it('says how to send a token', async () => {
    await using system = createSystem({ apiTokens })
    const answer = await system.api.instance.inject('/v1/jobs')
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/)
    expect(answer.json()).toMatchObject({ status: 401, code: 'unauthorized' })
    const refused = await system.api.instance.inject({
      method: 'POST',
      url: '/v1/jobs',
      headers: { authorization: 'Bearer look' },
    })
    expect(refused.json()).toMatchObject({ status: 403, code: 'forbidden' })
  })

  it('lets probes through, and reads no body before it checks the token', async () => {
    await using system = createSystem({ apiTokens })
    expect((await system.api.instance.inject('/livez')).statusCode).toBe(200)
    expect((await system.api.instance.inject('/readyz')).statusCode).toBe(200)
    const answer = await system.api.instance.inject({
      method: 'PUT',
      url: '/v1/jobs/a',
      headers: { 'content-type': 'application/json' },
      payload: '{',
    })
    expect(answer.statusCode).toBe(401)
  })

  it('records the role of the caller in the command', async () => {
    await using system = createSystem({ apiTokens })
    system.add('a')
    await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a/pause', headers: { authorization: 'Bearer work' } })
    expect(system.log.written[0]?.value?.toString()).toContain('"actor":"operator"')
  })

  it('allows requests for other hosts than this machine', async () => {
    await using system = createSystem({ apiTokens })
    const headers = { host: 'duelog.example.org', origin: 'https://ops.example.org', authorization: 'Bearer look' }
    expect((await system.api.instance.inject({ url: '/v1/jobs', headers })).statusCode).toBe(200)
  })

  it('lets other processes of the system call only the internal routes, with a token derived from the strongest token', async () => {
    await using system = createSystem({ apiTokens })
    const headers = { authorization: `Bearer ${peerToken(apiTokens)}` }
    const ask = async (url: string) => (await system.api.instance.inject({ url, headers })).statusCode
    expect(await ask('/internal/v1/partitions')).toBe(200)
    expect(await ask('/internal/v1/counts')).toBe(200)
    expect(await ask('/v1/jobs')).toBe(401)
    for (const { token } of apiTokens) expect(peerToken(apiTokens)).not.toContain(token)
    expect(peerToken([])).toBeUndefined()
  })
})

describe('without tokens', () => {
  it.each([
    [{ host: 'localhost:8080' }, 200],
    [{ host: '127.0.0.1:8080' }, 200],
    [{ host: '[::1]:8080' }, 200],
    [{ host: 'localhost:8080', origin: 'http://localhost:8080' }, 200],
    [{ host: 'localhost', origin: 'http://localhost' }, 200],
    [{ host: 'localhost:80', origin: 'http://localhost' }, 200],
    [{ host: 'localhost:8443', origin: 'https://localhost:8443' }, 200],
    [{ host: '[::1]:8080', origin: 'http://[::1]:8080' }, 200],
    [{ host: 'localhost:8080', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }, 200],
    [{ host: 'localhost:8080', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }, 200],
    [{ host: 'localhost:8080', origin: 'http://localhost:3000' }, 403],
    [{ host: 'localhost:8080', origin: 'http://localhost' }, 403],
    [{ host: 'localhost', origin: 'http://localhost:5173' }, 403],
    [{ host: 'localhost:8080', origin: 'http://127.0.0.1:8080' }, 403],
    [{ host: 'localhost:8080', origin: 'http://localhost:8080.example.org' }, 403],
    [{ host: 'localhost:8080', origin: 'file://localhost:8080' }, 403],
    [{ host: 'localhost:8080', origin: '' }, 403],
    [{ host: 'localhost:8080', 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }, 403],
    [{ host: 'localhost:8080', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }, 403],
    [{ host: 'rebound.example.org' }, 403],
    [{ host: 'localhost.example.org' }, 403],
    [{ host: '127.0.0.1.example.org' }, 403],
    [{ host: 'localhost', origin: 'https://example.org' }, 403],
    [{ host: 'localhost', origin: 'null' }, 403],
  ])('a request with %j is answered with %i', async (headers, status) => {
    await using system = createSystem()
    expect((await system.api.instance.inject({ url: '/v1/jobs', headers })).statusCode).toBe(status)
    const write = await system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', headers, payload: atNoon })
    expect(write.statusCode).toBe(status)
  })

  it('a link on another page leads to the dashboard, and a form leads nowhere', async () => {
    await using system = createSystem()
    const headers = { host: 'localhost:8080', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect((await system.api.instance.inject({ url: '/v1/jobs', headers })).statusCode).toBe(200)
    const form = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a/trigger', headers })
    expect(form.json()).toMatchObject({ status: 403, code: 'forbidden' })
  })

  it('restricts internal routes to this machine', async () => {
    await using system = createSystem()
    const ask = (remoteAddress: string) => system.api.instance.inject({ url: '/internal/v1/partitions', remoteAddress })
    expect((await ask('127.0.0.1')).statusCode).toBe(200)
    expect((await ask('::ffff:127.0.0.1')).statusCode).toBe(200)
    expect((await ask('10.0.0.7')).json()).toMatchObject({ status: 403, code: 'forbidden' })
  })
})
