import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { readDashboard } from '../../src/server/api/http/dashboard-files.ts'
import { statsMessageSchema } from '../../src/server/api/schemas/events.ts'
import { listenersMax } from '../../src/server/api/schemas/limits.ts'
import { createSystem } from './system-in-memory.ts'

function built(): ReturnType<typeof readDashboard> {
  const folder = mkdtempSync(join(tmpdir(), 'duelog-pages-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Duelog</title>')
  writeFileSync(join(folder, 'assets/index-abc.js'), 'let a')
  writeFileSync(join(folder, 'secret.key'), 'not served')
  return readDashboard(folder)
}

describe('the pages of the dashboard', () => {
  it('are one document at every address, which is not cached and runs only our own scripts', async () => {
    await using system = createSystem({ dashboard: built() })
    for (const url of ['/', '/jobs', '/jobs/a%2Fb', '/runs', '/dead-letters', '/workers', '/calendar', '/?x=1']) {
      const answer = await system.api.instance.inject(url)
      expect([url, answer.statusCode, answer.body]).toEqual([url, 200, '<!doctype html><title>Duelog</title>'])
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
      expect(answer.headers['cache-control']).toBe('no-cache')
      expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
      expect(answer.headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/)
    }
    const { etag } = (await system.api.instance.inject('/')).headers
    expect((await system.api.instance.inject({ url: '/', headers: { 'if-none-match': String(etag) } })).statusCode).toBe(304)
  })

  it('are served for each link of the navigation', async () => {
    await using system = createSystem({ dashboard: built() })
    // The module runs in a browser, so its text is read.
    const routes = readFileSync(new URL('../../src/clients/dashboard/model/routes.ts', import.meta.url), 'utf8')
    const links = Array.from(routes.matchAll(/href: '([^']+)', title:/g), ([, href = '']) => href)
    expect(links).toContain('/settings')
    for (const url of links) expect([url, (await system.api.instance.inject(url)).statusCode]).toEqual([url, 200])
  })

  it('have assets that may be cached for ever, compressed for clients that accept it', async () => {
    await using system = createSystem({ dashboard: built() })
    const plain = await system.api.instance.inject('/assets/index-abc.js')
    expect([plain.body, plain.headers['cache-control']]).toEqual(['let a', 'public, max-age=31536000, immutable'])
    const packed = await system.api.instance.inject({ url: '/assets/index-abc.js', headers: { 'accept-encoding': 'br, gzip' } })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(packed.rawPayload).toString()).toBe('let a')
  })

  it('serve no other file', async () => {
    await using system = createSystem({ dashboard: built() })
    for (const url of [
      '/assets/none.js',
      '/assets/../secret.key',
      '/assets/..%2Fsecret.key',
      '/assets/%2e%2e/index.html',
      '/secret.key',
    ])
      expect([url, (await system.api.instance.inject(url)).statusCode]).toEqual([url, 404])
  })

  it('answer people at wrong addresses with 404 too; programs get a problem', async () => {
    await using system = createSystem({ dashboard: built(), apiTokens: [{ role: 'viewer', token: 'look' }] })
    const ask = (url: string, accept: string) => system.api.instance.inject({ url, headers: { accept } })
    const page = await ask('/nowhere', 'text/html,*/*;q=0.8')
    expect([page.statusCode, page.body]).toEqual([404, '<!doctype html><title>Duelog</title>'])
    for (const [url, accept] of [
      ['/nowhere', '*/*'],
      ['/v1/nowhere', 'text/html'],
      ['/v1', 'text/html'],
      ['/assets/none.js', 'text/html'],
    ] as const) {
      const answer = await ask(url, accept)
      expect([url, answer.statusCode, answer.json().code]).toEqual([url, 404, 'not-found'])
    }
  })

  it('say how to build the dashboard if it is not built', async () => {
    await using system = createSystem({ dashboard: readDashboard(join(tmpdir(), 'duelog-never-built')) })
    const answer = await system.api.instance.inject('/jobs')
    expect([answer.statusCode, answer.body]).toEqual([503, expect.stringContaining('npm run build:dashboard')])
  })
})

describe('what the pages listen to', () => {
  const apiTokens = [{ role: 'viewer', token: 'look' }] as const

  it('tells a caller its rights', async () => {
    await using open = createSystem()
    expect((await open.api.instance.inject('/v1/session')).json()).toEqual({ role: 'admin', authentication: false, name: null })
    await using guarded = createSystem({ apiTokens })
    expect((await guarded.api.instance.inject('/v1/session')).statusCode).toBe(401)
    const headers = { authorization: 'Bearer look' }
    expect((await guarded.api.instance.inject({ url: '/v1/session', headers })).json()).toEqual({
      role: 'viewer',
      authentication: true,
      name: 'viewer',
    })
    expect((await guarded.api.instance.inject('/v1/events')).statusCode).toBe(401)
  })

  it('are stats messages with the counts of all owners, and end when the process stops', async () => {
    const metrics = newMetrics()
    metrics.dispatched.inc({ pool: 'default' }, 3)
    metrics.runs.inc({ status: 'SUCCEEDED' }, 2)
    metrics.reportedLateness.observe(0.0011)
    const system = createSystem({ metrics })
    const url = await system.api.listen('127.0.0.1', 0)
    const response = await fetch(`${url}/v1/events`)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('\n\n', text.indexOf('data:'))) text += (await reader?.read())?.value ?? ''
    const pulse = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '')
    expect(pulse.counts).toMatchObject({ dispatched: 3, ended: { SUCCEEDED: 2 } })
    expect(pulse.counts.lateness.filter(([, starts]: [number, number]) => starts > 0)).toEqual([[1.25, 1]])
    expect(pulse.partitions).toHaveLength(4)
    const isMessage = new Ajv2020({ strict: false }).compile(statsMessageSchema)
    expect(isMessage(pulse), JSON.stringify(isMessage.errors)).toBe(true)
    await system.api.stop()
    for (;;) if ((await reader?.read())?.done) break
  })

  it('refuses more listeners than the limit', async () => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    const ended = new AbortController()
    const listen = () => fetch(`${url}/v1/events`, { signal: ended.signal })
    const all = await Promise.all(Array.from({ length: listenersMax }, listen))
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
    const refused = await listen()
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, 'overloaded'])
    ended.abort()
  })
})
