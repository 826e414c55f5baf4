import { describe, expect, it } from 'vitest'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { topicsOfPool } from '../../streams/topics/topics.ts'
import { atNoon, createSystem, names, nowMs } from './system-in-memory.ts'

const isoAt = (afterMs: number): string => new Date(nowMs + afterMs).toISOString()

describe('probes, metrics and partitions', () => {
  it('ask the brokers once for all requests of one moment, and again for later requests', async () => {
    let [asked, groups] = [0, 0]
    const admin = {
      offsets: async () => {
        asked++
        await new Promise(setImmediate)
        return []
      },
      groups: async () => {
        groups++
        await new Promise(setImmediate)
        return []
      },
      groupMembers: async () => [],
    }
    await using system = createSystem({ admin: admin as never })
    const all = (url: string, count: number) => Promise.all(Array.from({ length: count }, () => system.api.instance.inject(url)))
    for (const { statusCode } of [...(await all('/v1/partitions', 50)), ...(await all('/v1/workers', 50))])
      expect(statusCode).toBe(200)
    // One lookup of three topics for the first request, and one for all requests that arrive during it.
    expect([asked, groups]).toEqual([6, 2])
    await all('/v1/partitions', 1)
    expect(asked).toBe(9)
  })

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

  it('are the only routes without the role api', async () => {
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
    const metrics = newMetrics()
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

  it('shows how far each owner is behind, and how much of a restore is done', async () => {
    await using system = createSystem()
    const views = system.owner.partitions()
    const [first, second] = views
    if (first !== undefined) Object.assign(first, { jobsOffset: 1, commandsOffset: 3, eventsOffset: 9, overdueMs: 7 })
    if (second !== undefined) Object.assign(second, { phase: 'restoring', restoreRemaining: 250, restoreTotal: 1_000 })
    system.owner.partitions = () => views
    const { partitions } = (await system.api.instance.inject('/v1/partitions')).json()
    expect(partitions[0]).toMatchObject({
      phase: 'active',
      lag: { jobs: 2, commands: 0, events: 0 },
      overdueMs: 7,
      restoreShare: 1,
    })
    expect(partitions[1]).toMatchObject({ phase: 'restoring', lag: null, restoreRemaining: 250, restoreShare: 0.75 })
  })

  it('shows the workers, with what the owners know of them', async () => {
    await using system = createSystem()
    system.owner.heard = [
      { worker: 'w@h:1:b', heardAt: nowMs, running: 2, runIds: ['a/1', 'b/1'] },
      { worker: 'gone@h:2:b', heardAt: nowMs - 5, running: 1, runIds: ['c/1'] },
      { worker: 'idle and gone@h:3:b', heardAt: nowMs - 9, running: 0, runIds: [] },
    ]
    const { workers } = (await system.api.instance.inject('/v1/workers')).json()
    expect(workers).toMatchObject([
      { instance: 'gone@h:2:b', connected: false, pools: [], running: 1, version: null },
      {
        ...{ instance: 'w@h:1:b', name: 'w', host: 'h', pid: 1, version: '0.1.0', connected: true, running: 2 },
        ...{ runIds: ['a/1', 'b/1'], pools: [{ pool: 'default', slots: 50, partitions: 1, handlers: ['noop'] }] },
        lastHeardAt: new Date(nowMs).toISOString(),
      },
    ])
  })

  it('sums the forecasts of the owners, and says what is an estimate', async () => {
    await using system = createSystem()
    system.owner.due = { next: [1, 0], later: [0.4, 2.6], overdue: 1, jobs: 3, sampled: 1, until: nowMs + 90_000 }
    const forecast = (await system.api.instance.inject('/v1/forecast?horizonMs=120000&buckets=2')).json()
    expect(forecast).toEqual({
      ...{ from: isoAt(0), to: isoAt(120_000), bucketMs: 60_000, overdue: 4, jobs: 12, sampled: 4, estimate: true },
      buckets: [
        { at: isoAt(0), next: 4, later: 2 },
        { at: isoAt(60_000), next: 0, later: 10 },
      ],
      until: isoAt(90_000),
    })
  })

  it('asks each owner for the jobs of a filter', async () => {
    await using system = createSystem()
    const filter = { tag: 'a', handler: 'h', pool: 'p', periodMsMin: 60_000 }
    const query = `tag=a&handler=h&pool=p&periodMsMin=60000`
    expect((await system.api.instance.inject(`/v1/forecast?${query}`)).statusCode).toBe(200)
    expect((await system.api.instance.inject(`/v1/forecast/jobs?from=0&${query}`)).statusCode).toBe(200)
    for (const asked of system.owner.dueRanges) expect(asked).toMatchObject(filter)
    expect(system.owner.dueRanges).toHaveLength(8)
    expect((await system.api.instance.inject('/v1/forecast?periodMsMin=0')).statusCode).toBe(400)
  })

  it('lists the jobs that are due in all partitions, the rarest first', async () => {
    await using system = createSystem()
    system.owner.dueList = { jobs: [2, 5].map((at) => ({ id: `j${at}`, at: nowMs + at, count: at })), found: 7, complete: true }
    const url = `/v1/forecast/jobs?from=${encodeURIComponent(isoAt(0))}&horizonMs=60000`
    const due = (await system.api.instance.inject(`${url}&limit=5`)).json()
    expect(due).toMatchObject({ from: isoAt(0), to: isoAt(60_000), found: 28, complete: true })
    expect(due.jobs.map(({ at, count }: { at: string; count: number }) => [at, count])).toEqual([
      ...Array(4).fill([isoAt(2), 2]),
      [isoAt(5), 5],
    ])
    for (const bad of ['/v1/forecast/jobs', `${url}&limit=501`, `${url}&limit=0`])
      expect((await system.api.instance.inject(bad)).statusCode).toBe(400)
  })

  it.each(['/v1/forecast', '/v1/forecast/jobs?from=0', '/v1/workers', '/v1/jobs'])(
    '%s answers with Retry-After while a partition restores',
    async (url) => {
      await using system = createSystem()
      system.owner.notReady.add(2)
      const answer = await system.api.instance.inject(url)
      expect(answer.json()).toMatchObject({ status: 503, code: 'not-ready', retriable: true })
      expect(answer.headers['retry-after']).toBe('1')
    },
  )

  it('plans definitions against those in force, and writes nothing', async () => {
    await using system = createSystem()
    system.add('same')
    system.add('other')
    const later = { ...atNoon, schedule: { at: nowMs + 1_000 } }
    const jobs = [
      { id: 'same', ...atNoon },
      { id: 'other', ...later },
      { id: 'new', ...later },
      { id: 'new', ...later },
      { id: 'bad' },
    ]
    const plan = (await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/plan', payload: { jobs } })).json()
    expect(plan.jobs).toMatchObject([
      { id: 'same', action: 'UNCHANGED', etag: expect.stringMatching(/^"\d\.0"$/), changed: [] },
      { id: 'other', action: 'UPDATE', changed: ['schedule'], fires: { added: [isoAt(1_000)], removed: [] } },
      { id: 'new', action: 'CREATE', etag: null, fires: { added: [isoAt(1_000)] } },
      { id: 'new', action: 'INVALID', problems: [{ field: 'id' }] },
      { id: 'bad', action: 'INVALID' },
    ])
    expect(plan.totals).toMatchObject({ create: 1, update: 1, unchanged: 1, invalid: 2, added: 2 })
    const payload = { jobs: Array.from({ length: 200 }, (_, index) => ({ id: `j${index}`, ...atNoon })), maxFires: 1_000 }
    const refused = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/plan', payload })
    expect(refused.json()).toMatchObject({ status: 400, problems: [{ field: 'maxFires' }] })
    expect(system.log.written).toEqual([])
  })

  it('a plan warns of pools and topics that do not exist, and of limits that other partitions do not share', async () => {
    const existing = [...topicsOfPool(names, 'default'), ...topicsOfPool(names, 'half').slice(1), 'orders']
    await using system = createSystem({ existingTopics: async () => existing })
    const jobs = [
      { ...atNoon, id: 'pool', target: { handler: 'h', pool: 'reports' } },
      { ...atNoon, id: 'half', target: { handler: 'h', pool: 'half' } },
      { ...atNoon, id: 'topic', target: { topic: { name: 'order' } }, payload: 1 },
      { ...atNoon, id: 'there', target: { topic: { name: 'orders' } }, payload: 1 },
      { ...atNoon, id: 'limited', concurrencyKey: 'k' },
      { id: 'bad', target: { pool: 'reports' } },
    ]
    const plan = (await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/plan', payload: { jobs } })).json()
    expect(plan.jobs.map(({ warnings }: { warnings?: string[] }) => warnings)).toEqual([
      [expect.stringMatching(/^Pool reports has no topics \(/)],
      [expect.stringMatching(/^Pool half has no topics \(/)],
      [expect.stringMatching(/^Topic order does not exist/)],
      undefined,
      [expect.stringMatching(/^The limit of concurrencyKey /)],
      undefined,
    ])
    expect(plan.jobs[0].warnings[0]).toContain('`duelog topics apply --pools reports`')
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
    const leapDays = { rrule: 'FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29' }
    expect((await preview({ schedule: leapDays, from: '2028-01-01T00:00:00Z', count: 1 })).fires).toHaveLength(1)
    expect(await preview({ schedule: leapDays, from: '2027-01-01T00:00:00Z' })).toMatchObject({
      code: 'bad-definition',
      problems: [{ field: 'schedule.rrule', message: expect.stringContaining('it begins at 2027-01-01T00:00:00.000Z') }],
    })
    expect((await preview({ schedule: { delayMs: 5 }, from: 1_000 })).fires).toEqual([
      { at: '1970-01-01T00:00:01.005Z', atMs: 1_005 },
    ])
  })

  it('accepts no request after it stops, and stops twice safely', async () => {
    const system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    await Promise.all([system.api.stop(), system.api.stop()])
    await expect(fetch(`${url}/livez`)).rejects.toThrow()
  })
})
