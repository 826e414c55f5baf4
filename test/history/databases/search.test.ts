/** Searches and counts of the history, judged by a plain filter of the same runs: all pairs of fields, rare runs, and days of 23 and 25 hours. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EndedRun } from '../../../schemas/generated.ts'
import type { HistoryFilter } from '../../../src/ground/ports/roles.ts'
import { DatabaseStore } from '../../../src/server/history/databases/history-store.ts'
import { type RunRow, rowOf } from '../../../src/server/history/databases/rows.ts'
import { openSqlite } from '../../../src/server/history/databases/sqlite.ts'
import { baseMs, endedRun, fits, manyRuns, newestFirst } from '../runs.ts'
import { origin } from './stores.ts'

const minuteMs = 60_000
const hourMs = 3_600_000
let folder = ''
/** One that has all time, and one that ends each search after its first portion. */
let store: DatabaseStore
let hasty: DatabaseStore
let hastyMs = 0

const keyOf = ({ jobId, life, runNo }: EndedRun): string => `${jobId} ${life} ${runNo}`
/** Once an hour, before all others, with what is rare among them. */
const rare = Array.from({ length: 8 }, (_, index) =>
  endedRun({
    ...{
      jobId: 'rare',
      runNo: 1_000_000 + index,
      finishedAt: baseMs - (index + 1) * hourMs,
      startedAt: baseMs - (index + 1) * hourMs,
    },
    ...{ tags: ['a', 'b', 'ä'], handler: 'seldom', pool: 'reports', outcome: index < 2 ? 'EXPIRED' : 'SUCCEEDED' },
  }),
)
const runs = [...manyRuns(6_000, 5, 5 * hourMs), ...rare]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-history-'))
  const open = async () => openSqlite(join(folder, 'runs.sqlite'))
  store = new DatabaseStore(open, origin, { steadyMs: () => 0 })
  hasty = new DatabaseStore(open, origin, { steadyMs: () => (hastyMs += 1_000_000) })
  for (let first = 0; first < runs.length; first += 500)
    await store.write(
      0,
      first,
      runs.slice(first, first + 500).map((run) => rowOf(run) as RunRow),
    )
})
afterAll(async () => {
  await store.close()
  await hasty.close()
  await rm(folder, { recursive: true })
})

const parts: HistoryFilter[] = [
  ...[{ jobId: 'mail-3' }, { idPrefix: 'mail' }, { idPrefix: 'grö' }, { tag: 'ä' }, { tag: 'a' }, { handler: 'send' }],
  ...[{ handler: 'seldom' }, { pool: 'reports' }, { outcome: 'DEAD' }, { outcome: 'SUCCEEDED' }, { outcome: 'EXPIRED' }],
  ...[{ errorType: 'Timeout' }, { errorText: 'TIMED out' }, { minDurationMs: 4_000 }, { maxDurationMs: 300 }, { harmless: true }],
  { from: baseMs + hourMs, to: baseMs + 3 * hourMs },
]
const pairs = parts.flatMap((one, index) => parts.slice(index).map((other) => ({ ...one, ...other })))
/** With all time for all of them, and without for every fourth. */
const trials = [
  ...pairs.map((filter) => ({ filter, isHasty: false })),
  ...pairs.filter((_, index) => index % 4 === 0).map((filter) => ({ filter, isHasty: true })),
]

it('pages of each pair of fields are those of a plain filter, also if each search ends after its first portion', async () => {
  for (const { filter, isHasty } of trials) {
    const wanted = runs.filter((run) => fits(run, filter)).sort(newestFirst)
    const found: string[] = []
    let before: string | null = null
    do {
      const page = await (isHasty ? hasty : store).page(filter, 1_000, before)
      found.push(...page.runs.map(keyOf))
      before = page.next
    } while (before !== null)
    expect(found, JSON.stringify(filter)).toEqual(wanted.map(keyOf))
  }
})

it('counts of each pair of fields are those of a plain filter, as far back as they say', async () => {
  const range = { from: baseMs - 10 * hourMs, to: baseMs + 4 * hourMs }
  for (const { filter: given, isHasty } of trials) {
    const filter = { ...range, ...given }
    const { buckets, countedFrom } = await (isHasty ? hasty : store).counts(filter, minuteMs)
    if (!isHasty) expect(countedFrom).toBeNull()
    const from = countedFrom === null ? filter.from : Math.max(filter.from, countedFrom)
    const wanted = new Map<string, number>()
    for (const run of runs.filter((each) => fits(each, { ...filter, from }))) {
      const key = `${run.finishedAt - (run.finishedAt % minuteMs)} ${run.outcome}`
      wanted.set(key, (wanted.get(key) ?? 0) + 1)
    }
    const found = buckets.flatMap(({ at, outcomes }) => Object.entries(outcomes).map(([name, count]) => [`${at} ${name}`, count]))
    expect(new Map(found as [string, number][]), JSON.stringify(given)).toEqual(wanted)
  }
})

it.each<HistoryFilter>([
  ...[
    { tag: 'a', handler: 'seldom' },
    { pool: 'reports', jobId: 'rare' },
    { pool: 'reports', tag: 'ä', handler: 'seldom' },
  ],
  ...[{ handler: 'seldom', outcome: 'DEAD' }, { tag: 'a', outcome: 'CANCELLED' }, { errorText: 'no error says this' }],
  ...[{ errorType: 'Timeout', errorText: 'no error says this' }, { idPrefix: 'rare' }, { pool: 'reports', outcome: 'EXPIRED' }],
])('the few runs of %j are found in one portion, however far back they are', async (filter) => {
  const { runs: found, next } = await hasty.page(filter, 1_000, null)
  expect(next).toBeNull()
  expect(found.map(keyOf)).toEqual(
    runs
      .filter((run) => fits(run, filter))
      .sort(newestFirst)
      .map(keyOf),
  )
})

it('a page that takes several portions goes back to the oldest hour that the table of counts knows', async () => {
  const filter = { pool: 'reports', outcome: 'SUCCEEDED' }
  const wanted = runs.filter((run) => fits(run, filter)).sort(newestFirst)
  // More than a first portion has, and the oldest ones are the rare runs, one in an hour.
  expect(runs.filter(({ pool }) => pool === 'reports').length).toBeGreaterThan(2_500)
  expect(wanted.at(-1)?.jobId).toBe('rare')
  const { runs: found, next } = await store.page(filter, 10_000, null)
  expect([next, found.map(keyOf)]).toEqual([null, wanted.map(keyOf)])
})

it.each([
  ['2040-03-25', 23],
  ['2040-10-28', 25],
])('each hour of %s in Berlin, which has %i, is a bucket of its own', async (day, hours) => {
  const place = new DatabaseStore(async () => openSqlite(join(folder, `${day}.sqlite`)), origin, { steadyMs: () => 0 })
  // Midnight before the change, and midnight after it, by the offsets of that day.
  const from = Date.parse(`${day}T00:00:00+0${hours === 23 ? 1 : 2}:00`)
  const to = from + hours * hourMs
  const quarters = Array.from({ length: hours * 4 }, (_, index) =>
    endedRun({ runNo: index + 1, finishedAt: from + index * 15 * minuteMs }),
  )
  await place.write(
    0,
    1,
    quarters.map((run) => rowOf(run) as RunRow),
  )
  for (const filter of [{}, { jobId: 'job' }]) {
    const { buckets } = await place.counts({ ...filter, from, to }, hourMs)
    expect(buckets).toEqual(
      Array.from({ length: hours }, (_, hour) => ({ at: from + hour * hourMs, outcomes: { SUCCEEDED: 4 } })),
    )
  }
  await place.close()
})
