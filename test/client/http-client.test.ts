/** The client over HTTP, against the real API with a log and an owner in memory. */
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import type { Client, KafkaClient } from '../../src/clients/client/client.ts'
import { RunFailedError } from '../../src/clients/client/run-promise.ts'
import { createClient } from '../../src/clients/library/create-client.ts'
import type { JobInfo, ResultsOf, Run, RunInfo } from '../../src/clients/library/index.ts'
import { systemClock } from '../../src/ground/clock/clock.ts'
import type { DuelogError } from '../../src/ground/errors/errors.ts'
import { atNoon, createSystem, execution, finishedRun, type MemorySystem, names } from '../api/system-in-memory.ts'

const opened: { close(): Promise<void> }[] = []

async function connected(options: Parameters<typeof createSystem>[0] = {}, token?: string) {
  const system = createSystem({ partitions: 1, ...options })
  const url = await system.api.listen('127.0.0.1', 0)
  const client = createClient({ url: `${url}/`, ...(token !== undefined && { token }) })
  opened.push({ close: () => system.api.stop() }, client)
  return { system, client, url }
}

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})

const job = (id: string, more: object = {}) => ({ id, ...atNoon, ...more })
const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}
const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as DuelogError,
  )

describe('jobs', () => {
  it('are scheduled, read, listed, explained and deleted', async () => {
    const { client, system } = await connected()
    expect(await client.schedule(job('a/1 ✓', { payload: { to: 'x' }, tags: ['eu'] }))).toEqual({
      ...{ id: 'a/1 ✓', etag: '"0.0"', partition: 0, offset: 0, applied: false, warnings: [] },
    })
    expect(await client.schedule(job('b'), { wait: 'applied' })).toMatchObject({ applied: true, status: 'ACTIVE' })
    expect(await client.get('a/1 ✓')).toMatchObject({ id: 'a/1 ✓', status: 'ACTIVE', definition: { payload: { to: 'x' } } })
    expect(await client.get('none')).toBeUndefined()
    expect((await all(client.list({ tag: 'eu' }))).map(({ id }) => id)).toEqual(['a/1 ✓'])
    expect((await all(client.list())).map(({ id }) => id)).toEqual(['a/1 ✓', 'b'])
    system.owner.reasons.set('b', [{ code: 'paused', text: 'It is paused.', at: null }])
    expect((await client.why('b')).why).toEqual([{ code: 'paused', text: 'It is paused.', at: null }])
    await client.delete('b')
    expect(await client.get('b')).toBeUndefined()
    expect(await refusalOf(client.delete('b'))).toMatchObject({ code: 'not-found' })
  })

  it('are listed page by page', async () => {
    const { client, system } = await connected()
    const ids = Array.from({ length: 1_203 }, (_, index) => `job-${String(index).padStart(5, '0')}`)
    for (const id of ids) system.add(id)
    expect((await all(client.list())).map(({ id }) => id)).toEqual(ids)
  })

  it('are not asked for by an id or an option that no call has', async () => {
    const { client, system } = await connected()
    system.add('undefined')
    for (const id of [undefined, '', '..', '\ud800', 5] as never[]) {
      for (const name of ['get', 'runs', 'delete', 'why', 'pause', 'trigger'] as const)
        expect(await refusalOf(client[name](id))).toMatchObject({ code: 'bad-job-id' })
      expect(await refusalOf(client.run(id, 1))).toMatchObject({ code: 'bad-job-id' })
      expect(await refusalOf(client.awaitRun(id, { runNo: 1 }))).toMatchObject({ code: 'bad-job-id' })
    }
    for (const call of [
      () => client.schedule(job('a'), { ifabsent: true } as never),
      () => client.schedule(job('a'), { wait: 'ended' } as never),
      () => client.schedule(job('a'), null as never),
      () => client.scheduleMany([job('a')], { onRejected: 5 } as never),
      () => client.delete('undefined', { ifmatch: '"0.1"' } as never),
      () => client.delete('undefined', { ifMatch: 'ä' }),
      () => client.trigger('undefined', { payloads: 1 } as never),
      () => client.pause('undefined', { idempotencyKey: 'ä' }),
      () => client.awaitRun('undefined', {} as never),
      () => client.awaitRun('undefined', { runNo: 1 }, { timeout: 5 } as never),
      () => all(client.list({ tags: 'x' } as never)),
      () => all(client.logs('undefined', 1, { folow: true } as never)),
    ])
      expect(await refusalOf(Promise.resolve(call()))).toMatchObject({ code: 'bad-request' })
    expect([...system.owner.jobs.keys()]).toEqual(['undefined'])
  })

  it('are written only under a condition', async () => {
    const { client } = await connected()
    const { etag } = await client.schedule(job('a'), { ifAbsent: true })
    expect(await refusalOf(client.schedule(job('a'), { ifAbsent: true }))).toMatchObject({ code: 'version-conflict' })
    const next = await client.schedule(job('a'), { ifMatch: etag })
    expect(await refusalOf(client.schedule(job('a'), { ifMatch: etag }))).toMatchObject({ code: 'version-conflict' })
    expect(await refusalOf(client.delete('a', { ifMatch: etag }))).toMatchObject({ code: 'version-conflict' })
    await client.delete('a', { ifMatch: next.etag })
  })

  it('are written in bulk, and each invalid one is named', async () => {
    const { client, system } = await connected()
    const seen: number[] = []
    const jobs = function* () {
      for (let index = 0; index < 500; index++) yield job(`job-${index}`, index === 7 ? { priority: 'URGENT' } : {}) as never
    }
    const made = await client.scheduleMany(jobs(), { onRejected: ({ index }) => seen.push(index) })
    expect(made).toMatchObject({ accepted: 499, rejected: 1, rejections: [{ index: 7, id: 'job-7' }] })
    expect(made.rejections[0]?.error).toMatchObject({ code: 'bad-definition' })
    expect([seen, system.owner.jobs.size]).toEqual([[7], 499])
  })

  it('with a payload that JSON would change or cannot hold are refused here, in bulk each one alone', async () => {
    const { client, system } = await connected()
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const payloads: unknown[] = [{ sum: 1n }, { sum: Number.NaN }, cycle, [Number.POSITIVE_INFINITY], { text: '\ud800' }]
    for (const payload of payloads) {
      const refused = { code: 'bad-definition', message: expect.stringContaining('payload') }
      expect(await refusalOf(client.schedule(job('a', { payload })))).toMatchObject(refused)
      expect(await refusalOf(client.plan([job('a', { payload })]))).toMatchObject(refused)
      system.add('b')
      expect(await refusalOf(client.trigger('b', { payload }))).toMatchObject(refused)
    }
    const given = [job('c'), ...payloads.map((payload, index) => job(`bad-${index}`, { payload })), job('d', { payload: null })]
    const made = await client.scheduleMany(given)
    expect(made).toMatchObject({ accepted: 2, rejected: 5 })
    expect(made.rejections.map(({ index, id, error }) => [index, id, error.code])).toEqual(
      payloads.map((_, index) => [index + 1, `bad-${index}`, 'bad-definition']),
    )
    for (const { error } of made.rejections) expect(error.message).toContain('payload')
    expect(system.log.written.filter(({ topic }) => topic === names.jobs)).toHaveLength(2)
  })

  it('are refused with every problem, and a mistyped one never leaves the process', async () => {
    const { client } = await connected()
    expect(await refusalOf(client.schedule(job('a', { priority: 'URGENT', leaseMs: -1 }) as never))).toMatchObject({
      code: 'bad-definition',
      message: expect.stringMatching(/priority.*leaseMs|leaseMs.*priority/s),
    })
    expect(await refusalOf(client.schedule(atNoon as never))).toMatchObject({ code: 'bad-job-id' })
  })

  it('with a number or time that JSON would send as null are refused, and not taken without the field', async () => {
    const { client, system } = await connected()
    const [noTime, target] = [new Date(Number.NaN), { handler: 'noop' }]
    const wrong = [
      { id: 'a', schedule: { everyMs: 60_000, anchor: noTime }, target },
      { id: 'b', schedule: { everyMs: 60_000 }, startAt: noTime, target },
      { id: 'c', schedule: { everyMs: 60_000 }, jitterMs: Number.NaN, target },
    ]
    for (const [index, message] of ['schedule.anchor is an invalid Date', 'startAt is', 'jitterMs is NaN'].entries()) {
      const error = await refusalOf(client.schedule(wrong[index] as never))
      expect(error).toMatchObject({ code: 'bad-definition', message: expect.stringContaining(message) })
    }
    expect(await client.scheduleMany([...wrong, job('d')] as never)).toMatchObject({ accepted: 1, rejected: 3 })
    expect(system.log.written.filter(({ topic }) => topic === names.jobs)).toHaveLength(1)
  })
})

describe('commands and runs', () => {
  it('reach the routes of the API', async () => {
    const { client, system } = await connected()
    system.add('a')
    expect(await client.pause('a', { idempotencyKey: 'k' })).toMatchObject({ applied: true, commandId: 'pause:k' })
    expect(await client.resume('a')).toMatchObject({ applied: true })
    expect(await client.cancel('a')).toMatchObject({ applied: true })
    expect(await client.trigger('a', { payload: { to: 'y' } })).toMatchObject({ runId: 'a/1' })
    expect(await client.backfill('a', { from: 0, to: 1_000 })).toMatchObject({ applied: true })
    const commands = system.log.written.filter(({ topic }) => topic === names.commands)
    expect(commands).toHaveLength(5)
    expect(await client.run('a', 1)).toMatchObject({ runId: 'a/1', status: 'RUNNING' })
    expect(await client.run('a', 9)).toBeUndefined()
    expect((await client.runs('a')).map(({ runNo }) => runNo)).toEqual([1])
    expect((await all(client.activeRuns({ state: 'RUNNING' }))).map(({ runId }) => runId)).toEqual(['a/1'])
    expect(await client.cancelRun('a', 1)).toMatchObject({ applied: true })
    expect(await refusalOf(client.pause('none'))).toMatchObject({ code: 'not-found' })
  })

  it('of dead letters list, show and redrive', async () => {
    const { client, system } = await connected()
    system.add('a', { deadRuns: [1] })
    system.owner.finished.set('a', [{ ...finishedRun(1), status: 'DEAD' }])
    system.owner.executions.set('a/1', execution('a', 1))
    expect((await all(client.deadLetters({ handler: 'noop' }))).map(({ runId }) => runId)).toEqual(['a/1'])
    expect(await client.deadLetter('a', 1)).toMatchObject({ run: { runId: 'a/1' }, execution: { attempt: 2 } })
    expect(await client.deadLetter('a', 2)).toBeUndefined()
    expect(await client.redrive('a', 1)).toMatchObject({ applied: true })
  })

  it('preview, plan, forecast and the state of the system have the types of the API', async () => {
    const { client, system } = await connected()
    system.add('a')
    const fires = await client.preview({ cron: '0 9 * * *', timezone: 'Europe/Paris' }, { from: 0, count: 2 })
    expect(fires.map(({ at }) => at)).toEqual(['1970-01-01T08:00:00.000Z', '1970-01-02T08:00:00.000Z'])
    expect((await client.plan([job('b')])).totals).toMatchObject({ create: 1 })
    expect(await client.forecast({ from: '2030-01-01T00:00:00Z', horizonMs: 60_000, buckets: 2 })).toMatchObject({
      bucketMs: 30_000,
    })
    const due = { jobs: [{ id: 'a', at: 1_893_456_000_000, count: 3 }], found: 1, complete: true }
    system.owner.dueList = due
    expect((await client.dueJobs({ from: '2030-01-01T00:00:00Z', horizonMs: 60_000, limit: 3 })).jobs[0]).toEqual({
      ...{ id: 'a', at: '2030-01-01T00:00:00.000Z', count: 3 },
    })
    expect(await client.workers()).toMatchObject([{ instance: 'w@h:1:b' }])
    expect(await client.partitions()).toMatchObject([{ partition: 0, phase: 'active' }])
    expect(await client.proof()).toMatchObject({ partitions: 1 })
    await client.pause('a')
    expect((await all(client.audit({ jobId: 'a' }))).map(({ action }) => action)).toEqual(['PAUSE'])
    expectTypeOf(client).toEqualTypeOf<Client>()
    expectTypeOf(client.get('a')).resolves.toEqualTypeOf<JobInfo | undefined>()
  })
})

describe('the end of a run', () => {
  const ended = (more: object = {}) => ({ run: { ...finishedRun(1, { sent: 3 }), ...more }, reason: null })

  it('is the result of the handler', async () => {
    const { client, system } = await connected()
    const scheduled = client.schedule(job('a'))
    const result = scheduled.result<{ sent: number }>()
    expectTypeOf(result).resolves.toEqualTypeOf<{ sent: number }>()
    expect(await scheduled).toMatchObject({ id: 'a' })
    await waiting(system)
    system.owner.end('a', ended() as never)
    expect(await result).toEqual({ sent: 3 })
    expect(await client.trigger('a').result()).toEqual({ sent: 3 })
    expect(await client.awaitRun('a', { runNo: 1 })).toMatchObject({
      runId: 'a/1',
      status: 'SUCCEEDED',
    } satisfies Partial<RunInfo>)
    expect(system.owner.awaited.map(({ awaited }) => awaited)).toEqual([
      { specOffset: 0 },
      { commandId: expect.any(String) },
      { runNo: 1 },
    ])
  })

  it('of a call is the result of a job with an id of the server', async () => {
    const { url, system, client } = await connected()
    const typed = createClient<{ add: { a: number } }, ResultsOf<{ add: (run: Run<{ a: number }>) => Promise<number> }>>({ url })
    const target = { handler: 'add' } as const
    const scheduled = () => typed.schedule({ id: 'a', schedule: { delayMs: 1 }, target, payload: { a: 1 } }).result()
    expectTypeOf(scheduled).returns.resolves.toEqualTypeOf<number>()
    const called = typed.call('add', { a: 1 }, { idempotencyKey: 'k', tags: ['sums'], pool: 'math' })
    expectTypeOf(called.result()).resolves.toEqualTypeOf<number>()
    // @ts-expect-error: not the payload of the handler
    const wrong = () => typed.call('add', { b: 1 })
    expect(wrong).toBeTypeOf('function')
    const { id, etag } = await called
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect((await typed.call('add', { a: 1 }, { idempotencyKey: 'k', tags: ['sums'], pool: 'math' })).id).toBe(id)
    const others = await Promise.all([client.call('add', { a: 1 }), client.call('add', { a: 1 })])
    expect(new Set([id, ...others.map((other) => other.id)]).size).toBe(3)
    await waiting(system)
    system.owner.end(id, ended() as never)
    expect(await called.result()).toEqual({ sent: 3 })
    expect(system.owner.awaited.at(-1)).toMatchObject({ id, awaited: { specOffset: Number(etag.replace(/^"\d+\.|"$/g, '')) } })
    for (const [options, problem] of [
      [{ id: 'x' }, /call has no option "id"/],
      [{ idempotencyKey: '' }, /idempotencyKey of call/],
      [{ tag: 'x' }, /tag is not a known field/],
    ] as const)
      expect((await refusalOf(client.call('add', 1, options as never)))?.message).toMatch(problem)
    await typed.close()
  })

  it('that has no result rejects with the run and its last error, and run() gives it', async () => {
    const { client, system } = await connected()
    system.owner.end('a', ended({ status: 'DEAD', attempts: 5 }) as never)
    const error = (await refusalOf(client.schedule(job('a')).result())) as RunFailedError
    expect(error).toBeInstanceOf(RunFailedError)
    expect([error.code, error.message]).toEqual([
      'run-failed',
      'Run a/1 is dead after 5 attempts. The last error is Error: first',
    ])
    expect(error.run).toMatchObject({ status: 'DEAD' })
    expect(await client.schedule(job('a')).run()).toMatchObject({ status: 'DEAD' })
    system.owner.end('b', { run: null, reason: 'The job is INVALID: no topic.' })
    expect(await refusalOf(client.schedule(job('b')).run())).toMatchObject({
      code: 'run-failed',
      message: 'No run of job "b" will end: The job is INVALID: no topic.',
    })
  })

  it('whose result was left out rejects with the note of the run', async () => {
    const { client, system } = await connected()
    system.owner.end('a', ended({ status: 'SUCCEEDED', result: null, note: 'The result was left out: it is large.' }) as never)
    const error = (await refusalOf(client.schedule(job('a')).result())) as RunFailedError
    expect(error.message).toBe('Run a/1 succeeded without a result. The result was left out: it is large.')
    expect(error.run).toMatchObject({ status: 'SUCCEEDED' })
  })

  it('is waited for no longer than the caller says', async () => {
    const { client, system } = await connected()
    system.owner.neverEnds = true
    expect(await refusalOf(client.schedule(job('a')).result({ timeoutMs: 20 }))).toMatchObject({ code: 'wait-timeout' })
    expect(await refusalOf(client.schedule(job('a')).result({ timeoutMs: 0 }))).toMatchObject({ code: 'bad-request' })
    system.owner.neverEnds = false
    const gone = new AbortController()
    const aborted = refusalOf(client.schedule(job('a')).result({ signal: gone.signal }))
    await waiting(system)
    gone.abort(new Error('No longer needed.'))
    expect(await aborted).toMatchObject({ message: 'No longer needed.' })
    const closed = refusalOf(client.schedule(job('a')).result())
    await waiting(system)
    await client.close()
    expect(await closed).toMatchObject({ code: 'bad-request', message: expect.stringContaining('closed') })
    expect(await refusalOf(client.get('a'))).toMatchObject({ code: 'bad-request' })
  })

  it('is asked for again while no owner answers', async () => {
    const { client, system } = await connected({ clock: systemClock })
    system.add('a')
    system.owner.notReady.add(0)
    const result = client.awaitRun('a', { runNo: 1 })
    while (system.owner.refusedEnds < 2) await new Promise((resolve) => setImmediate(resolve))
    system.owner.notReady.clear()
    system.owner.end('a', ended() as never)
    expect(await result).toMatchObject({ runId: 'a/1' })
  })

  it('a refused write rejects every way to wait for it', async () => {
    const { client } = await connected()
    const scheduled = client.schedule(job('a', { priority: 'URGENT' }) as never)
    const refusals = await Promise.all([refusalOf(scheduled), refusalOf(scheduled.result()), refusalOf(scheduled.run())])
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'bad-definition' })
  })
})

describe('options', () => {
  it('send the token, and say what is wrong with it', async () => {
    const apiTokens = [{ token: 't'.repeat(40), role: 'operator' as const, name: 'ops' }]
    const { client, url } = await connected({ apiTokens }, 't'.repeat(40))
    await client.schedule(job('a'))
    const stranger = createClient({ url })
    opened.push(stranger)
    expect(await refusalOf(stranger.get('a'))).toMatchObject({ code: 'unauthorized' })
    const looks = [{ token: 'v'.repeat(40), role: 'viewer' as const }]
    const { client: viewer } = await connected({ apiTokens: looks }, 'v'.repeat(40))
    expect(await refusalOf(all(viewer.audit()))).toMatchObject({ code: 'forbidden' })
  })

  it.each([
    [{}, /needs url.*or brokers/],
    [{ url: 'localhost:8080' }, /url of createClient is "localhost:8080"; give an address such as/],
    [{ url: 5 }, /url of createClient is 5/],
    [{ url: 'http://u:secret@h:1' }, /put a token into the option token/],
    [{ url: 'http://h:1', tokn: 'x' }, /no option "tokn"; did you mean token/],
  ])('refuse %j', (options, message) => {
    const made = () => createClient(options as never)
    expect(made).toThrow(message)
    expect(made).not.toThrow(/secret/)
  })

  it('and names and numbers in them are checked before they become a path', async () => {
    const client = createClient({ url: 'http://127.0.0.1:1' })
    const calls: (() => Promise<unknown>)[] = [
      () => client.run('a', 0),
      () => client.run('a', undefined as never),
      () => client.cancelRun('a', 1.5),
      () => client.retryRun('a', '1' as never),
      () => client.retryRun('a', 1, { key: 'x' } as never),
      () => client.redrive('a', -1),
      () => client.deadLetter('a', 0),
      () => client.logs('a', 0)[Symbol.asyncIterator]().next(),
      () => client.operation(undefined as never),
      () => client.cancelOperation(''),
      () => client.pauseWorker(undefined as never),
      () => client.resumePool(7 as never),
    ]
    for (const call of calls) expect(await refusalOf(call())).toMatchObject({ code: 'bad-request' })
    expect(await refusalOf(client.retryRun('', 1))).toMatchObject({ code: 'bad-job-id' })
    await client.close()
  })

  it('decide what a client can do', async () => {
    const client = createClient({ brokers: '127.0.0.1:1', registryUrl: 'http://127.0.0.1:1' })
    expectTypeOf(client).toEqualTypeOf<KafkaClient>()
    expect(() => (client as unknown as Client).get('a')).toThrow(
      /client.get needs the HTTP API; give createClient the option url/,
    )
    const overHttp = createClient({ url: 'http://127.0.0.1:1' })
    expect(await refusalOf((async () => (overHttp as unknown as KafkaClient).records())())).toMatchObject({ code: 'bad-config' })
    expect(await refusalOf(overHttp.get('a'))).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('the option url of createClient'),
    })
  })
})

/** Until a request waits for the end of a run. */
async function waiting({ owner }: MemorySystem): Promise<void> {
  while (owner.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
}
