import { describe, expect, it, vi } from 'vitest'
import type { RecordOut } from '../../src/ground/ports/log.ts'
import { lastWritesMax } from '../../src/server/api/schemas/limits.ts'
import { partitionOf } from '../../streams/topics/topics.ts'
import { atNoon, createSystem, finishedRun, type MemorySystem, names } from './system-in-memory.ts'

const put = (url: string, payload: object, headers: Record<string, string> = {}) => ({
  method: 'PUT' as const,
  url,
  payload,
  headers,
})

/** The names of the questions that this owner gets from now on. */
function questionsTo(owner: MemorySystem['owner']): string[] {
  const asked: string[] = []
  for (const name of ['job', 'stored', 'why', 'applied', 'ended', 'list'] as const) {
    const answer = owner[name].bind(owner) as (...given: unknown[]) => unknown
    vi.spyOn(owner, name).mockImplementation(((...given: unknown[]) => {
      asked.push(name)
      return answer(...given)
    }) as never)
  }
  return asked
}

describe('PUT /v1/jobs/{id}', () => {
  it('creates or replaces a job with 200, and gives the version of each', async () => {
    await using system = createSystem({ partitions: 1 })
    const first = await system.api.instance.inject(put('/v1/jobs/a', atNoon))
    expect(first.statusCode).toBe(200)
    expect(first.headers.etag).toBe('"0.0"')
    expect(first.json()).toEqual({ id: 'a', etag: '"0.0"', partition: 0, offset: 0, applied: false })
    const second = await system.api.instance.inject(put('/v1/jobs/a', { ...atNoon, id: 'a' }))
    expect(second.statusCode).toBe(200)
    expect(second.headers.etag).toBe('"0.1"')
  })

  it('with wait=applied, reports the status of the job: INVALID and why, although it is written', async () => {
    await using system = createSystem({ partitions: 1 })
    expect((await system.api.instance.inject(put('/v1/jobs/a?wait=applied', atNoon))).json()).toEqual({
      ...{ id: 'a', etag: '"0.0"', partition: 0, offset: 0 },
      ...{ applied: true, status: 'ACTIVE' },
    })
    system.owner.invalid = () => 'The topic x is not allowed.'
    const answer = await system.api.instance.inject(put('/v1/jobs/a?wait=applied', atNoon))
    expect(answer.json()).toMatchObject({ applied: true, status: 'INVALID', reason: 'The topic x is not allowed.' })
    const made = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs?wait=applied', payload: atNoon })
    expect(made.json()).toMatchObject({ applied: true, status: 'INVALID', reason: 'The topic x is not allowed.' })
  })

  it('with wait=applied, warns when the job has already run for the instant of its new definition', async () => {
    await using system = createSystem({ partitions: 1 })
    const lastRun = { ...finishedRun(1), specOffset: 0, scheduledFor: Date.parse(atNoon.schedule.at) }
    system.owner.made = { status: 'COMPLETED', nextFireAt: null, lastRun }
    const first = await system.api.instance.inject(put('/v1/jobs/a?wait=applied', atNoon))
    expect(first.json()).not.toHaveProperty('warnings')
    const again = await system.api.instance.inject(put('/v1/jobs/a?wait=applied', { ...atNoon, payload: 2 }))
    expect(again.json()).toMatchObject({
      status: 'COMPLETED',
      warnings: [expect.stringContaining('already run for 2031-01-01T12:00:00.000Z')],
    })
    const later = { ...atNoon, schedule: { at: '2031-01-02T12:00:00Z' } }
    expect((await system.api.instance.inject(put('/v1/jobs/a?wait=applied', later))).json()).not.toHaveProperty('warnings')
  })

  it.each(['a/b', 'é✓', 'a b', '100%', '%2F', 'a%2Fb', '?x=1#y', '\'"', 'x'.repeat(255), '✓'.repeat(85)])(
    'decodes the percent-encoded id %s',
    async (id) => {
      await using system = createSystem()
      const url = `/v1/jobs/${encodeURIComponent(id)}`
      expect((await system.api.instance.inject(put(url, atNoon))).statusCode).toBe(200)
      expect(system.log.written.map((record) => record.key)).toEqual([id])
      expect(system.log.written[0]?.partition).toBe(partitionOf(id, 4))
      expect((await system.api.instance.inject(url)).json().id).toBe(id)
      expect((await system.api.instance.inject({ method: 'DELETE', url })).statusCode).toBe(204)
    },
  )

  it.each([
    ['%00', 'bad-job-id'],
    ['a%0Ab', 'bad-job-id'],
    ['x'.repeat(256), 'bad-job-id'],
    ['%E2%9C%93'.repeat(86), 'bad-job-id'],
    ['x'.repeat(2_000), 'bad-request'],
    ['%ff', 'bad-request'],
    ['%zz', 'bad-request'],
  ])('refuses the id %s as %s', async (id, code) => {
    await using system = createSystem()
    const answer = await system.api.instance.inject(put(`/v1/jobs/${id}`, atNoon))
    expect(answer.statusCode).toBe(400)
    expect(answer.headers['content-type']).toMatch('application/problem+json')
    expect(answer.json()).toMatchObject({ code, status: 400 })
    expect(system.log.written).toEqual([])
  })

  it('reports everything that is wrong with a definition', async () => {
    await using system = createSystem()
    const answer = await system.api.instance.inject(
      put('/v1/jobs/a', { schedul: {}, target: { handler: '' }, schedule: { cron: 'x' }, tag: 3 }),
    )
    expect(answer.statusCode).toBe(400)
    expect(answer.json().code).toBe('bad-definition')
    const fields = answer.json().problems.map((problem: { field: string }) => problem.field)
    expect(fields).toContain('schedul')
    expect(fields).toContain('tag')
  })

  it('refuses a body that names another id', async () => {
    await using system = createSystem()
    const answer = await system.api.instance.inject(put('/v1/jobs/a', { ...atNoon, id: 'b' }))
    expect(answer.json()).toMatchObject({ status: 400, code: 'bad-definition', problems: [{ field: 'id' }] })
  })

  it('writes only if If-Match names the version in force', async () => {
    await using system = createSystem({ partitions: 1 })
    const { instance } = system.api
    const missing = await instance.inject(put('/v1/jobs/a', atNoon, { 'if-match': '*' }))
    expect(missing.json()).toMatchObject({ status: 412, code: 'version-conflict' })
    await instance.inject(put('/v1/jobs/a', atNoon))
    expect((await instance.inject(put('/v1/jobs/a', atNoon, { 'if-match': '"0.0"' }))).statusCode).toBe(200)
    expect((await instance.inject(put('/v1/jobs/a', atNoon, { 'if-match': '"0.0"' }))).statusCode).toBe(412)
    expect((await instance.inject(put('/v1/jobs/a', atNoon, { 'if-match': 'W/"0.1"' }))).statusCode).toBe(412)
    expect((await instance.inject(put('/v1/jobs/a', atNoon, { 'if-match': '"9.9", "0.1"' }))).statusCode).toBe(200)
    expect((await instance.inject(put('/v1/jobs/a', atNoon, { 'if-match': '0.2' }))).json().code).toBe('bad-request')
    expect((await instance.inject({ method: 'DELETE', url: '/v1/jobs/a', headers: { 'if-match': '"0.0"' } })).statusCode).toBe(
      412,
    )
    expect((await instance.inject({ method: 'DELETE', url: '/v1/jobs/a', headers: { 'if-match': '*' } })).statusCode).toBe(204)
  })

  it('lets one of many parallel writers pass the same If-Match', async () => {
    await using system = createSystem({ partitions: 1 })
    await system.api.instance.inject(put('/v1/jobs/a', atNoon))
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => system.api.instance.inject(put('/v1/jobs/a', atNoon, { 'if-match': '"0.0"' }))),
    )
    expect(answers.map((answer) => answer.statusCode).sort()).toEqual([200, ...Array(19).fill(412)])
  })

  it('waits with ?wait=applied, and answers 202 when the owner takes too long', async () => {
    await using system = createSystem()
    const applied = await system.api.instance.inject(put('/v1/jobs/a?wait=applied', atNoon))
    expect(applied.statusCode).toBe(200)
    expect(applied.json().applied).toBe(true)
    system.owner.applies = false
    const late = await system.api.instance.inject(put('/v1/jobs/b?wait=applied', atNoon))
    expect(late.statusCode).toBe(202)
    expect(late.headers.etag).toBeDefined()
    expect(late.json()).toMatchObject({ id: 'b', applied: false, code: 'wait-timeout' })
  })

  it('judges no condition by an owner that has not applied the last write of the job', async () => {
    await using system = createSystem({ partitions: 1 })
    system.owner.applies = false
    await system.api.instance.inject(put('/v1/jobs/a', atNoon))
    const again = await system.api.instance.inject(put('/v1/jobs/a', atNoon, { 'if-match': '"0.0"' }))
    expect(again.json()).toMatchObject({ status: 503, code: 'not-ready', retriable: true })
    expect(system.log.written).toHaveLength(1)
  })

  it('without a condition asks no owner, and with wait=applied only once whether it was applied', async () => {
    await using system = createSystem({ partitions: 1 })
    const asked = questionsTo(system.owner)
    for (const payload of [1, 2]) await system.api.instance.inject(put('/v1/jobs/a', { ...atNoon, payload }))
    expect([asked, system.log.written.length]).toEqual([[], 2])
    await system.api.instance.inject(put('/v1/jobs/a?wait=applied', atNoon))
    expect([asked, system.log.calls.length]).toEqual([['applied', 'job'], 3])
  })

  it('is written and applied later while no owner answers, and so is a deletion', async () => {
    await using system = createSystem({ partitions: 1 })
    const { instance } = system.api
    system.owner.notReady.add(0)
    const written = await instance.inject(put('/v1/jobs/a', atNoon))
    expect([written.statusCode, written.json().etag]).toEqual([200, '"0.0"'])
    const waiting = await instance.inject(put('/v1/jobs/a?wait=applied', atNoon))
    expect([waiting.statusCode, waiting.json()]).toMatchObject([202, { etag: '"0.1"', code: 'wait-timeout' }])
    const conditional = await instance.inject(put('/v1/jobs/a', atNoon, { 'if-match': '"0.1"' }))
    expect([conditional.statusCode, conditional.headers['retry-after']]).toEqual([503, '1'])
    const follower = await instance.inject(put('/v1/jobs/b', { ...atNoon, onSuccess: ['a'] }))
    expect(follower.statusCode).toBe(200)
    const deleted = await instance.inject({ method: 'DELETE', url: '/v1/jobs/a' })
    expect([deleted.statusCode, system.log.written.map(({ value }) => value === null)]).toEqual([
      204,
      [false, false, false, true],
    ])
    system.owner.notReady.clear()
    expect((await instance.inject('/v1/jobs/b')).statusCode).toBe(200)
  })

  it('never says that a job does not exist which this process wrote and its owner has not applied, in a batch of any size too', async () => {
    await using system = createSystem({ partitions: 1 })
    const { instance } = system.api
    const seen = async (...ids: string[]) =>
      Promise.all(
        ids.flatMap((id) => [`/v1/jobs/${id}`, `/v1/jobs/${id}/why`]).map(async (url) => (await instance.inject(url)).statusCode),
      )
    const batch = (first: number, count: number) =>
      instance.inject({
        method: 'POST',
        url: '/v1/jobs/batch',
        headers: { 'content-type': 'application/x-ndjson' },
        payload: Array.from({ length: count }, (_, index) => JSON.stringify({ id: `b${first + index}`, ...atNoon })).join('\n'),
      })
    system.owner.applies = false
    await instance.inject(put('/v1/jobs/a', atNoon))
    await batch(0, 2)
    expect(await seen('a', 'b0', 'b1')).toEqual([503, 503, 503, 503, 503, 503])
    expect(await seen('never')).toEqual([404, 404])
    // More than are known one by one.
    await batch(2, lastWritesMax)
    expect(await seen('a', 'b0')).toEqual([503, 503, 503, 503])
    system.owner.applies = true
    await batch(0, 1)
    expect(await seen('b0', 'never')).toEqual([200, 200, 404, 404])
  })

  it('says that nobody knows whether a job exists while a commit cycle lasts too long', async () => {
    await using system = createSystem({ partitions: 1 })
    const applied = vi.spyOn(system.owner, 'applied').mockResolvedValue(false)
    const read = (url: string) => system.api.instance.inject(url)
    expect((await read('/v1/jobs/a')).json()).toMatchObject({ status: 503, code: 'not-ready', retriable: true })
    applied.mockResolvedValue(true)
    expect((await read('/v1/jobs/a')).json()).toMatchObject({ status: 404, code: 'not-found' })
  })

  it('answers reads with 503 and Retry-After while the partition has no active owner, and others go on', async () => {
    await using system = createSystem()
    const partition = partitionOf('a', 4)
    const other = Array.from({ length: 100 }, (_, index) => `o${index}`).find((id) => partitionOf(id, 4) !== partition)
    system.owner.notReady.add(partition)
    const answer = await system.api.instance.inject('/v1/jobs/a')
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('1')
    expect(answer.json()).toMatchObject({ code: 'not-ready', retriable: true })
    expect((await system.api.instance.inject(`/v1/jobs/${other}`)).statusCode).toBe(404)
  })

  it('answers each of the writes that arrive while one is in flight with the offset of its own record', async () => {
    await using system = createSystem({ partitions: 1 })
    const opened = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    system.log.hold = () => {
      started.resolve()
      return opened.promise
    }
    const first = system.api.instance.inject(put('/v1/jobs/first', atNoon))
    await started.promise
    let read = 0
    const job = system.owner.job.bind(system.owner)
    const allRead = Promise.withResolvers<void>()
    system.owner.job = (partition, id) => job(partition, id).finally(() => ++read === 50 && allRead.resolve())
    const none = { 'if-none-match': '*' }
    const others = Array.from({ length: 50 }, (_, index) => system.api.instance.inject(put(`/v1/jobs/j${index}`, atNoon, none)))
    await allRead.promise
    await new Promise(setImmediate)
    opened.resolve()
    const answers = await Promise.all([first, ...others])
    expect(new Set(answers.map((answer) => answer.headers.etag)).size).toBe(51)
    for (const answer of answers) {
      const { id, offset } = answer.json()
      expect(system.log.written[offset]?.key).toBe(id)
    }
  })

  it('returns the error code of a write that the broker refused', async () => {
    await using system = createSystem()
    system.log.hold = () => Promise.reject(new Error('secret detail'))
    const answer = await system.api.instance.inject(put('/v1/jobs/a', atNoon))
    expect(answer.json()).toMatchObject({ status: 500, code: 'internal' })
    expect(answer.body).not.toContain('secret')
  })
})

describe('If-Match against writers that this process does not know', () => {
  const between = async (change: (system: ReturnType<typeof createSystem>) => unknown, call: object) => {
    const system = createSystem({ partitions: 1 })
    await system.api.instance.inject(put('/v1/jobs/a', atNoon))
    system.log.hold = async () => {
      system.log.hold = () => {}
      await change(system)
    }
    const answer = await system.api.instance.inject({ url: '/v1/jobs/a', headers: { 'if-match': '"0.0"' }, ...call })
    return { system, answer }
  }
  const calls = [{ method: 'PUT', payload: atNoon }, { method: 'DELETE' }]

  it.each(calls)('is checked by the owner, which drops late writes: %j', async (call) => {
    const { system, answer } = await between(({ log }) => log.write([{ ...(log.written[0] as RecordOut) }]), call)
    expect(answer.json()).toMatchObject({ status: 412, code: 'version-conflict' })
    expect(system.owner.jobs.get('a')?.offset).toBe(1)
  })

  it('does not define a job again that another writer has deleted meanwhile', async () => {
    const { system, answer } = await between(({ owner }) => owner.jobs.delete('a'), calls[0] ?? {})
    expect(answer.statusCode).toBe(412)
    expect(system.owner.jobs.has('a')).toBe(false)
  })

  it.each(calls)('says so if the check by the owner was not confirmed: %j', async (call) => {
    const { answer } = await between(({ owner }) => {
      owner.applies = false
    }, call)
    expect(answer.json()).toMatchObject({ code: 'wait-timeout', applied: false })
    expect(answer.statusCode).toBe(202)
  })
})

describe('POST /v1/jobs with an Idempotency-Key', () => {
  const post = (system: MemorySystem, key: string, payload: object = atNoon) =>
    system.api.instance.inject({ method: 'POST', url: '/v1/jobs', payload, headers: { 'idempotency-key': key } })

  it('makes one job of a repeated request, and answers with that job', async () => {
    await using system = createSystem()
    const [first, again] = [await post(system, 'k'), await post(system, 'k')]
    expect([first.statusCode, again.statusCode]).toEqual([201, 200])
    expect(again.json()).toMatchObject({ id: first.json().id, etag: first.json().etag })
    expect(again.headers.location).toBe(first.headers.location)
    expect([system.log.written.length, system.owner.jobs.size]).toEqual([1, 1])
    expect(first.json().id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('makes one job also if two processes write at the same time: the owner takes the first', async () => {
    await using system = createSystem({ partitions: 1 })
    system.log.hold = async () => {
      system.log.hold = () => {}
      // The same request through another process, shortly before.
      const [record] = (await firstWrite(system, 'k')) as [RecordOut]
      await system.log.write([record])
    }
    const answer = await post(system, 'k')
    expect([answer.statusCode, answer.json().etag]).toEqual([200, '"0.0"'])
    expect(system.owner.jobs.get(answer.json().id)?.offset).toBe(0)
  })

  it('distinguishes other keys, other definitions and other callers', async () => {
    const apiTokens = ['ann', 'bob'].map((name) => ({ role: 'operator' as const, token: name.repeat(12), name }))
    await using system = createSystem({ apiTokens })
    const ids = new Set<string>()
    for (const [token, key, payload] of [
      ['ann', 'k', atNoon],
      ['bob', 'k', atNoon],
      ['ann', 'l', atNoon],
      ['ann', 'k', { ...atNoon, priority: 'HIGH' }],
    ] as const) {
      const headers = { 'idempotency-key': key, authorization: `Bearer ${token.repeat(12)}` }
      const answer = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs', payload, headers })
      expect(answer.statusCode).toBe(201)
      ids.add(answer.json().id)
    }
    expect(ids.size).toBe(4)
    expect((await post(createSystem(), '')).statusCode).toBe(400)
  })
})

/** The record that a process writes for the request, when no definition exists yet. */
async function firstWrite(system: MemorySystem, key: string): Promise<RecordOut[]> {
  await using other = createSystem({ partitions: system.partitions })
  const headers = { 'idempotency-key': key }
  await other.api.instance.inject({ method: 'POST', url: '/v1/jobs', payload: atNoon, headers })
  return other.log.written
}

describe('other routes of a job', () => {
  it('makes an id for POST /v1/jobs', async () => {
    await using system = createSystem()
    const answer = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs?wait=applied', payload: atNoon })
    expect(answer.statusCode).toBe(201)
    expect(answer.headers.location).toBe(`/v1/jobs/${answer.json().id}`)
    expect((await system.api.instance.inject(String(answer.headers.location))).statusCode).toBe(200)
    const named = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs', payload: { ...atNoon, id: 'mine' } })
    expect(named.json()).toMatchObject({ status: 400, problems: [{ field: 'id' }] })
  })

  it('shows no next time that a pause has let pass', async () => {
    await using system = createSystem()
    const times = { nextFireAt: Date.UTC(2001, 0, 1), nextDueAt: null }
    system.add('paused', { ...times, status: 'PAUSED' })
    system.add('late', { ...times, status: 'ACTIVE' })
    const next = async (id: string) => (await system.api.instance.inject(`/v1/jobs/${id}`)).json().nextFireAt
    expect([await next('paused'), await next('late')]).toEqual([null, '2001-01-01T00:00:00.000Z'])
  })

  it('shows definition and state with times in ISO 8601', async () => {
    await using system = createSystem()
    system.add('a', {
      nextFireAt: Date.UTC(2031, 0, 1, 12),
      nextDueAt: Date.UTC(2031, 0, 1, 12, 0, 3),
      status: 'PAUSED',
      runNo: 7,
    })
    const answer = await system.api.instance.inject('/v1/jobs/a')
    expect(answer.headers.etag).toBe(`"${partitionOf('a', 4)}.0"`)
    expect(answer.json()).toMatchObject({
      id: 'a',
      status: 'PAUSED',
      runNo: 7,
      nextFireAt: '2031-01-01T12:00:00.000Z',
      nextDueAt: '2031-01-01T12:00:03.000Z',
      lastRun: null,
    })
    expect(answer.json().definition.schedule.at).toBe('2031-01-01T12:00:00.000Z')
  })

  it('shows a job whose bytes could not be read', async () => {
    await using system = createSystem()
    system.add('a', { definition: undefined, status: 'INVALID', reason: 'not Avro' })
    expect((await system.api.instance.inject('/v1/jobs/a')).json()).toMatchObject({
      status: 'INVALID',
      reason: 'not Avro',
      definition: null,
    })
  })

  it('answers 404 for a job that is not there', async () => {
    await using system = createSystem()
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await system.api.instance.inject({ method, url: '/v1/jobs/none' })
      expect(answer.json()).toMatchObject({ status: 404, code: 'not-found' })
    }
    expect(system.log.written).toEqual([])
  })

  it('writes a tombstone to the partition of the job', async () => {
    await using system = createSystem()
    system.add('a')
    const answer = await system.api.instance.inject({ method: 'DELETE', url: '/v1/jobs/a' })
    expect(answer.statusCode).toBe(204)
    expect(answer.body).toBe('')
    expect(system.log.written).toEqual([{ topic: names.jobs, partition: partitionOf('a', 4), key: 'a', value: null }])
  })
})
