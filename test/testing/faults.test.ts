/** What a test can do to the processes of its system, and what the product then does. */
import { expect, it } from 'vitest'
import type { Run } from '../../src/clients/library/index.ts'
import { testSystem } from '../../src/testing/library.ts'

const soon = { delayMs: 1_000 }
const leaseMs = 30_000

/** A system whose handler sleeps for a minute, and the attempts that it began and ended. */
function sleepers(more: object = {}) {
  const began: string[] = []
  const ended: string[] = []
  const duelog = testSystem({
    ...more,
    handlers: ({ sleep }) => ({
      long: async ({ attempt, signal }: Run) => {
        began.push(`${attempt}`)
        signal.addEventListener('abort', () => ended.push(`${attempt} ${(signal.reason as Error).name}`))
        await sleep(60_000)
        ended.push(`${attempt}`)
        return attempt
      },
    }),
  })
  const retry = { maxAttempts: 3, backoff: { fixed: { delayMs: 5_000 } } }
  return { duelog, began, ended, job: { id: 'a', schedule: soon, target: { handler: 'long' }, leaseMs, retry } }
}

it('a crashed worker loses its lease, and another worker gets the next attempt', async () => {
  const { duelog, began, ended, job } = sleepers()
  await duelog.schedule(job)
  await duelog.advanceBy(11_000)
  const [first] = await duelog.workers()
  expect(first).toMatchObject({ name: 'worker', connected: true, pools: [{ pool: 'default' }], running: 1, runIds: ['a/1'] })
  await duelog.crashWorker()
  const replacement = (await duelog.workers()).find(({ instance }) => instance !== first?.instance)
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'RUNNING', worker: first?.instance })
  await duelog.advanceBy(leaseMs + 5_000 + 60_000)
  expect(await duelog.run('a', 1)).toMatchObject({
    status: 'SUCCEEDED',
    attempts: 2,
    result: 2,
    worker: replacement?.instance,
    errors: [{ attempt: 1, type: 'LeaseLost' }],
  })
  expect([began, ended]).toEqual([['1', '2'], ['2']])
})

it('runs that are due while no worker is there wait for one', async () => {
  const { duelog, began, job } = sleepers()
  await duelog.schedule(job)
  await duelog.crashWorker('worker', { restart: false })
  await duelog.advanceBy(3_600_000)
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'DISPATCHED', attempt: 1, attempts: 0 })
  expect(began).toEqual([])
  await expect(duelog.crashWorker()).rejects.toThrow('There is no worker; there are: none')
  const expires = duelog.schedule({ ...job, id: 'b', startDeadlineMs: 5_000 }).result({ timeoutMs: 60_000 })
  await expect(expires).rejects.toThrow('Run b/1 has expired: its handler never started.')
  await duelog.startWorker({ name: 'late' })
  await duelog.advanceBy(60_000)
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'SUCCEEDED', attempts: 1, worker: expect.stringMatching(/^late@/) })
})

it('a worker without its lease goes on beside the next attempt, and its report does not count', async () => {
  const { duelog, began, ended, job } = sleepers()
  await duelog.schedule(job)
  await expect(duelog.loseLease('a')).rejects.toMatchObject({ code: 'bad-request' })
  await duelog.advanceBy(1_000)
  await duelog.loseLease('a')
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'RUNNING', attempts: 2, errors: [{ type: 'LeaseLost' }] })
  expect(ended).not.toContain('1')
  await duelog.advanceBy(120_000)
  expect(began).toEqual(['1', '2'])
  expect(ended).toEqual(expect.arrayContaining(['1', '2']))
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'SUCCEEDED', attempts: 2, result: 2 })
})

it('a worker that stops lets its handlers finish, and gives back the others without counting an attempt', async () => {
  const { duelog, ended, job } = sleepers()
  await duelog.schedule(job)
  await duelog.advanceBy(1_000)
  const begin = duelog.now()
  await duelog.stopWorker()
  expect(duelog.now() - begin).toBeGreaterThanOrEqual(25_000)
  expect(ended).toEqual(['1 WorkerStopping'])
  expect(await duelog.workers()).toEqual([])
  await duelog.startWorker()
  await duelog.advanceBy(120_000)
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'SUCCEEDED', errors: [] })
})

it.each([1, 2, 3, 4, 5, 6])('a scheduler that crashes loses and repeats nothing, seed %i', async (seed) => {
  const { duelog, began, job } = sleepers({ seed })
  await duelog.schedule(job)
  await duelog.schedule({ id: 'often', schedule: { everyMs: 60_000 }, target: { handler: 'noop' } })
  for (let minute = 0; minute < 10; minute++) {
    await duelog.advanceBy(60_000)
    await duelog.crashScheduler({ storeLost: minute % 2 === 1 })
  }
  expect(began).toEqual(['1'])
  const runs = await duelog.runs('often')
  expect(runs.map(({ runNo, status }) => `${runNo} ${status}`)).toEqual(
    Array.from({ length: 10 }, (_, at) => `${10 - at} SUCCEEDED`),
  )
})

it('a cancelled run aborts the signal of its handler', async () => {
  const { duelog, ended, job } = sleepers()
  await duelog.schedule(job)
  await duelog.advanceBy(1_000)
  await duelog.cancelRun('a', 1)
  expect(ended).toEqual(['1 Cancelled'])
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'CANCELLED' })
})

it('redrives a dead run', async () => {
  let isBroken = true
  const duelog = testSystem({
    handlers: {
      mend: () => {
        if (isBroken) throw new Error('broken')
        return 'mended'
      },
    },
  })
  await duelog.schedule({ id: 'a', schedule: soon, target: { handler: 'mend' }, retry: { maxAttempts: 1 } })
  await duelog.advanceBy(1_000)
  expect(await duelog.get('a')).toMatchObject({ deadRuns: [1] })
  isBroken = false
  expect(await duelog.redrive('a', 1).result()).toBe('mended')
  expect((await duelog.runs('a')).map(({ trigger }) => trigger)).toEqual(['REDRIVE', 'SCHEDULE'])
})

it('a handler that crashes its own worker does so again and again, and time goes on', async () => {
  let began = 0
  const duelog = testSystem({
    stepsMax: 50_000,
    handlers: (system) => ({
      bomb: async () => {
        began++
        await system.crashWorker()
      },
    }),
  })
  await duelog.schedule({ id: 'a', schedule: soon, target: { handler: 'bomb' }, leaseMs })
  await duelog.advanceBy(20_000)
  expect(began).toBeGreaterThan(1)
  expect(began).toBeLessThanOrEqual(20)
  expect((await duelog.run('a', 1))?.finishedAt).toBeNull()
})

it('calls and waits outlive a scheduler that dies before it has answered', async () => {
  const { duelog, job } = sleepers()
  const scheduled = duelog.schedule(job)
  const result = scheduled.result({ timeoutMs: 3_600_000 })
  const late = scheduled.result({ timeoutMs: 30_000 }).catch((error: unknown) => error)
  await scheduled
  const [, , paused] = await Promise.all([
    duelog.crashScheduler({ storeLost: true }),
    duelog.crashScheduler(),
    duelog.pause('a'),
    duelog.why('a'),
  ])
  expect([paused.status, (await duelog.resume('a')).status]).toEqual(['PAUSED', 'ACTIVE'])
  expect(await late).toMatchObject({ code: 'wait-timeout' })
  expect(duelog.now()).toBe(Date.UTC(2027, 0, 1) + 30_000)
  expect(await result).toBe(1)
})

it('workers may be stopped, crashed and cut off at the same time', async () => {
  const { duelog, job } = sleepers()
  await duelog.schedule(job)
  await duelog.advanceBy(1_000)
  await Promise.all([duelog.loseLease('a'), duelog.stopWorker(), duelog.crashWorker()])
  expect(await duelog.workers()).toHaveLength(1)
  await Promise.all([duelog.crashWorker(), duelog.crashWorker()])
  expect(await duelog.workers()).toHaveLength(1)
  await duelog.schedule({ ...job, id: 'b' })
  await duelog.advanceBy(1_000)
  await Promise.all([duelog.loseLease('b'), duelog.delete('b')])
})

it('a handler may stop its own worker, but not lose its own lease', async () => {
  const duelog = testSystem({
    handlers: (system) => ({
      stops: async ({ attempt }: Run) => {
        if (attempt > 1) return 'by the next worker'
        await expect(system.loseLease('a')).rejects.toThrow('A handler cannot lose its own lease')
        await system.stopWorker()
        await system.startWorker()
        return 'too late'
      },
    }),
  })
  const result = duelog.schedule({ id: 'a', schedule: soon, target: { handler: 'stops' } }).result({ timeoutMs: 3_600_000 })
  expect(await result).toBe('by the next worker')
})
