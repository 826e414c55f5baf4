/** Requests that wait for the end of a run, and writes of jobs that must not exist yet. */
import { request as httpRequest } from 'node:http'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/ground/clock/clock.ts'
import { runWaitMsMax, runWaitsPerCallerMax } from '../../src/server/api/schemas/limits.ts'
import { onlyNewHeader } from '../../streams/state/condition.ts'
import { atNoon, createSystem, finishedRun } from './system-in-memory.ts'

const ended = (result: unknown = null) => ({ run: finishedRun(1, result), reason: null })
const put = (url: string, payload: object = atNoon, headers: Record<string, string> = {}) => ({
  ...{ method: 'PUT' as const, url, payload, headers },
})

it('PUT with wait=ended answers with the run of the definition that it wrote', async () => {
  await using system = createSystem({ partitions: 1 })
  const answer = system.api.instance.inject(put('/v1/jobs/a?wait=ended&timeoutMs=700'))
  await until(() => system.owner.awaited.length === 1)
  expect(system.owner.awaited).toEqual([{ id: 'a', awaited: { specOffset: 0 }, timeoutMs: 700 }])
  system.owner.end('a', ended({ sent: 3 }))
  expect((await answer).statusCode).toBe(200)
  expect((await answer).json()).toMatchObject({
    ...{ id: 'a', etag: '"0.0"', applied: true },
    run: { runId: 'a/1', status: 'SUCCEEDED', result: { sent: 3 } },
  })
})

it('POST with wait=ended does the same for the id that the server made', async () => {
  await using system = createSystem({ partitions: 1 })
  const answer = system.api.instance.inject({ method: 'POST', url: '/v1/jobs?wait=ended', payload: atNoon })
  await until(() => system.owner.awaited.length === 1)
  const { id } = system.owner.awaited[0] ?? { id: '' }
  system.owner.end(id, ended())
  expect((await answer).json()).toMatchObject({ id, run: { runId: `${id}/1` } })
})

it('a run that cannot come is answered with the reason, and one that takes too long with 202', async () => {
  await using system = createSystem({ partitions: 1, clock: systemClock })
  system.owner.end('none', { run: null, reason: 'The job is INVALID: no topic.' })
  const none = await system.api.instance.inject(put('/v1/jobs/none?wait=ended'))
  expect([none.statusCode, none.json()]).toMatchObject([200, { run: null, reason: 'The job is INVALID: no topic.' }])
  system.owner.neverEnds = true
  const late = await system.api.instance.inject(put('/v1/jobs/late?wait=ended&timeoutMs=5'))
  expect(late.statusCode).toBe(202)
  expect(late.json()).toMatchObject({ id: 'late', code: 'wait-timeout', detail: expect.stringContaining('5 ms') })
})

it('a trigger with wait=ended answers with the run that it made', async () => {
  await using system = createSystem({ partitions: 1 })
  system.add('a')
  system.owner.end('a', ended('done'))
  const made = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a/trigger?wait=ended' })
  expect(made.statusCode).toBe(200)
  expect(made.json()).toMatchObject({ runId: 'a/1', run: { runId: 'a/1', result: 'done' } })
})

it('GET result waits for a run by its number, by its command and by the version of the definition', async () => {
  await using system = createSystem({ partitions: 1 })
  system.add('a')
  system.owner.end('a', ended(7))
  for (const [query, awaited] of [
    ['runNo=1', { runNo: 1 }],
    ['commandId=trigger%3Ax', { commandId: 'trigger:x' }],
    ['etag=%220.12%22', { specOffset: 12 }],
    ['etag=0.12', { specOffset: 12 }],
  ] as const) {
    const answer = await system.api.instance.inject(`/v1/jobs/a/result?${query}`)
    expect(answer.json()).toMatchObject({ ended: true, run: { result: 7 }, reason: null })
    expect(system.owner.awaited.at(-1)).toEqual({ id: 'a', awaited, timeoutMs: 30_000 })
  }
})

it.each([
  ['', 'exactly one'],
  ['?runNo=1&etag=0.1', 'exactly one'],
  ['?etag=1.12', 'not of this job'],
  ['?etag=x', 'etag'],
  ['?runNo=0', 'runNo'],
  [`?runNo=1&timeoutMs=${runWaitMsMax + 1}`, 'timeoutMs'],
])('refuses the query %s', async (query, part) => {
  await using system = createSystem({ partitions: 1 })
  system.add('a')
  const answer = await system.api.instance.inject(`/v1/jobs/a/result${query}`)
  expect([answer.statusCode, answer.json().code]).toEqual([400, 'bad-request'])
  expect(JSON.stringify(answer.json())).toContain(part)
})

it('a viewer sees the run without the values that are hidden from viewers', async () => {
  const apiTokens = [{ token: 'v'.repeat(40), role: 'viewer' as const, name: 'v' }]
  await using system = createSystem({ partitions: 1, apiTokens })
  const job = system.add('a')
  if (job.definition !== undefined) job.definition.headers = { authorization: Buffer.from('Bearer hunter2hunter2') }
  const run = { ...finishedRun(1, 'Bearer hunter2hunter2'), hiddenHash: 99 }
  system.owner.end('a', { run, reason: null })
  const headers = { authorization: `Bearer ${'v'.repeat(40)}` }
  const shown = await system.api.instance.inject({ url: '/v1/jobs/a/result?runNo=1', headers })
  expect(shown.statusCode).toBe(200)
  expect(shown.body).not.toContain('hunter2')
})

it('asks the next owner while a partition moves, and gives up when the time is over', async () => {
  await using system = createSystem({ partitions: 1, clock: systemClock })
  system.add('a')
  system.owner.notReady.add(0)
  const answer = system.api.instance.inject('/v1/jobs/a/result?runNo=1')
  await until(() => system.owner.refusedEnds >= 2)
  system.owner.notReady.clear()
  system.owner.end('a', ended('moved'))
  expect((await answer).json()).toMatchObject({ ended: true, run: { result: 'moved' } })
  system.owner.notReady.add(0)
  const none = await system.api.instance.inject('/v1/jobs/a/result?runNo=1&timeoutMs=10')
  expect(none.json()).toMatchObject({ code: 'not-ready', retriable: true })
})

it('a caller that hangs up waits no longer, and more waits than one caller may have are refused', async () => {
  await using system = createSystem({ partitions: 1 })
  system.add('a')
  const url = await system.api.listen('127.0.0.1', 0)
  const gone = httpRequest(`${url}/v1/jobs/a/result?runNo=1`).on('error', () => undefined)
  gone.end()
  await until(() => system.owner.awaited.length === 1)
  expect(system.owner.waiting).toBe(1)
  gone.destroy()
  await until(() => system.owner.waiting === 0)
  const waits = Array.from({ length: runWaitsPerCallerMax }, () => system.api.instance.inject('/v1/jobs/a/result?runNo=1'))
  await until(() => system.owner.waiting === runWaitsPerCallerMax)
  const refused = await system.api.instance.inject('/v1/jobs/a/result?runNo=1')
  expect([refused.statusCode, refused.json().code]).toEqual([503, 'overloaded'])
  system.owner.end('a', ended())
  for (const answer of await Promise.all(waits)) expect(answer.statusCode).toBe(200)
})

it('a process that stops ends its waits', async () => {
  const system = createSystem({ partitions: 1 })
  system.add('a')
  const url = await system.api.listen('127.0.0.1', 0)
  const answer = fetch(`${url}/v1/jobs/a/result?runNo=1`)
  await until(() => system.owner.waiting === 1)
  const stopped = system.api.stop()
  expect(await (await answer).json()).toEqual({ ended: false, run: null, reason: null })
  await stopped
})

it('If-None-Match: * writes a job only if it does not exist', async () => {
  await using system = createSystem({ partitions: 1 })
  const none = { 'if-none-match': '*' }
  const first = await system.api.instance.inject(put('/v1/jobs/a', atNoon, none))
  expect(first.statusCode).toBe(201)
  expect(system.log.written.at(-1)?.headers).toMatchObject({ [onlyNewHeader]: expect.anything() })
  const second = await system.api.instance.inject(put('/v1/jobs/a', atNoon, none))
  expect([second.statusCode, second.json().code]).toEqual([412, 'version-conflict'])
  expect(second.json().detail).toContain('exists already')
  expect(system.log.written).toHaveLength(1)
})

it('of two that create a job at once, the one whose record the owner drops is answered with 412', async () => {
  await using system = createSystem({ partitions: 1 })
  // The other process writes between the look and our record.
  system.log.hold = () => {
    system.log.hold = () => {}
    system.add('a', { offset: -1 })
  }
  const answer = await system.api.instance.inject(put('/v1/jobs/a', atNoon, { 'if-none-match': '*' }))
  expect([answer.statusCode, answer.json().code]).toEqual([412, 'version-conflict'])
})

it.each([{ 'if-none-match': '"0.1"' }, { 'if-none-match': '*', 'if-match': '*' }])('refuses %j', async (headers) => {
  await using system = createSystem({ partitions: 1 })
  const answer = await system.api.instance.inject(put('/v1/jobs/a', atNoon, headers as unknown as Record<string, string>))
  expect([answer.statusCode, answer.json().code]).toEqual([400, 'bad-request'])
  expect(system.log.written).toEqual([])
})

it('warns of a limit that jobs of other partitions do not share, unless the id has a tag', async () => {
  await using system = createSystem({ partitions: 4 })
  const limited = { ...atNoon, concurrencyKey: 'crm', rateLimit: { key: 'mail', limit: 5, perMs: 1_000 } }
  const warned = await system.api.instance.inject(put('/v1/jobs/a', limited))
  expect(warned.json().warnings).toEqual([expect.stringContaining('"crm"'), expect.stringContaining('"mail"')])
  expect((await system.api.instance.inject(put('/v1/jobs/%7Bcrm%7Da', limited))).json().warnings).toBeUndefined()
  await using single = createSystem({ partitions: 1 })
  expect((await single.api.instance.inject(put('/v1/jobs/a', limited))).json().warnings).toBeUndefined()
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}
