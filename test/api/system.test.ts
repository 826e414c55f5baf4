import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../src/metrics.ts'
import { atNoon, createSystem } from './system-in-memory.ts'

describe('probes, metrics and partitions', () => {
  it('answers the probes by the health of the process', async () => {
    const health = { live: true, ready: false, reasons: ['Partition 2 restores.', 'The executor has not joined.'] }
    await using system = createSystem({ health: () => health })
    expect((await system.api.instance.inject('/livez')).json()).toEqual({ status: 'ok' })
    const answer = await system.api.instance.inject('/readyz')
    expect(answer.json()).toMatchObject({
      status: 503,
      code: 'not-ready',
      detail: 'Partition 2 restores. The executor has not joined.',
    })
    health.ready = true
    expect((await system.api.instance.inject('/readyz')).statusCode).toBe(200)
    health.live = false
    expect((await system.api.instance.inject('/livez')).statusCode).toBe(503)
  })

  it('are all that there is without the role api', async () => {
    await using system = createSystem({ public: false })
    system.add('a')
    const get = (url: string) => system.api.instance.inject(url)
    for (const url of ['/livez', '/readyz', '/metrics', '/internal/v1/partitions'])
      expect((await get(url)).statusCode, url).toBe(200)
    for (const url of ['/v1/jobs', '/v1/jobs/a', '/v1/partitions', '/openapi.json', '/docs', '/nowhere', '/']) {
      const answer = await get(url)
      expect(answer.json(), url).toMatchObject({
        status: 404,
        code: 'not-found',
        detail: expect.stringMatching(/not have the role api/),
      })
    }
    const answer = await system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', payload: atNoon })
    expect(answer.statusCode).toBe(404)
    expect(system.log.written).toEqual([])
  })

  it('gives metrics in the form of Prometheus', async () => {
    const metrics = createMetrics()
    metrics.deadLetters.inc(3)
    await using system = createSystem({ metrics })
    const answer = await system.api.instance.inject('/metrics')
    expect(answer.headers['content-type']).toMatch(/^text\/plain; version=/)
    expect(answer.body).toMatch(/^duelog_dlq_total 3$/m)
  })

  it('shows every partition', async () => {
    await using system = createSystem()
    const { partitions } = (await system.api.instance.inject('/v1/partitions')).json()
    expect(partitions.map((view: { partition: number; phase: string }) => [view.partition, view.phase])).toEqual(
      [0, 1, 2, 3].map((partition) => [partition, 'active']),
    )
  })

  it('previews a schedule strictly after its start', async () => {
    await using system = createSystem()
    const preview = async (payload: object) =>
      (await system.api.instance.inject({ method: 'POST', url: '/v1/schedules/preview', payload })).json()
    const daily = { cron: '0 9 * * *', timezone: 'Europe/Paris' }
    expect(await preview({ schedule: daily, from: '2030-06-01T09:00:00+02:00', count: 2 })).toEqual({
      fires: [
        { at: '2030-06-02T07:00:00.000Z', atMs: Date.UTC(2030, 5, 2, 7) },
        { at: '2030-06-03T07:00:00.000Z', atMs: Date.UTC(2030, 5, 3, 7) },
      ],
    })
    expect((await preview({ schedule: { everyMs: 1_000 } })).fires).toHaveLength(10)
    expect((await preview({ schedule: { everyMs: 1_000 }, count: 1_000 })).fires).toHaveLength(1_000)
    expect((await preview({ schedule: { at: 0 } })).fires).toEqual([])
    expect((await preview({ schedule: { delayMs: 5 }, from: 1_000 })).fires).toEqual([
      { at: '1970-01-01T00:00:01.005Z', atMs: 1_005 },
    ])
  })

  it('takes no more requests once it stops, and stops twice safely', async () => {
    const system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    await Promise.all([system.api.stop(), system.api.stop()])
    await expect(fetch(`${url}/livez`)).rejects.toThrow()
  })
})
