/** How handlers and virtual time wait for each other: nothing hangs, and a seed repeats what happened. */
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, it, vi } from 'vitest'
import type { Run } from '../../src/clients/library/index.ts'
import { testSystem } from '../../src/testing/library.ts'

afterEach(() => void vi.useRealTimers())

const soon = { delayMs: 1_000 }

it('waits for handlers that work in real time, without virtual time passing', async () => {
  const duelog = testSystem({
    handlers: ({ now }) => ({
      real: async () => {
        await wait(20)
        return now()
      },
    }),
  })
  await duelog.schedule({ id: 'a', schedule: soon, target: { handler: 'real' } })
  const begin = duelog.now()
  await duelog.advanceBy(1_000)
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'SUCCEEDED', result: begin + 1_000 })
})

it('ends a handler that never returns by its attempt timeout, and says so', async () => {
  const warned = once(process, 'warning')
  const signals: AbortSignal[] = []
  const duelog = testSystem({
    handlerWaitMs: 50,
    handlers: {
      hang: ({ signal }: Run) => {
        signals.push(signal)
        return new Promise<void>(() => {})
      },
    },
  })
  const job = { attemptTimeoutMs: 30_000, retry: { maxAttempts: 2, backoff: { fixed: { delayMs: 1_000 } } } }
  await duelog.schedule({ id: 'a', schedule: soon, target: { handler: 'hang' }, ...job })
  await duelog.advanceBy(120_000)
  expect(await duelog.run('a', 1)).toMatchObject({
    status: 'DEAD',
    errors: [{ type: 'AttemptTimeout' }, { type: 'AttemptTimeout' }],
  })
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  expect((await warned)[0]).toMatchObject({ message: expect.stringContaining('has worked for 50 ms of real time') })
})

it('ends a handler that sleeps for ever by its attempt timeout, without any real wait', async () => {
  const duelog = testSystem({
    handlerWaitMs: 600_000,
    handlers: ({ sleep }) => ({ wait: ({ signal }: Run) => sleep(Number.POSITIVE_INFINITY, { signal }) }),
  })
  const job = { attemptTimeoutMs: 30_000, retry: { maxAttempts: 1 } }
  await duelog.schedule({ id: 'a', schedule: soon, target: { handler: 'wait' }, ...job })
  await duelog.advanceBy(60_000)
  expect(await duelog.run('a', 1)).toMatchObject({
    status: 'DEAD',
    errors: [{ type: 'AttemptTimeout', at: '2027-01-01T00:00:31.000Z' }],
  })
})

it('lets handlers use the system themselves, but not move time', async () => {
  const refusals: unknown[] = []
  const duelog = testSystem({
    handlers: (duelog) => ({
      plan: async () => {
        await duelog.advanceBy(1_000).catch((error: unknown) => refusals.push(error))
        await wait(5)
        await duelog.schedule({ id: 'later', schedule: { delayMs: 5_000 }, target: { handler: 'noop' } })
        return (await duelog.trigger('later')).runId
      },
    }),
  })
  await duelog.schedule({ id: 'a', schedule: soon, target: { handler: 'plan' } })
  await duelog.advanceBy(1_000)
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'SUCCEEDED', result: 'later/1' })
  expect(refusals).toMatchObject([{ code: 'bad-request', message: expect.stringContaining('cannot move virtual time') }])
  await duelog.advanceBy(5_000)
  expect(await duelog.runs('later')).toHaveLength(2)
})

it('works beside the fake timers of a test framework', async () => {
  vi.useFakeTimers()
  const duelog = testSystem({ handlers: { tick: () => Date.now() } })
  await duelog.schedule({ id: 'a', schedule: soon, target: { handler: 'tick' } })
  await duelog.advanceBy(1_000)
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'SUCCEEDED', result: Date.now() })
})

it('takes calls at the same time', async () => {
  const duelog = testSystem({ handlers: {} })
  const jobs = Array.from({ length: 20 }, (_, at) => ({ id: `j${at}`, schedule: soon, target: { handler: 'noop' } }))
  await Promise.all(jobs.map((job) => duelog.schedule(job)))
  const begin = duelog.now()
  await Promise.all([duelog.advanceBy(1_000), duelog.advanceTo(begin + 2_000), duelog.trigger('j0')])
  expect(duelog.now()).toBe(begin + 2_000)
  for (const { id } of jobs) expect((await duelog.runs(id)).at(0)).toMatchObject({ status: 'SUCCEEDED' })
})

it('takes other calls at their instant while a result is awaited', async () => {
  const duelog = testSystem({ handlers: { greet: () => 'hello' } })
  const began = duelog.now()
  const job = duelog.schedule({ id: 'a', schedule: { delayMs: 60_000 }, target: { handler: 'greet' } })
  const result = job.result({ timeoutMs: 3_600_000 })
  await job
  const instants: number[] = []
  for (const call of [
    () => duelog.advanceBy(5_000),
    () => duelog.pause('a'),
    () => duelog.advanceBy(100_000),
    () => duelog.resume('a'),
  ]) {
    await call()
    instants.push(duelog.now() - began)
  }
  expect(instants).toEqual([5_000, 5_000, 105_000, 105_000])
  expect([await result, duelog.now() - began]).toEqual(['hello', 105_000])
})

it('rejects a call that would never end', async () => {
  const duelog = testSystem({ handlers: {}, stepsMax: 2_000 })
  await duelog.schedule({ id: 'a', schedule: { everyMs: 1_000 }, target: { handler: 'noop' } })
  await expect(duelog.advanceBy(86_400_000)).rejects.toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('2000 steps'),
  })
  await duelog.delete('a')
  await duelog.advanceBy(86_400_000)
})

/** The order in which ten handlers start that are due at once. */
async function orderOf(seed: number): Promise<string> {
  const order: string[] = []
  const duelog = testSystem({
    seed,
    concurrency: 2,
    handlers: {
      race: async ({ jobId }: Run) => {
        order.push(jobId)
        await duelog.sleep(10)
      },
    },
  })
  for (let at = 0; at < 10; at++)
    await duelog.schedule({ id: `${at}`, schedule: { at: '2027-01-01T01:00:00Z' }, target: { handler: 'race' } })
  await duelog.advanceTo('2027-01-01T02:00:00Z')
  expect(order.toSorted()).toEqual(Array.from({ length: 10 }, (_, at) => `${at}`))
  return order.join()
}

it('repeats the order of a seed, and other seeds have other orders', async () => {
  const orders = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(orderOf))
  expect(await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(orderOf))).toEqual(orders)
  expect(new Set(orders).size).toBeGreaterThan(1)
})
