/** Operations on a whole system: many jobs and dead runs are changed by one request. */
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createClient } from '../../src/clients/library/index.ts'
import type { System } from '../../src/program/system/system.ts'
import { ask, counted, define, far, idsOf, openSystem, operate, patience } from './harness.ts'

const { start, calls } = await openSystem()
let system: System
let url: string
beforeAll(async () => {
  system = await start('all')
  url = system.url
}, 60_000)

const job = (id: string, more: object = {}) => ({ id, schedule: { at: far }, target: { handler: 'noop' }, ...more })
const many = (count: number, prefix: string, more: object = {}) =>
  Array.from({ length: count }, (_, index) => job(`${prefix}${String(index).padStart(5, '0')}`, more))

describe('jobs', () => {
  it('are paused and resumed by tag, and no others', async () => {
    await define(url, [...many(3_000, 'eu-', { tags: ['eu'] }), ...many(50, 'us-', { tags: ['us'] })])
    await counted(url, { action: 'PAUSE', filter: {} }, 3_050)
    const count = await ask(url, 'POST', '/v1/operations/count', { action: 'PAUSE', filter: { tag: 'eu' } })
    expect([count.status, count.body]).toEqual([200, { count: 3_000 }])
    const paused = await operate(url, { action: 'PAUSE', filter: { tag: 'eu' } })
    expect(paused).toMatchObject({ status: 'DONE', total: 3_000, applied: 3_000, refused: 0, reasons: [], problem: null })
    expect(paused).toMatchObject({ action: 'PAUSE', filter: { tag: 'eu' }, listed: null, actor: 'local' })
    expect((await idsOf(url, 'status=PAUSED')).filter((id) => id.startsWith('eu-'))).toHaveLength(3_000)
    expect(await idsOf(url, 'status=PAUSED&tag=us')).toEqual([])
    const actionsOn = async (id: string) => {
      const { records } = (await ask(url, 'GET', `/v1/audit?jobId=${id}`)).body as { records: { action: string }[] }
      return records.map(({ action }) => action)
    }
    expect([await actionsOn('eu-00007'), await actionsOn('us-00007')]).toEqual([['PAUSE_MANY', 'BATCH'], []])
    // They are as wanted already.
    expect(await operate(url, { action: 'PAUSE', filter: { tag: 'eu' } })).toMatchObject({ status: 'DONE', total: 0, applied: 0 })
    expect(await operate(url, { action: 'RESUME', filter: { idPrefix: 'eu-0' } })).toMatchObject({ total: 3_000, applied: 3_000 })
    expect(await idsOf(url, 'status=PAUSED')).toEqual([])
  }, 120_000)

  it('fire no more from the moment all owners know a pause, long before the walk over the others has come to them', async () => {
    const loud = many(60, 'zz-loud-', { tags: ['large'], schedule: { everyMs: 1_000 } })
    await define(url, [...many(6_000, 'large-', { tags: ['large'] }), ...loud])
    await counted(url, { action: 'PAUSE', filter: { tag: 'large' } }, 6_060)
    const runNos = async () => (await ask(url, 'GET', '/v1/jobs?limit=100&idPrefix=zz-loud-')).body.jobs as { runNo: number }[]
    await vi.waitUntil(async () => (await runNos()).every(({ runNo }) => runNo > 1), patience)
    const done = await operate(url, { action: 'PAUSE', filter: { tag: 'large' } })
    expect(done).toMatchObject({ status: 'DONE', total: 6_060, applied: 6_060, refused: 0, problem: null })
    const effectiveAt = Date.parse(done.effectiveAt ?? '')
    expect(effectiveAt).toBeGreaterThanOrEqual(Date.parse(done.createdAt))
    expect(effectiveAt).toBeLessThanOrEqual(Date.parse(done.endedAt ?? ''))
    await vi.waitUntil(async () => (await idsOf(url, 'status=PAUSED&idPrefix=zz-loud-&active=true')).length === 0, patience)
    for (const { id } of loud) {
      const { runs } = (await ask(url, 'GET', `/v1/jobs/${id}/runs`)).body as { runs: { dispatchedAt: string }[] }
      const late = runs.map(({ dispatchedAt }) => Date.parse(dispatchedAt) - effectiveAt).filter((lateMs) => lateMs > 0)
      expect([id, runs.length > 0, late]).toEqual([id, true, []])
    }
    // A deletion holds too: owners delete the jobs that come up, and each of all is counted once.
    const filter = { idPrefix: 'zz-loud-' }
    expect(await operate(url, { action: 'RESUME', filter })).toMatchObject({ status: 'DONE', applied: 60 })
    const deleted = await operate(url, { action: 'DELETE', filter })
    expect(deleted).toMatchObject({ status: 'DONE', total: 60, applied: 60, refused: 0, problem: null })
    expect(Date.parse(deleted.effectiveAt ?? '')).toBeLessThanOrEqual(Date.parse(deleted.endedAt ?? ''))
    // The tombstones that owners wrote come back to them as records.
    await vi.waitUntil(async () => (await idsOf(url, 'idPrefix=zz-loud-')).length === 0, patience)
  }, 120_000)

  it('are changed by list, each once, and those that do not exist are passed over', async () => {
    await define(url, many(300, 'listed-'))
    const jobIds = ['absent', ...many(150, 'listed-').map(({ id }) => id), 'listed-00000']
    expect(await operate(url, { action: 'DELETE', jobIds })).toMatchObject({
      status: 'DONE',
      total: 150,
      applied: 150,
      listed: 152,
    })
    expect(await idsOf(url, 'idPrefix=listed-')).toEqual(
      many(300, 'listed-')
        .slice(150)
        .map(({ id }) => id),
    )
    expect(await operate(url, { action: 'CANCEL', filter: { idPrefix: 'listed-' } })).toMatchObject({ total: 150, applied: 150 })
    expect(await idsOf(url, 'status=COMPLETED&idPrefix=listed-')).toHaveLength(150)
    const client = createClient({ url })
    expect(await client.countOperation({ action: 'TRIGGER', jobIds: ['listed-00200', 'absent'] })).toBe(1)
    const begun = await client.operate({ action: 'DELETE', filter: { idPrefix: 'listed-' } }, { idempotencyKey: 'once' })
    expect((await client.operate({ action: 'DELETE', filter: { idPrefix: 'listed-' } }, { idempotencyKey: 'once' })).id).toBe(
      begun.id,
    )
    await vi.waitUntil(async () => (await client.operation(begun.id))?.status === 'DONE', patience)
    expect((await client.operations({ limit: 1 }))[0]).toMatchObject({ id: begun.id, applied: 150 })
    expect(await client.cancelOperation(begun.id)).toMatchObject({ status: 'DONE' })
    expect(await client.operation('nobody')).toBeUndefined()
    await client.close()
  }, 60_000)

  it('are triggered once each, and a refusal says why', async () => {
    await define(url, [...many(20, 'run-'), job('run-over', { schedule: { at: far }, expireAt: '2020-01-01T00:00:00Z' })])
    const done = await operate(url, { action: 'TRIGGER', filter: { idPrefix: 'run-' } })
    expect(done).toMatchObject({ status: 'DONE', total: 21, applied: 20, refused: 1 })
    expect(done.reasons).toEqual([{ code: 'expired', count: 1, example: 'run-over', reason: expect.stringMatching(/expire/) }])
    await vi.waitUntil(async () => (await ask(url, 'GET', '/v1/jobs/run-00019')).body.succeeded === 1, patience)
    expect((await ask(url, 'GET', '/v1/jobs/run-00007')).body.runNo).toBe(1)
  }, 60_000)
})

describe('dead runs', () => {
  it('are redriven once each although they fail again at once, also if their jobs have room for one run only', async () => {
    const dying = { target: { handler: 'give-up' }, schedule: { at: '2020-01-01T00:00:00Z' }, catchUp: 'ALL' }
    await define(url, [...many(1_500, 'dead-', dying), ...many(30, 'narrow-', { ...dying, maxConcurrentRuns: 1 })])
    const jobs = 1_530
    await vi.waitUntil(() => calls.size === jobs, patience)
    // Each narrow job has three dead runs.
    for (const round of [2, 3]) {
      await operate(url, { action: 'TRIGGER', filter: { idPrefix: 'narrow-' } })
      await vi.waitUntil(() => many(30, 'narrow-').every(({ id }) => calls.get(id) === round), patience)
    }
    await counted(url, { action: 'REDRIVE', filter: {} }, 1_590)
    const done = await operate(url, { action: 'REDRIVE', filter: {} })
    expect(done).toMatchObject({ status: 'DONE', total: 1_590, applied: 1_590, refused: 0 })
    await vi.waitUntil(() => [...calls.values()].reduce((sum, count) => sum + count, 0) === 3_180, patience)
    for (const [id, count] of calls) expect([id, count]).toEqual([id, id.startsWith('narrow-') ? 6 : 2])
  }, 120_000)

  it('are discarded: they keep their records and no longer count as dead', async () => {
    const runIds = ['dead-00001/2', 'dead-00002/2', 'dead-00003/1']
    expect(await operate(url, { action: 'DISCARD', runIds })).toMatchObject({ status: 'DONE', total: 2, applied: 2, listed: 3 })
    expect((await ask(url, 'GET', '/v1/jobs/dead-00001')).body.deadRuns).toEqual([])
    expect((await ask(url, 'GET', '/v1/runs/dead-00001/2')).body).toMatchObject({ status: 'DEAD' })
    expect((await ask(url, 'GET', '/v1/dead-letters/dead-00001/2')).status).toBe(404)
    const rest = await operate(url, { action: 'DISCARD', filter: { handler: 'give-up' } })
    expect(rest).toMatchObject({ status: 'DONE', total: 1_588, applied: 1_588 })
    expect((await ask(url, 'GET', '/v1/dead-letters')).body.runs).toEqual([])
    expect(await operate(url, { action: 'REDRIVE', filter: {} })).toMatchObject({ total: 0 })
  }, 60_000)
})
