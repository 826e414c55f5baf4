/** When jobs are due, by each kind of schedule, as the log of a running Duelog shows it. */
import { expect, test } from 'vitest'
import { every, openDuelog, timesOf } from './harness.ts'

const duelog = await openDuelog()

/** On a busy machine an occurrence may be late by more than 1 s. By itself only the latest of those runs. */
const runsAll = { catchUp: 'ALL' }

test('at: once, at that millisecond and never early', async () => {
  const time = Date.now() + 1_500
  await duelog.put('once', { schedule: { at: time }, payload: { to: 'a@example.org' } })
  const [call] = await duelog.called('once')
  expect(call?.run).toMatchObject({ scheduledFor: time, runNo: 1, attempt: 1, payload: { to: 'a@example.org' } })
  expect(call?.at).toBeGreaterThanOrEqual(time)
  const job = await duelog.jobThat('once', ({ status }) => status === 'COMPLETED')
  expect(job).toMatchObject({ nextFireAt: null, succeeded: 1, lastRun: { status: 'SUCCEEDED', attempts: 1 } })
})

test('delayMs: this long after the broker appended the definition', async () => {
  const before = Date.now()
  await duelog.put('delayed', { schedule: { delayMs: 800 } })
  const [call] = await duelog.called('delayed')
  expect(call?.run.scheduledFor).toBeGreaterThanOrEqual(before + 800)
  expect(call?.at).toBeGreaterThanOrEqual(call?.run.scheduledFor ?? Number.POSITIVE_INFINITY)
})

test('everyMs: at whole intervals from the anchor, without drift', async () => {
  const anchor = Date.now() - 12_345
  await duelog.put('steady', { schedule: { everyMs: 500, anchor }, ...runsAll })
  const times = timesOf(await duelog.executions('steady', 5))
  for (const time of times) expect((time - anchor) % 500).toBe(0)
  expect(times[4]).toBe((times[0] ?? 0) + 4 * 500)
  await duelog.remove('steady')
})

test('from END: an interval begins when the earlier run has ended', async () => {
  await duelog.put('after-end', { schedule: { everyMs: 400, from: 'END' }, target: { handler: 'hold' } })
  const [first] = await duelog.called('after-end')
  const heldUntil = Date.now() + 900
  setTimeout(() => first?.release(), 900)
  const [, second] = await duelog.called('after-end', 2)
  expect(second?.run.scheduledFor).toBeGreaterThanOrEqual(heldUntil + 400)
  second?.release()
  await duelog.remove('after-end')
})

test('cron: six fields to the second, on the wall clock of its zone', async () => {
  await duelog.put('each-second', { schedule: { cron: '*/2 * * * * *', timezone: 'Asia/Kathmandu' } })
  for (const time of timesOf(await duelog.executions('each-second', 2))) expect(time % 2_000).toBe(0)
  await duelog.remove('each-second')
})

test('rrule: with excluded dates, until its count is reached', async () => {
  const dtstart = Math.ceil(Date.now() / 1_000) * 1_000 + 2_000
  const schedule = { rrule: 'FREQ=SECONDLY;COUNT=4', dtstart, exdates: [dtstart + 1_000] }
  await duelog.put('recurs', { schedule, ...runsAll })
  await duelog.jobThat('recurs', ({ status }) => status === 'COMPLETED')
  const times = timesOf(await duelog.executions('recurs', 3))
  expect(times.map((time) => time - dtstart)).toEqual([0, 2_000, 3_000])
})

test('daylight saving: the policy decides about times that the clock skips or shows twice', async () => {
  const fires = async (schedule: object, from: string): Promise<string[]> => {
    const answer = await duelog.ask('POST', '/v1/schedules/preview', { schedule, from, count: 3 })
    return (answer.body as { fires: { at: string }[] }).fires.map(({ at }) => new Date(at).toISOString())
  }
  const gap = { cron: '30 2 * * *', timezone: 'Europe/Berlin' }
  expect((await fires({ ...gap, dstGap: 'NEXT_VALID' }, '2026-03-28T12:00:00Z'))[0]).toBe('2026-03-29T01:00:00.000Z')
  expect((await fires({ ...gap, dstGap: 'SKIP' }, '2026-03-28T12:00:00Z'))[0]).toBe('2026-03-30T00:30:00.000Z')
  expect((await fires({ ...gap, dstGap: 'SHIFT' }, '2026-03-28T12:00:00Z'))[0]).toBe('2026-03-29T01:30:00.000Z')
  const overlap = { cron: '30 2 * * *', timezone: 'Europe/Berlin' }
  expect((await fires({ ...overlap, dstOverlap: 'FIRST' }, '2026-10-24T12:00:00Z'))[0]).toBe('2026-10-25T00:30:00.000Z')
  expect((await fires({ ...overlap, dstOverlap: 'LAST' }, '2026-10-24T12:00:00Z'))[0]).toBe('2026-10-25T01:30:00.000Z')
  expect((await fires({ ...overlap, dstOverlap: 'BOTH' }, '2026-10-24T12:00:00Z')).slice(0, 2)).toEqual([
    '2026-10-25T00:30:00.000Z',
    '2026-10-25T01:30:00.000Z',
  ])
})

test('jitterMs: each occurrence is due within it, and its nominal time stays on the grid', async () => {
  await duelog.put('spread', { ...every(1_000), jitterMs: 600 })
  const executions = await duelog.executions('spread', 4)
  for (const { scheduledFor, dueAt } of executions) {
    expect(scheduledFor % 1_000).toBe(0)
    expect(dueAt - scheduledFor).toBeGreaterThanOrEqual(0)
    expect(dueAt - scheduledFor).toBeLessThanOrEqual(600)
  }
  expect(new Set(executions.map(({ scheduledFor, dueAt }) => dueAt - scheduledFor)).size).toBeGreaterThan(1)
  await duelog.remove('spread')
})

test('startAt and endAt: nothing before, nothing after, then the job is completed', async () => {
  const startAt = Math.ceil(Date.now() / 500) * 500 + 1_000
  await duelog.put('window', { ...every(500), startAt, endAt: startAt + 1_200 })
  await duelog.jobThat('window', ({ status }) => status === 'COMPLETED')
  expect(timesOf(await duelog.executions('window', 3))).toEqual([startAt, startAt + 500, startAt + 1_000])
})

test('maxRuns: this number of occurrences and no more', async () => {
  await duelog.put('thrice', { ...every(300), maxRuns: 3 })
  const job = await duelog.jobThat('thrice', ({ status }) => status === 'COMPLETED')
  expect(job).toMatchObject({ scheduledRuns: 3, nextFireAt: null })
})
