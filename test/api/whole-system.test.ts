/** Two processes of one system on the real broker: both give the answers of the owners, and one of two concurrent writes wins. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import { type System, startSystem } from '../../src/program/system/system.ts'
import { brokers, registryUrl, uniquePrefix } from '../kafka/harness.ts'

const partitions = 2
const patience = { timeout: 60_000, interval: 50 }
const far = '2040-01-01T00:00:00.000Z'
const noop = { handler: 'noop' }

let folder: string
let owning: System
let asking: System

const prefix = uniquePrefix()
const start = (name: string, roles: string): Promise<System> =>
  startSystem({
    config: readConfig({
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DUELOG_TOPIC_PREFIX: prefix,
      DUELOG_ROLES: roles,
      DUELOG_HTTP_PORT: '0',
      DUELOG_DATA_DIR: join(folder, name),
      DUELOG_PARTITIONS: String(partitions),
      DUELOG_REPLICATION: '1',
    }),
    logger: pino({ level: 'silent' }),
  })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-whole-'))
  owning = await start('owning', 'all')
  asking = await start('asking', 'api')
  await owning.ready()
})
afterAll(async () => {
  await asking?.stop()
  await owning?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function ask(system: System, method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await fetch(`${system.url}${path}`, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text.startsWith('{') ? JSON.parse(text) : text }
}

describe('two processes', () => {
  it('let one of many writers with the same If-Match win, in whichever process', async () => {
    const created = await ask(asking, 'PUT', '/v1/jobs/contended?wait=applied', { schedule: { at: far }, target: noop })
    expect(created.status).toBe(200)
    const ifMatch = { 'if-match': created.headers.get('etag') ?? '' }
    const writes = await Promise.all(
      Array.from({ length: 12 }, (_, index) => {
        const body = { schedule: { at: far }, target: noop, tags: [`writer-${index}`] }
        return ask(index % 2 === 0 ? owning : asking, 'PUT', '/v1/jobs/contended', body, ifMatch)
      }),
    )
    expect(writes.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(412)])
    const winner = writes.findIndex(({ status }) => status === 200)
    const after = await ask(owning, 'GET', '/v1/jobs/contended')
    expect(after.body.definition.tags).toEqual([`writer-${winner}`])
    expect(after.headers.get('etag')).toBe(writes[winner]?.headers.get('etag'))
    const late = await ask(asking, 'DELETE', '/v1/jobs/contended', undefined, ifMatch)
    expect(late.body.code).toBe('version-conflict')
    const right = await ask(asking, 'DELETE', '/v1/jobs/contended', undefined, { 'if-match': after.headers.get('etag') ?? '' })
    expect(right.status).toBe(204)
    expect((await ask(owning, 'GET', '/v1/jobs/contended')).status).toBe(404)
  })

  it('plan what then happens, and forecast it', async () => {
    const job = { id: 'planned', schedule: { cron: '0 0 1 1 *', timezone: 'UTC' }, target: noop }
    const horizonMs = 3 * 366 * 86_400_000
    const plan = await ask(asking, 'POST', '/v1/jobs/plan', { jobs: [job], horizonMs })
    expect(plan.body.jobs, JSON.stringify(plan.body)).toMatchObject([
      { id: 'planned', action: 'CREATE', fires: { removed: [], moved: [], kept: 0 } },
    ])
    await ask(asking, 'PUT', '/v1/jobs/planned?wait=applied', job)
    const { nextFireAt } = (await ask(asking, 'GET', '/v1/jobs/planned')).body
    expect(plan.body.jobs[0].fires.added[0]).toBe(nextFireAt)
    const again = await ask(owning, 'POST', '/v1/jobs/plan', { jobs: [job], horizonMs })
    expect(again.body.jobs).toMatchObject([{ action: 'UNCHANGED', fires: { added: [], removed: [], moved: [] } }])
    expect(again.body.jobs[0].fires.kept).toBe(plan.body.jobs[0].fires.added.length)
    const forecast = (await ask(asking, 'GET', `/v1/forecast?horizonMs=${horizonMs}&buckets=3`)).body
    expect(forecast).toMatchObject({ jobs: 1, sampled: 1, estimate: false, overdue: 0 })
    const due = forecast.buckets.reduce(
      (sum: number, { next, later }: Record<string, number>) => sum + (next ?? 0) + (later ?? 0),
      0,
    )
    expect(due).toBe(plan.body.jobs[0].fires.added.length)
  })

  it('show workers with what they run, and partitions that are not behind', async () => {
    const busy = { schedule: { delayMs: 0 }, target: { handler: 'sleep' }, payload: { ms: 60_000 } }
    await ask(asking, 'PUT', '/v1/jobs/busy?wait=applied', busy)
    const worker = await vi.waitUntil(async () => {
      const { workers } = (await ask(asking, 'GET', '/v1/workers')).body
      return workers.find(({ running }: { running: number }) => running === 1)
    }, patience)
    expect(worker).toMatchObject({ connected: true, pid: process.pid, runIds: ['busy/1'], version: expect.any(String) })
    expect(worker.pools).toMatchObject([{ pool: 'default', slots: 50 }])
    expect(worker.lastHeardAt).not.toBeNull()
    await ask(asking, 'POST', '/v1/runs/busy/1/cancel')
    await vi.waitUntil(async () => {
      const { partitions: shown } = (await ask(asking, 'GET', '/v1/partitions')).body
      return shown.every((view: { phase: string; lag: Record<string, number> | null }) => {
        return view.phase === 'active' && Object.values(view.lag ?? { none: 1 }).every((behind) => behind === 0)
      })
    }, patience)
  })

  it('keep one audit trail', async () => {
    await ask(owning, 'PUT', '/v1/jobs/watched', { schedule: { at: far }, target: noop })
    await ask(asking, 'POST', '/v1/jobs/watched/pause')
    for (const system of [owning, asking]) {
      const { records } = (await ask(system, 'GET', '/v1/audit?jobId=watched')).body
      expect(records.map(({ action }: { action: string }) => action)).toEqual(['PAUSE', 'PUT'])
      expect(new Set(records.map(({ instance }: { instance: string }) => instance)).size).toBe(2)
    }
  })

  it('take a write while no owner runs, and the next owner fires the job', async () => {
    await owning.stop()
    const job = { schedule: { delayMs: 0 }, target: noop, catchUp: 'LATEST' }
    const written = await ask(asking, 'PUT', '/v1/jobs/unseen', job)
    expect([written.status, written.body.applied]).toEqual([200, false])
    expect((await ask(asking, 'PUT', '/v1/jobs/unseen', job, { 'if-match': '*' })).status).toBe(503)
    owning = await start('owning', 'all')
    await owning.ready()
    await vi.waitUntil(async () => (await ask(asking, 'GET', '/v1/jobs/unseen')).body.succeeded === 1, patience)
  })
})
