/** Unusual requests that an attacker could try. Each is refused, or does exactly what it says. */
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { listenersMax, listenersPerCallerMax } from '../../src/server/api/schemas/limits.ts'
import { apiTokens, expectRefusal, operator, viewer } from './attackers.ts'
import { atNoon, createSystem } from './system-in-memory.ts'

async function raw(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(bytes)
  let answer = ''
  for await (const piece of socket) answer += piece
  return answer
}

describe('bytes', () => {
  it.each([
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 40\r\n'],
    ['two lengths in one', 'Content-Length: 2, 40\r\n'],
    ['a length with a sign', 'Content-Length: +2\r\n'],
    ['a coding that is hidden', 'Transfer-Encoding: xchunked\r\n'],
    ['two codings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n'],
    ['a header that goes on in the next line', 'X-A: b\r\n Content-Length: 40\r\nContent-Length: 2\r\n'],
    ['a space before the colon', 'Content-Length : 2\r\n'],
    ['a null in a header', 'X-A: b\u0000c\r\nContent-Length: 2\r\n'],
  ])('bytes with %s are refused', async (_what, head) => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    const hidden = 'DELETE /v1/jobs/a HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'
    const text = `PUT /v1/jobs/a HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n${head}\r\n{}${hidden}`
    expect(await raw(url, text)).toMatch(/^HTTP\/1\.1 400 /)
    expect(system.log.written).toEqual([])
  })

  it.each(['gzip', 'deflate', 'br', 'zstd'])('bytes compressed by %s are not decompressed', async (encoding) => {
    await using system = createSystem()
    const bomb = gzipSync(Buffer.alloc(16 * 1_048_576, ' '))
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
    const put = await system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', headers, payload: bomb })
    expectRefusal(put, [400, 415])
    const lines = await system.api.instance.inject({
      ...{ method: 'POST', url: '/v1/jobs/batch', payload: bomb },
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
    })
    expect(lines.body).not.toContain('"ok":true')
    expect(system.log.written).toEqual([])
  })
})

describe('an id', () => {
  it.each([
    '%00',
    'a%00b',
    '%c0%af',
    '%c0%80',
    '%ed%a0%80',
    '%f5%80%80%80',
    '%ff',
    '%',
    '%2',
    '%u0061',
    'a%0a',
    '%7f',
    '..',
    '%2e%2e',
  ])('%s is no valid id', async (id) => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    const body = JSON.stringify(atNoon)
    const head = `Host: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    const answer = await raw(url, `PUT /v1/jobs/${id} HTTP/1.1\r\n${head}\r\n${body}`)
    expect(answer).toMatch(/^HTTP\/1\.1 (400|404|405) [\s\S]*application\/problem\+json/)
    expect(system.log.written).toEqual([])
  })

  it('half a character makes an id invalid at any place', async () => {
    await using system = createSystem()
    for (const id of ['a\ud800', '\udc00a']) {
      const payload = `${JSON.stringify({ id, ...atNoon })}\n`
      const headers = { 'content-type': 'application/x-ndjson' }
      const answer = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/batch', headers, payload })
      expect(answer.body).toContain('"ok":false')
    }
    expect(system.log.written).toEqual([])
  })
})

describe('a definition', () => {
  const long = (part: string) => part.repeat(20_000)
  it.each([
    ['1,000 tags', { tags: Array.from({ length: 1_000 }, (_, index) => `t${index}`) }],
    ['a tag of 100,000 characters', { tags: ['t'.repeat(100_000)] }],
    ['1,000 headers', { headers: Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`h${index}`, 'v'])) }],
    ['a cron of a hundred thousand commas', { schedule: { cron: `${long('1,')}1 * * * *` } }],
    ['a cron of a hundred thousand steps', { schedule: { cron: `${long('*/1,')}* * * * *` } }],
    ['a cron of spaces', { schedule: { cron: `${long(' ')}x` } }],
    ['a cron of nested ranges', { schedule: { cron: `${long('1-')} * * * *` } }],
    ['a rule without end', { schedule: { rrule: `FREQ=DAILY;BYMONTH=${long('1,')}1` } }],
    [
      'a rule of exceptions',
      { schedule: { rrule: `DTSTART:20300101T000000Z\nRRULE:FREQ=DAILY\nEXDATE:${long('20300101T000000Z,')}` } },
    ],
    ['a key of 100,000 characters', { concurrencyKey: 'k'.repeat(100_000) }],
    ['a zone that is a path', { schedule: { cron: '* * * * *', timezone: '../../../etc/passwd' } }],
    ['a pool that is a path', { target: { handler: 'noop', pool: '../jobs' } }],
  ])('a definition with %s is refused, and delays no other request', async (_what, change) => {
    await using system = createSystem()
    const answer = await system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', payload: { ...atNoon, ...change } })
    expectRefusal(answer, [400, 413])
    expect(system.log.written).toEqual([])
  })

  it.each([{ cron: '0 0 31 2 *' }, { cron: '0 0 0 30 2 *' }, { rrule: 'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=31' }])(
    'a definition with %j, a time that never comes, is answered too',
    async (schedule) => {
      await using system = createSystem()
      const payload = { schedule, count: 1_000 }
      const answer = await system.api.instance.inject({ method: 'POST', url: '/v1/schedules/preview', payload })
      expect([200, 400]).toContain(answer.statusCode)
    },
  )
})

describe('expensive rules', () => {
  const job = (index: number) => ({
    ...{ id: `slow-${index}`, target: { handler: 'noop' } },
    schedule: {
      rrule: `FREQ=SECONDLY;INTERVAL=${90_001 + index * 7};BYHOUR=3;BYMINUTE=7;BYSECOND=11;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO`,
    },
  })
  const jobs = Array.from({ length: 500 }, (_, index) => job(index))
  const asks = { method: 'POST', headers: { 'content-type': 'application/json' } } as const
  it.each([
    ['a plan', { ...asks, url: '/v1/jobs/plan', payload: { jobs } }],
    [
      'a batch',
      {
        ...({ method: 'POST', url: '/v1/jobs/batch', headers: { 'content-type': 'application/x-ndjson' } } as const),
        payload: jobs.map((each) => `${JSON.stringify(each)}\n`).join(''),
      },
    ],
  ])('%s let other requests have their turn', async (_what, call) => {
    await using system = createSystem()
    // Each read of this clock returns one millisecond more, so the number of turns does not depend on the speed of the machine.
    let nowMs = performance.now()
    const looks = vi.spyOn(performance, 'now').mockImplementation(() => ++nowMs)
    onTestFinished(() => looks.mockRestore())
    let turns = 0
    let goesOn = true
    const turn = (): void => {
      turns++
      if (goesOn) setImmediate(turn)
    }
    setImmediate(turn)
    const answer = await system.api.instance.inject(call)
    goesOn = false
    expect(answer.statusCode).toBe(200)
    // If all of them shared one turn, there would be only a few.
    expect(turns).toBeGreaterThan(jobs.length / 50)
  })
})

describe('a cursor', () => {
  const cursor = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  it.each([
    'x',
    cursor(null),
    cursor([]),
    cursor([1, []]),
    cursor(['a', [[0.5, 'a']]]),
    cursor(['a', [['0', 'a']]]),
    cursor(['a', [[0, { toString: 'a' }]]]),
    cursor({ __proto__: [], length: 2 }),
    cursor(['a', 'bb']),
  ])('%s that the API never gave is refused', async (value) => {
    await using system = createSystem()
    expectRefusal(await system.api.instance.inject({ url: '/v1/jobs', query: { cursor: value } }), [400])
  })

  it('with partitions that do not exist finds only the existing jobs', async () => {
    await using system = createSystem()
    system.add('a')
    const query = {
      cursor: cursor([
        null,
        [
          [-1, 'a'],
          [1e9, 'b'],
          [4_294_967_296, ''],
        ],
      ]),
    }
    const answer = await system.api.instance.inject({ url: '/v1/jobs', query })
    expect(answer.json().jobs.map(({ id }: { id: string }) => id)).toEqual(['a'])
  })
})

describe('listeners', () => {
  it('need a token', async () => {
    await using system = createSystem({ apiTokens })
    expectRefusal(await system.api.instance.inject({ url: '/v1/events' }), [401])
    expectRefusal(
      await system.api.instance.inject({ url: '/v1/events', query: { access_token: 'look-token-0123456789' } }),
      [401],
    )
  })

  it('of one caller leave room for others', async () => {
    await using system = createSystem({ apiTokens })
    const url = await system.api.listen('127.0.0.1', 0)
    const closing = new AbortController()
    const listen = (headers: Record<string, string>) => fetch(`${url}/v1/events`, { headers, signal: closing.signal })
    const all = await Promise.all(Array.from({ length: listenersPerCallerMax }, () => listen(viewer)))
    expect(all.every(({ status }) => status === 200)).toBe(true)
    expect(listenersPerCallerMax).toBeLessThan(listenersMax)
    expect((await listen(viewer)).status).toBe(503)
    expect((await listen(operator)).status).toBe(200)
    closing.abort()
  })
})
