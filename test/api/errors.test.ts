import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { bodyBytesMax } from '../../src/server/api/schemas/limits.ts'
import { atNoon, createSystem } from './system-in-memory.ts'

const json = { 'content-type': 'application/json' }

describe('every error is a problem', () => {
  it('a path with other methods says which it has', async () => {
    await using system = createSystem()
    const ask = async (method: 'GET' | 'POST' | 'PATCH' | 'OPTIONS', url: string) => {
      const { statusCode, headers, json } = await system.api.instance.inject({ method, url })
      return [statusCode, headers.allow, method === 'OPTIONS' ? '' : json().code]
    }
    expect(await ask('PATCH', '/v1/jobs/a%2Fb')).toEqual([405, 'DELETE, GET, HEAD, PUT', 'method-not-allowed'])
    expect(await ask('POST', '/v1/forecast?buckets=1')).toEqual([405, 'GET, HEAD', 'method-not-allowed'])
    expect(await ask('GET', '/v1/jobs/plan/x')).toEqual([404, undefined, 'not-found'])
    expect(await ask('OPTIONS', '/v1/jobs')).toEqual([405, 'GET, HEAD, POST', ''])
    expect(await ask('POST', '/jobs/a/b')).toEqual([405, 'GET, HEAD', 'method-not-allowed'])
  })

  it.each([
    ['GET', '/nowhere', {}, undefined, 404, 'not-found'],
    ['PATCH', '/v1/jobs/a', json, '{}', 405, 'method-not-allowed'],
    ['POST', '/v1/forecast', json, '{}', 405, 'method-not-allowed'],
    ['POST', '/v1/jobs/', json, '{}', 404, 'not-found'],
    ['GET', '/v1/jobs/a/b', {}, undefined, 404, 'not-found'],
    ['PUT', '/v1/jobs/a', json, '{"schedule": ', 400, 'bad-request'],
    ['PUT', '/v1/jobs/a', json, '', 400, 'bad-request'],
    ['PUT', '/v1/jobs/a', json, '[]', 400, 'bad-request'],
    ['PUT', '/v1/jobs/a', json, '"text"', 400, 'bad-request'],
    ['PUT', '/v1/jobs/a', {}, undefined, 400, 'bad-request'],
    ['PUT', '/v1/jobs/a', json, Buffer.from([0x22, 0xff, 0x22]), 400, 'bad-request'],
    ['PUT', '/v1/jobs/a?wait=later', json, JSON.stringify(atNoon), 400, 'bad-request'],
    ['PUT', '/v1/jobs/a?wiat=applied', json, JSON.stringify(atNoon), 400, 'bad-request'],
    ['PUT', '/v1/jobs/a', { 'content-type': 'text/plain' }, '{}', 415, 'unsupported-media-type'],
    ['PUT', '/v1/jobs/a', { 'content-type': 'nonsense' }, '{}', 415, 'unsupported-media-type'],
    ['POST', '/v1/jobs/batch', json, '{}', 415, 'unsupported-media-type'],
    ['POST', '/v1/jobs/batch', {}, undefined, 415, 'unsupported-media-type'],
    [
      'POST',
      '/v1/jobs/batch',
      { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
      'x',
      415,
      'unsupported-media-type',
    ],
    ['PUT', '/v1/jobs/a', json, JSON.stringify({ ...atNoon, payload: 'x'.repeat(bodyBytesMax) }), 413, 'payload-too-large'],
    ['PUT', '/v1/jobs/a', json, JSON.stringify({ ...atNoon, payload: 'x'.repeat(600_000) }), 413, 'payload-too-large'],
    ['GET', '/v1/jobs?limit=0', {}, undefined, 400, 'bad-request'],
    ['GET', '/v1/jobs?limit=1001', {}, undefined, 400, 'bad-request'],
    ['GET', '/v1/jobs?limit=many', {}, undefined, 400, 'bad-request'],
    ['GET', '/v1/jobs?status=active', {}, undefined, 400, 'bad-request'],
    ['GET', '/v1/jobs?status=ACTIVE&status=PAUSED', {}, undefined, 400, 'bad-request'],
    ['GET', '/v1/jobs?dueBefore=tomorrow', {}, undefined, 400, 'bad-request'],
    ['GET', '/v1/jobs?cursor=x', {}, undefined, 400, 'bad-request'],
    ['GET', `/v1/jobs?cursor=${Buffer.from('[1,{}]').toString('base64url')}`, {}, undefined, 400, 'bad-request'],
    ['GET', '/v1/runs/a/first', {}, undefined, 400, 'bad-request'],
    ['GET', '/v1/runs/a/0', {}, undefined, 400, 'bad-request'],
    ['GET', '/v1/runs/a/1', {}, undefined, 404, 'not-found'],
    ['GET', '/v1/jobs/a/runs', {}, undefined, 404, 'not-found'],
    ['POST', '/v1/jobs/a/trigger', {}, undefined, 404, 'not-found'],
    ['POST', '/v1/jobs/a/pause', json, '', 404, 'not-found'],
    ['POST', '/v1/jobs/a/resume', json, '{"a":1}', 400, 'bad-request'],
    ['POST', '/v1/schedules/preview', json, '{}', 400, 'bad-request'],
    ['POST', '/v1/schedules/preview', json, '{"schedule":{"cron":"* *"}}', 400, 'bad-definition'],
    ['POST', '/v1/schedules/preview', json, '{"schedule":{"cron":"* * * * *"},"count":1001}', 400, 'bad-request'],
    ['POST', '/v1/schedules/preview', json, '{"schedule":{"cron":"* * * * *"},"count":"2"}', 400, 'bad-request'],
    ['POST', '/v1/schedules/preview', json, '{"schedule":{"cron":"* * * * *"},"from":"now"}', 400, 'bad-request'],
  ] as const)('%s %s %j is refused', async (method, url, headers, payload, status, code) => {
    await using system = createSystem()
    const answer = await system.api.instance.inject({ method, url, headers, ...(payload !== undefined && { payload }) } as never)
    expect(answer.json()).toMatchObject({ code, status })
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(answer.json().type).toBe(`urn:duelog:error:${code}`)
    expect(answer.json().detail).not.toBe('')
    expect(system.log.written).toEqual([])
  })

  it('says of each parameter its name, its value and what is allowed', async () => {
    await using system = createSystem()
    const get = async (url: string) => (await system.api.instance.inject(url)).json()
    expect(await get('/v1/jobs?limit=0&limmit=5&status=active')).toMatchObject({
      code: 'bad-request',
      detail:
        'In the query: limmit is not known; did you mean limit? status is "active"; allowed: ACTIVE, PAUSED, COMPLETED, INVALID. limit is 0; allowed: whole numbers, 1 to 1000.',
      problems: [
        { field: 'limmit', value: 'limmit' },
        { field: 'status', value: 'active' },
        { field: 'limit', value: 0, limit: 'whole numbers, 1 to 1000' },
      ],
    })
    expect((await get('/v1/runs/a/first')).detail).toMatch(/^In the path: runNo is "first"; allowed: /)
  })

  it('says everything that is wrong with a body, and no more than the first of a large one', async () => {
    await using system = createSystem()
    const post = async (payload: object) =>
      (await system.api.instance.inject({ method: 'POST', url: '/v1/schedules/preview', payload })).json()
    const { problems } = await post({ shedule: {}, count: 0 })
    expect(problems.map(({ field }: { field: string }) => field).sort()).toEqual(['count', 'schedule', 'shedule'])
    const large = await post({ schedule: 5, count: 0, more: Array.from({ length: 5_000 }, () => 0) })
    expect(large.problems).toHaveLength(1)
    expect(JSON.stringify(await post({ schedule: 'x'.repeat(100_000) })).length).toBeLessThan(2_000)
  })

  it('an unknown field of a job does not hide the faults of the others', async () => {
    await using system = createSystem()
    const payload = { ...atNoon, owerlap: 'SKIP', priority: 'urgent', maxRuns: 0, tags: [5], endAt: 'soon', retry: { jitter: 2 } }
    const answer = await system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', payload })
    const fields = answer.json().problems.map(({ field }: { field: string }) => field)
    expect(fields.sort()).toEqual(['endAt', 'maxRuns', 'owerlap', 'priority', 'retry.jitter', 'tags[0]'])
  })

  it.each([
    '{"__proto__":{"polluted":1}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"payload":{"a":[{"__proto__":{"polluted":1}}]}}',
  ])('refuses %s, which would change prototypes', async (payload) => {
    await using system = createSystem()
    const answer = await system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', headers: json, payload })
    expect(answer.json()).toMatchObject({ status: 400, code: 'bad-request' })
    expect(answer.json().detail).toContain('__proto__')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it.each(['__proto__', 'constructor', 'toString'])('serves the job %s like any other', async (id) => {
    await using system = createSystem()
    const url = `/v1/jobs/${id}`
    expect((await system.api.instance.inject(url)).statusCode).toBe(404)
    expect((await system.api.instance.inject({ method: 'PUT', url, payload: atNoon })).statusCode).toBe(200)
    expect((await system.api.instance.inject(url)).json().id).toBe(id)
  })

  it('answers requests that are not HTTP with a problem too', async () => {
    await using system = createSystem()
    const url = new URL(await system.api.listen('127.0.0.1', 0))
    const socket = connect(Number(url.port), url.hostname)
    socket.end('NOT HTTP\r\n\r\n')
    let text = ''
    for await (const piece of socket) text += piece
    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(text).toContain('application/problem+json')
    expect(text).toContain('"code":"bad-request"')
  })

  it('says what to do when the port is in use', async () => {
    await using system = createSystem()
    await using other = createSystem()
    const url = new URL(await system.api.listen('127.0.0.1', 0))
    await expect(other.api.listen('127.0.0.1', Number(url.port))).rejects.toMatchObject({ code: 'bad-config' })
  })
})

describe('a body that comes slowly or not at all', () => {
  it('does not delay other requests, and is accepted when it is complete', async () => {
    await using system = createSystem()
    const url = new URL(await system.api.listen('127.0.0.1', 0))
    const body = JSON.stringify(atNoon)
    const socket = connect(Number(url.port), url.hostname)
    await once(socket, 'connect')
    socket.write(
      `PUT /v1/jobs/slow HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 9)}`,
    )
    const other = await fetch(new URL('/v1/jobs/quick', url), { method: 'PUT', headers: json, body })
    expect(other.status).toBe(200)
    socket.write(body.slice(9))
    let text = ''
    for await (const piece of socket) text += piece
    expect(text).toMatch(/^HTTP\/1.1 200 /)
  })

  it('writes nothing of a body that is cut off', async () => {
    await using system = createSystem()
    const url = new URL(await system.api.listen('127.0.0.1', 0))
    const seen = once(system.api.instance.server, 'request')
    const socket = connect(Number(url.port), url.hostname)
    await once(socket, 'connect')
    socket.write(
      `PUT /v1/jobs/cut HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"schedule"`,
    )
    await seen
    socket.destroy()
    expect((await fetch(new URL('/livez', url))).status).toBe(200)
    expect(system.log.written).toEqual([])
  })
})
