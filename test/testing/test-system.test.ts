/** What users of duelog/testing are promised: the product's behavior, in virtual time. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { DuelogError, NonRetryableError, RetryLaterError, type Run, withSchema } from '../../src/clients/library/index.ts'
import { testSystem } from '../../src/testing/library.ts'
import { gathered } from '../tools/gathered.ts'

const nightly = { cron: '30 2 * * *', timezone: 'Europe/Paris' }
const hourMs = 3_600_000

it('fires a schedule at its local time, and on the day without it at the next valid one', async () => {
  const starts: string[] = []
  const duelog = testSystem({
    now: '2027-03-26T12:00:00Z',
    handlers: { report: (run: Run) => void starts.push(new Date(run.scheduledFor).toISOString()) },
  })
  await duelog.schedule({ id: 'nightly', schedule: nightly, target: { handler: 'report' } })
  await duelog.advanceTo('2027-03-28T02:59:59+02:00')
  expect(starts).toEqual(['2027-03-27T01:30:00.000Z'])
  await duelog.advanceTo('2027-03-28T03:00+02:00')
  expect(starts).toEqual(['2027-03-27T01:30:00.000Z', '2027-03-28T01:00:00.000Z'])
  await duelog.advanceTo('2027-03-29T02:30+02:00')
  expect(starts).toHaveLength(3)
  expect(await duelog.get('nightly')).toMatchObject({ succeeded: 3, nextFireAt: '2027-03-30T00:30:00.000Z' })
})

it('takes times without an offset in its zone, and refuses those that the zone skips or repeats', async () => {
  const duelog = testSystem({ handlers: {}, zone: 'Europe/Paris', now: '2027-03-27T09:00' })
  expect(duelog.now()).toBe(Date.UTC(2027, 2, 27, 8))
  await duelog.advanceTo('2027-03-28T03:00')
  expect(duelog.now()).toBe(Date.UTC(2027, 2, 28, 1))
  await expect(duelog.advanceTo('2028-03-26T02:30')).rejects.toThrow('the clocks of Europe/Paris skip that time')
  await expect(duelog.advanceTo('2027-10-31T02:30')).rejects.toThrow('the clocks of Europe/Paris show that time twice')
  await expect(duelog.advanceTo('2027-03-28T02:59:59+02:00')).rejects.toThrow('virtual time only goes on')
  await expect(testSystem({ handlers: {} }).advanceTo('2027-02-01T02:30')).rejects.toThrow('has no offset')
})

it('shows attempts, errors and the result of runs, after retries with the backoff of the job', async () => {
  const duelog = testSystem({
    handlers: {
      flaky: ({ attempt, payload }: Run) => {
        if (attempt === 1) throw new TypeError('not yet')
        if (attempt === 2) throw new RetryLaterError(90_000)
        return { attempt, payload }
      },
    },
  })
  const retry = { maxAttempts: 3, backoff: { fixed: { delayMs: 20_000 } } }
  await duelog.schedule({ id: 'a', schedule: { delayMs: 1_000 }, target: { handler: 'flaky' }, payload: { n: 1 }, retry })
  await duelog.advanceBy(1_000)
  expect(await duelog.runs('a')).toMatchObject([{ runNo: 1, status: 'RETRY_WAIT', errors: [{ attempt: 1 }] }])
  await duelog.advanceBy(109_999)
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'RETRY_WAIT', dueAt: '2027-01-01T00:01:51.000Z' })
  await duelog.advanceBy(1)
  expect(await duelog.run('a', 1)).toMatchObject({
    status: 'SUCCEEDED',
    attempts: 3,
    scheduledFor: '2027-01-01T00:00:01.000Z',
    finishedAt: '2027-01-01T00:01:51.000Z',
    result: { attempt: 3, payload: { n: 1 } },
    errors: [
      { attempt: 1, type: 'TypeError', message: 'not yet', at: '2027-01-01T00:00:01.000Z' },
      { attempt: 2, type: 'RetryLaterError', at: '2027-01-01T00:00:21.000Z' },
    ],
  })
  expect(await duelog.run('a', 2)).toBeUndefined()
})

it('keeps all ended runs of a job in its history', async () => {
  const duelog = testSystem({ handlers: {} })
  await duelog.schedule({ id: 'often', schedule: { everyMs: 60_000 }, target: { handler: 'noop' } })
  await duelog.advanceBy(hourMs)
  const runs = await gathered(duelog.history({ jobId: 'often' }))
  expect(runs.map(({ runNo }) => runNo)).toEqual(Array.from({ length: 60 }, (_, at) => 60 - at))
  const to = duelog.now() + 1
  expect(await duelog.historyCounts({ to })).toMatchObject({ total: { SUCCEEDED: 60 } })
  await duelog.advanceBy(60_000)
  expect((await gathered(duelog.history({ handler: 'noop' })))[0]).toMatchObject({ jobId: 'often', runNo: 61 })
})

it('says why a job does not fire', async () => {
  const duelog = testSystem({ handlers: {} })
  await duelog.schedule({ id: 'a', schedule: { everyMs: hourMs }, target: { handler: 'noop' }, paused: true })
  await duelog.advanceBy(2 * hourMs)
  expect(await duelog.why('a')).toMatchObject({ status: 'PAUSED', why: [{ code: 'paused' }] })
  // As the API: a time that has passed is not the next one.
  expect(await duelog.get('a')).toMatchObject({ nextFireAt: null, nextDueAt: null })
  await expect(duelog.why('b')).rejects.toMatchObject({ code: 'not-found' })
  const elsewhere = { id: 'c', schedule: { delayMs: 1 }, target: { handler: 'noop', pool: 'elsewhere' } }
  const invalid = await duelog.schedule(elsewhere, { wait: 'applied' })
  expect(invalid).toMatchObject({ status: 'INVALID', reason: expect.stringContaining('elsewhere') })
})

it('lets a run wait whose handler no worker has', async () => {
  const duelog = testSystem({ handlers: { mail: () => 'sent' } })
  await duelog.schedule({ id: 'a', schedule: { delayMs: 1_000 }, target: { handler: 'mial' }, startDeadlineMs: 1_200_000 })
  await duelog.advanceBy(60_000)
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'WAITING', waitsFor: 'HANDLER', errors: [] })
  expect((await duelog.why('a')).why[0]).toMatchObject({ code: 'no-handler' })
  // Its checks, one a minute, log nothing: 100,000 such runs would be 1,700 states a second.
  const states = (await duelog.records('duelog.job-state')).length
  await duelog.advanceBy(600_000)
  expect(await duelog.records('duelog.job-state')).toHaveLength(states)
  await duelog.advanceBy(1_200_000)
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'EXPIRED' })
})

it('refuses what the client refuses', async () => {
  const duelog = testSystem({ handlers: {}, schemas: { mail: z.object({ to: z.string() }) } })
  const job = { id: 'a', schedule: { delayMs: 1 }, target: { handler: 'mail' }, payload: { to: 1 } }
  await expect(duelog.schedule(job)).rejects.toMatchObject({ code: 'bad-definition' })
  await expect(duelog.schedule({ ...job, schedule: { cron: 'never' } })).rejects.toMatchObject({ code: 'bad-definition' })
  await expect(duelog.runs('')).rejects.toMatchObject({ code: 'bad-job-id' })
  await duelog.schedule({ ...job, payload: { to: 'a' } })
  await expect(duelog.schedule({ ...job, payload: { to: 'b' } }, { ifAbsent: true })).rejects.toMatchObject({
    code: 'version-conflict',
  })
})

it('refuses nonsense from programs without a compiler in a sentence', async () => {
  const duelog = testSystem({ handlers: {}, partitions: 1 })
  const job = { id: 'a', schedule: { delayMs: hourMs }, target: { handler: 'noop' } }
  await duelog.schedule(job)
  for (const call of [
    () => duelog.runs(5 as never),
    () => gathered(duelog.logs(undefined as never, 1)),
    () => duelog.schedule(null as never),
    () => duelog.advanceBy('1' as never),
    () => duelog.advanceBy(0.5),
    () => duelog.advanceBy(Number.POSITIVE_INFINITY),
    () => duelog.advanceTo(1n as never),
    () => duelog.sleep(-1),
    () => duelog.sleep(1, null as never),
    () => duelog.sleep(1, { signal: 5 } as never),
    () => duelog.startWorker({ name: 5 as never }),
    () => duelog.startWorker('reports' as never),
    () => duelog.startWorker({ nmae: 'x' } as never),
    () => duelog.stopWorker(null as never),
    () => duelog.crashWorker('worker', null as never),
    () => duelog.crashWorker('worker', { restrat: false } as never),
    () => duelog.crashWorker('worker', { restart: 'no' } as never),
    () => duelog.loseLease(5 as never),
    () => duelog.crashScheduler({ lost: true } as never),
    () => duelog.crashScheduler({ storeLost: 1 } as never),
    () => duelog.records('' as never),
    () => gathered(duelog.logs('a', '1' as never)),
    () => duelog.run('a', Number.NaN),
    () => duelog.cancelRun('a', 0),
    () => duelog.redrive('a', 'x' as never),
    () => duelog.scheduleMany(null as never),
    () => duelog.schedule(job, { ifabsent: true } as never),
    () => duelog.schedule(job, null as never),
    () => duelog.scheduleMany([job], { onrejected: () => {} } as never),
    () => duelog.delete('a', { ifmatch: 'x' } as never),
    () => duelog.trigger('a', { payloads: 1 } as never),
    () => duelog.trigger('a', { payload: Number.NaN }),
    () => duelog.trigger('a', { idempotencyKey: 'ä' }),
    () => duelog.backfill('a', null as never),
    () =>
      duelog
        .list({ tags: 'x' } as never)
        [Symbol.asyncIterator]()
        .next(),
    () =>
      duelog
        .list({ tag: 5 } as never)
        [Symbol.asyncIterator]()
        .next(),
    () => duelog.awaitRun('a', null as never),
    () => duelog.awaitRun('a', { runNo: 1, commandId: 'x' }),
    () => duelog.awaitRun('a', { runNo: 0 }),
    () => duelog.awaitRun('a', { etag: 'x' }),
    () => duelog.awaitRun('a', { runNo: 1 }, { timeout: 5 } as never),
    () => duelog.awaitRun('a', { runNo: 1 }, { signal: {} } as never),
  ])
    await expect(call()).rejects.toBeInstanceOf(DuelogError)
  expect(() => testSystem(null as never)).toThrow(DuelogError)
  expect(() => testSystem({ handlers: {}, schemas: null as never })).toThrow(DuelogError)
})

it.each([
  [{ handler: {} }, 'did you mean handlers?'],
  [{ handlers: { a: 1 } }, 'handler "a" is neither a function'],
  [{ handlers: { log: () => 1 } }, 'handler "log" has the name of a built-in one'],
  [{ handlers: {}, zone: 'Paris' }, 'give an IANA name'],
  [{ handlers: {}, seed: 1.5 }, 'seed of testSystem is 1.5'],
  [{ handlers: {}, partitions: 65 }, 'a whole number from 1 to 64'],
  [{ handlers: {}, hooks: [{ befor: () => {} }] }, 'has no "befor"'],
  [{ handlers: {}, pools: [] }, 'pools of testSystem is empty'],
  [{ handlers: {}, now: 'tomorrow' }, 'now of testSystem is "tomorrow"'],
  [{ handlers: [] }, 'handlers of testSystem is missing'],
  [{ handlers: async () => ({}) }, 'handlers of testSystem is a promise'],
  [{ handlers: {}, pools: ['a', 'a'] }, 'names a pool twice'],
  [{ handlers: {}, pools: ['A b'] }, 'pools of testSystem has "A b"'],
  [{ handlers: {}, schemas: [] }, 'no object of schemas'],
  [{ handlers: {}, logger: console }, 'logger of testSystem has no method child'],
])('refuses the options %j', (options, message) => {
  expect(() => testSystem(options as never)).toThrow(message)
})

it('runs hooks, schemas and batches as a worker does', async () => {
  const told: string[] = []
  const batches: number[] = []
  const duelog = testSystem({
    hooks: [{ before: ({ jobId }) => void told.push(`before ${jobId}`), error: ({ jobId }) => void told.push(`error ${jobId}`) }],
    handlers: {
      greet: withSchema(z.object({ name: z.string() }), ({ payload }) => `hello ${payload.name}`),
      many: {
        batch: { maxSize: 10, maxWaitMs: 50 },
        run: (runs: readonly Run[]) => {
          batches.push(runs.length)
          return runs.map(({ jobId }) => (jobId === 'm2' ? { error: new NonRetryableError('not this one') } : { result: jobId }))
        },
      },
    },
  })
  const at = { delayMs: 1_000 }
  await duelog.schedule({ id: 'good', schedule: at, target: { handler: 'greet' }, payload: { name: 'Ada' } })
  await duelog.schedule({ id: 'odd', schedule: at, target: { handler: 'greet' }, payload: { name: 5 } })
  for (const id of ['m1', 'm2', 'm3']) await duelog.schedule({ id, schedule: at, target: { handler: 'many' } })
  await duelog.advanceBy(1_049)
  expect(batches).toEqual([])
  await duelog.advanceBy(1)
  expect(batches).toEqual([3])
  expect(await duelog.run('m2', 1)).toMatchObject({ status: 'DEAD', errors: [{ message: 'not this one' }] })
  expect(await duelog.run('m3', 1)).toMatchObject({ status: 'SUCCEEDED', result: 'm3' })
  expect(await duelog.run('good', 1)).toMatchObject({ status: 'SUCCEEDED', result: 'hello Ada' })
  expect(await duelog.run('odd', 1)).toMatchObject({ status: 'DEAD', errors: [{ type: 'PayloadInvalid' }] })
  expect(told.filter((line) => line.endsWith('odd'))).toEqual(['before odd', 'error odd'])
})

it('carries out commands, and refuses those that the owner refuses', async () => {
  const payloads: unknown[] = []
  const duelog = testSystem({ handlers: { note: ({ payload }: Run) => void payloads.push(payload) } })
  await duelog.schedule({ id: 'a', schedule: { everyMs: hourMs }, target: { handler: 'note' }, payload: 'own', catchUp: 'SKIP' })
  expect(await duelog.trigger('a', { payload: 'given' })).toMatchObject({ applied: true, runId: 'a/1' })
  expect(payloads).toEqual(['given'])
  expect(await duelog.pause('a')).toMatchObject({ status: 'PAUSED' })
  await duelog.advanceBy(2.5 * hourMs)
  expect(payloads).toEqual(['given'])
  await duelog.resume('a')
  await duelog.advanceBy(hourMs)
  expect(payloads).toEqual(['given', 'own'])
  await expect(duelog.redrive('a', 1)).rejects.toMatchObject({ code: 'command-refused' })
  await expect(duelog.trigger('b')).rejects.toMatchObject({ code: 'not-found' })
  await duelog.delete('a')
  expect(await duelog.get('a')).toBeUndefined()
  await duelog.advanceBy(3 * hourMs)
  expect(payloads).toHaveLength(2)
})

it('shows dead runs with their input, newest first, and redrives one or those of a filter', async () => {
  let isDown = true
  const send = ({ payload }: Run) => {
    if (isDown) throw new Error(`no mail to ${payload}`)
  }
  const duelog = testSystem({ handlers: { send, other: send }, now: 0 })
  const job = { schedule: { delayMs: 1_000 }, retry: { maxAttempts: 1 }, target: { handler: 'send' } }
  for (const id of ['a', 'b', 'c']) {
    await duelog.schedule({ ...job, id, payload: id, ...(id === 'c' && { target: { handler: 'other' } }) })
    await duelog.advanceBy(2_000)
  }
  const dead = async (filter?: { handler: string }) => {
    const found: string[] = []
    for await (const { runId } of duelog.deadLetters(filter)) found.push(runId)
    return found
  }
  expect(await dead()).toEqual(['c/1', 'b/1', 'a/1'])
  expect(await dead({ handler: 'send' })).toEqual(['b/1', 'a/1'])
  expect(await duelog.deadLetter('a', 1)).toMatchObject({
    run: { runId: 'a/1', status: 'DEAD', errors: [{ message: 'no mail to a', stack: expect.any(String) }] },
    execution: { payload: 'a', target: { handler: 'send' }, attempt: 1 },
  })
  expect(await duelog.deadLetter('a', 2)).toBeUndefined()
  isDown = false
  for (const id of ['b', 'c', 'a']) await duelog.redrive(id, 1)
  expect(await duelog.run('a', 2)).toMatchObject({ status: 'SUCCEEDED', trigger: 'REDRIVE' })
  expect(await dead()).toEqual([])
  await expect(dead({ handlers: 'x' } as never)).rejects.toMatchObject({ code: 'bad-request' })
})

it('waits for the result of a run in virtual time', async () => {
  const duelog = testSystem({
    handlers: (system) => ({
      slow: async () => {
        await system.sleep(20_000)
        return 'done'
      },
      outer: () => system.schedule({ id: 'inner', schedule: { delayMs: 5_000 }, target: { handler: 'slow' } }).result(),
    }),
  })
  const before = duelog.now()
  const job = { id: 'a', schedule: { delayMs: 10_000 }, target: { handler: 'outer' } }
  expect(await duelog.schedule(job).result()).toBe('done')
  expect(duelog.now() - before).toBe(35_000)
  await expect(duelog.schedule({ ...job, id: 'b' }).result({ timeoutMs: 9_999 })).rejects.toMatchObject({ code: 'wait-timeout' })
  await duelog.schedule({ ...job, id: 'c', target: { handler: 'fail' }, payload: { times: 9 }, retry: { maxAttempts: 1 } })
  await expect(duelog.awaitRun('c', { runNo: 1 })).rejects.toMatchObject({ code: 'run-failed' })
  await expect(duelog.trigger('c').result()).rejects.toThrow('Run c/1 is dead after 1 attempt.')
})

it('starts follow-ups, and keeps to overlap rules', async () => {
  const order: string[] = []
  const duelog = testSystem({
    handlers: {
      step: async ({ jobId }: Run) => {
        order.push(jobId)
        if (jobId === 'long') await duelog.sleep(150_000)
        if (jobId === 'broken') throw new NonRetryableError('broken')
      },
    },
  })
  const target = { handler: 'step' }
  await duelog.schedule({ id: 'cleanup', schedule: { at: '2030-01-01T00:00:00Z' }, target })
  await duelog.schedule({ id: 'alarm', schedule: { at: '2030-01-01T00:00:00Z' }, target })
  await duelog.schedule({ id: 'first', schedule: { delayMs: 1_000 }, target, onSuccess: ['cleanup'], onFailure: ['alarm'] })
  await duelog.schedule({ id: 'broken', schedule: { delayMs: 2_000 }, target, onFailure: ['alarm'] })
  await duelog.advanceBy(2_000)
  expect(order).toEqual(['first', 'cleanup', 'broken', 'alarm'])
  await duelog.schedule({ id: 'long', schedule: { everyMs: 60_000 }, target, overlap: 'SKIP' })
  await duelog.advanceBy(300_000)
  expect(order.filter((id) => id === 'long')).toHaveLength(2)
  expect(await duelog.get('long')).toMatchObject({ skipped: 3 })
})

it('keeps a worker at work whose handler freezes its run or reports nonsense', async () => {
  const duelog = testSystem({
    handlers: {
      freeze: (run: Run) => void Object.freeze(run),
      beat: ({ heartbeat }: Run) => {
        const odd = {
          get progress(): number {
            throw new Error('unreadable')
          },
        }
        for (const progress of [null, 5, odd, { message: Object.create(null) }, { progress: 2, message: 7 }])
          heartbeat(progress as never)
      },
      after: () => 'done',
    },
  })
  for (const handler of ['freeze', 'beat', 'after'])
    await duelog.schedule({ id: handler, schedule: { delayMs: 1_000 }, target: { handler }, retry: { maxAttempts: 1 } })
  await duelog.advanceBy(2_000)
  for (const id of ['freeze', 'beat', 'after']) expect(await duelog.run(id, 1)).toMatchObject({ status: 'SUCCEEDED' })
})

it('waits for a run by its number, but not for one of a job that is not there', async () => {
  const duelog = testSystem({ handlers: ({ sleep }) => ({ mail: () => sleep(20_000).then(() => 'sent') }) })
  await duelog.schedule({ id: 'a', schedule: { delayMs: 5_000 }, target: { handler: 'mail' } })
  await duelog.advanceBy(5_000)
  expect(await duelog.awaitRun('a', { runNo: 1 })).toMatchObject({ runNo: 1, result: 'sent' })
  await expect(duelog.awaitRun('none', { runNo: 1 })).rejects.toMatchObject({ code: 'run-failed' })
})

it('calls a handler once, under an id of its own, and gives each caller the result of its own', async () => {
  const handlers = { double: async (run: Run<{ n: number }>) => run.payload.n * 2 }
  const duelog = testSystem({ handlers: handlers as never })
  const results = [1, 2, 3].map((n) => duelog.call('double', { n }).result())
  expect(await Promise.all(results)).toEqual([2, 4, 6])
  const once = await duelog.call('double', { n: 5 }, { idempotencyKey: 'k' })
  expect((await duelog.call('double', { n: 5 }, { idempotencyKey: 'k' })).id).toBe(once.id)
  const replaced = ['a', 'b', 'c'].map((n) =>
    duelog
      .schedule({ id: 'same-id', schedule: { delayMs: 0 }, target: { handler: 'double' }, payload: { n: n.charCodeAt(0) } })
      .result()
      .catch(String),
  )
  for (const [index, result] of (await Promise.all(replaced)).entries()) {
    const own = (97 + index) * 2
    expect([own, expect.stringContaining('replaced by a later one')]).toContainEqual(result)
  }
  await duelog.close()
})
