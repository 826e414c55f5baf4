/** Occurrences that fell due while nobody could fire them: no scheduler ran, or the job was paused. */
import { expect, test } from 'vitest'
import { at, every, openDuelog, timesOf } from './harness.ts'

const duelog = await openDuelog()

test('after an outage SKIP runs none of the missed ones, LATEST the last, ALL each, at most catchUpMax of them', async () => {
  const recurs = every(500)
  await duelog.put('skip', { ...recurs, catchUp: 'SKIP', misfireThresholdMs: 200 })
  await duelog.put('latest', { ...recurs, catchUp: 'LATEST', misfireThresholdMs: 200 })
  await duelog.put('all', { ...recurs, catchUp: 'ALL', misfireThresholdMs: 200, maxConcurrentRuns: 100 })
  await duelog.put('some', { ...recurs, catchUp: 'ALL', catchUpMax: 3, misfireThresholdMs: 200, maxConcurrentRuns: 100 })
  await duelog.put('patient', { ...recurs, catchUp: 'SKIP', misfireThresholdMs: 86_400_000, maxConcurrentRuns: 100 })
  const ids = ['skip', 'latest', 'all', 'some', 'patient']
  for (const id of ids) await duelog.executions(id, 1)
  let stoppedAt = 0
  let startedAt = 0
  await duelog.without(async () => {
    stoppedAt = Date.now()
    await at(stoppedAt + 4_000)
    startedAt = Date.now()
  })
  for (const id of ids) await duelog.jobThat(id, ({ nextFireAt }) => Date.parse(nextFireAt ?? '') > startedAt + 1_000)
  const missed = async (id: string): Promise<number[]> =>
    timesOf(await duelog.executions(id, 1)).filter((time) => time > stoppedAt + 500 && time < startedAt)
  expect(await missed('skip')).toEqual([])
  expect(await missed('patient')).toHaveLength((await missed('all')).length)
  const all = await missed('all')
  expect(all.length).toBeGreaterThanOrEqual(6)
  for (const [index, time] of all.entries()) expect(time).toBe((all[0] ?? 0) + index * 500)
  expect((await missed('latest')).length).toBeLessThanOrEqual(1)
  expect((await missed('some')).length).toBeLessThanOrEqual(3)
  expect((await duelog.job('latest')).skipped).toBeGreaterThan(0)
  expect(await duelog.why('skip')).toContainEqual(expect.objectContaining({ code: 'catch-up' }))
  for (const id of ids) await duelog.remove(id)
})

test('a paused job fires nothing; after resume, overdue occurrences follow its catch-up', async () => {
  for (const [id, catchUp] of [
    ['paused-skip', 'SKIP'],
    ['paused-all', 'ALL'],
  ] as const) {
    await duelog.put(id, { ...every(400), catchUp, misfireThresholdMs: 100, maxConcurrentRuns: 100 })
    await duelog.executions(id, 1)
    await duelog.command(id, 'pause')
    expect(await duelog.job(id)).toMatchObject({ status: 'PAUSED' })
  }
  const pausedAt = Date.now()
  await at(pausedAt + 2_000)
  const resumedAt = Date.now()
  for (const id of ['paused-skip', 'paused-all']) {
    await duelog.command(id, 'resume')
    await duelog.jobThat(id, ({ nextFireAt }) => Date.parse(nextFireAt ?? '') > resumedAt + 400)
  }
  const between = async (id: string): Promise<number[]> =>
    timesOf(await duelog.executions(id, 1)).filter((time) => time > pausedAt + 400 && time < resumedAt - 400)
  expect(await between('paused-skip')).toEqual([])
  expect((await between('paused-all')).length).toBeGreaterThanOrEqual(2)
  for (const id of ['paused-skip', 'paused-all']) await duelog.remove(id)
})

test('paused: a job may be defined as paused; it fires after resume', async () => {
  await duelog.put('asleep', { schedule: { delayMs: 0 }, paused: true })
  expect(await duelog.job('asleep')).toMatchObject({ status: 'PAUSED', active: [], lastRun: null })
  await duelog.command('asleep', 'resume')
  await duelog.called('asleep')
  expect(await duelog.why('asleep')).toBeInstanceOf(Array)
})

test('a backfill makes one run for each occurrence of a past range, and none twice', async () => {
  await duelog.put('history', { ...every(3_600_000), maxConcurrentRuns: 100 })
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000
  await duelog.command('history', 'backfill', { from: hour - 5 * 3_600_000, to: hour - 3_600_000 })
  const runs = await duelog.executions('history', 4)
  expect(timesOf(runs)).toEqual([5, 4, 3, 2].map((back) => hour - back * 3_600_000).slice(0, runs.length))
  expect(new Set(runs.map(({ trigger }) => trigger))).toEqual(new Set(['BACKFILL']))
  expect((await duelog.job('history')).scheduledRuns).toBe(0)
})
