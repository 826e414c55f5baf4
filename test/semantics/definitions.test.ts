/** How definitions are replaced, are refused, expire and end. */
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { every, openDuelog } from './harness.ts'

const duelog = await openDuelog()
const far = { schedule: { at: Date.now() + 86_400_000 } }

test('a definition replaces the one before; only the newer fires', async () => {
  await duelog.put('changed', { ...far, payload: 'old' })
  await duelog.put('changed', { schedule: { delayMs: 200 }, payload: 'new' })
  const [call] = await duelog.called('changed')
  expect(call?.run.payload).toBe('new')
  expect(await duelog.executions('changed', 1)).toHaveLength(1)
})

test('version: an older definition that comes late changes nothing', async () => {
  await duelog.put('versioned', { ...far, payload: 'second', version: 2 })
  const answer = await duelog.ask('PUT', '/v1/jobs/versioned?wait=applied', {
    ...far,
    payload: 'first',
    version: 1,
    target: { handler: 'echo' },
  })
  expect(answer.status).toBeLessThan(500)
  expect(await duelog.job('versioned')).toMatchObject({ definition: { payload: 'second', version: 2 } })
  expect(await duelog.why('versioned')).toContainEqual(expect.objectContaining({ code: 'stale-version' }))
})

test('dedupKey: a second definition with the same key inside the window is acknowledged and dropped', async () => {
  await duelog.put('order', { ...far, payload: 1, dedupKey: 'click-7', dedupWindowMs: 60_000 })
  await duelog.put('order', { ...far, payload: 2, dedupKey: 'click-7', dedupWindowMs: 60_000 })
  expect(await duelog.job('order')).toMatchObject({ definition: { payload: 1 } })
  await duelog.put('order', { ...far, payload: 3, dedupKey: 'click-8', dedupWindowMs: 60_000 })
  expect(await duelog.job('order')).toMatchObject({ definition: { payload: 3 } })
})

test('expireAt: a run that has not started by then does not start', async () => {
  await duelog.put('stale', { schedule: { at: Date.now() - 60_000 }, expireAt: Date.now() - 1_000 })
  const job = await duelog.jobThat('stale', ({ status }) => status === 'COMPLETED')
  expect(job).toMatchObject({ skipped: 1, lastRun: null })
  expect(await duelog.why('stale')).toContainEqual(expect.objectContaining({ code: 'expired' }))
})

test('tags: jobs are listed by them', async () => {
  await duelog.put('tagged-1', { ...far, tags: ['reports', 'paris'] })
  await duelog.put('tagged-2', { ...far, tags: ['reports'] })
  expect((await duelog.list('tag=reports')).sort()).toEqual(['tagged-1', 'tagged-2'])
  expect(await duelog.list('tag=paris')).toEqual(['tagged-1'])
})

test('handler and status: rare jobs are found, also paused and invalid ones and those with dead runs', async () => {
  await duelog.put('by-handler', { ...far, target: { handler: 'rare' } })
  await duelog.put('resting', { ...far, paused: true })
  await duelog.put('dying', { schedule: { delayMs: 0 }, target: { handler: 'give-up' } })
  await duelog.jobThat('dying', ({ deadRuns }) => deadRuns.length === 1)
  expect(await duelog.list('handler=rare')).toEqual(['by-handler'])
  expect(await duelog.list('idContains=y-hand')).toEqual(['by-handler'])
  // Written after the first search has looked at all jobs.
  await duelog.put('by-handler-2', { ...far, target: { handler: 'rare' } })
  expect(await duelog.list('handler=rare')).toEqual(['by-handler', 'by-handler-2'])
  expect(await duelog.list('status=PAUSED')).toEqual(['resting'])
  expect(await duelog.list('status=PAUSED&tag=none')).toEqual([])
  expect(JSON.stringify((await duelog.ask('GET', '/v1/dead-letters')).body)).toContain('dying')
  await duelog.command('resting', 'resume')
  expect(await duelog.list('status=PAUSED')).toEqual([])
})

test('a canceled job ends its runs and fires nothing more; it is visible and can be defined again', async () => {
  await duelog.put('stopped', { ...every(500), target: { handler: 'hold' } })
  const [call] = await duelog.called('stopped')
  await duelog.command('stopped', 'cancel')
  const job = await duelog.jobThat('stopped', ({ active }) => active.length === 0)
  expect(job).toMatchObject({ status: 'COMPLETED', nextFireAt: null })
  expect(job.cancelled).toBeGreaterThanOrEqual(1)
  // The worker hears of it after the owner, whose state the API shows.
  const { signal } = call?.run ?? {}
  if (signal?.aborted === false) await once(signal, 'abort')
  expect(signal?.aborted).toBe(true)
})

test('a deleted job is gone, with its future runs', async () => {
  await duelog.put('gone', far)
  await duelog.remove('gone')
  expect((await duelog.ask('GET', '/v1/jobs/gone')).status).toBe(404)
})

test('retainCompletedMs and retainFailedMs: a finished job is deleted after this time, a failed one later', async () => {
  const soon = { schedule: { delayMs: 0 }, retainCompletedMs: 500 }
  await duelog.put('brief', soon)
  await duelog.put('failed', {
    ...soon,
    target: { handler: 'give-up' },
    retainFailedMs: 3_600_000,
  })
  await duelog.called('brief')
  await duelog.called('failed')
  await expect.poll(async () => (await duelog.ask('GET', '/v1/jobs/brief')).status).toBe(404)
  expect(await duelog.job('failed')).toMatchObject({ failed: 1, deadRuns: [1] })
})

test('contradictory fields are refused by name', async () => {
  const refused = async (definition: object): Promise<{ status: number; body: unknown }> =>
    duelog.ask('PUT', '/v1/jobs/nonsense', { target: { handler: 'echo' }, ...definition })
  const both = await refused({ schedule: { at: 0, cron: '* * * * *' } })
  expect(both).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/at.*cron|cron.*at/) } })
  const backwards = await refused({ ...every(1_000), startAt: 2_000, endAt: 1_000 })
  expect(backwards).toMatchObject({ status: 400, body: { detail: expect.stringContaining('endAt') } })
})
