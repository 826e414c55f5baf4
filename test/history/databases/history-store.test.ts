/** What the history promises in each of its databases, on real ones. Answers are judged by a plain filter of the same runs. */
import { rename } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EndedRun } from '../../../schemas/generated.ts'
import type { HistoryFilter } from '../../../src/ground/ports/roles.ts'
import type { HistoryStore } from '../../../src/server/history/databases/history-store.ts'
import { openPostgres } from '../../../src/server/history/databases/postgres.ts'
import { type RunRow, rowOf } from '../../../src/server/history/databases/rows.ts'
import { readHouseFile } from '../../house/tree.ts'
import { baseMs, endedRun, fits, manyRuns, newestFirst } from '../runs.ts'
import { origin, postgresOfThisFile, type StorePlace, sqlitePlace } from './stores.ts'

const hourMs = 3_600_000
const postgres = postgresOfThisFile()
const kinds: [string, () => Promise<StorePlace>][] = [
  ['SQLite', sqlitePlace],
  ['PostgreSQL', () => postgres.place()],
]

function rowsOf(runs: readonly EndedRun[]): RunRow[] {
  return runs.map((run) => {
    const row = rowOf(run)
    if (typeof row === 'string') throw new Error(row)
    return row
  })
}

/** All pages, one after another. */
async function allOf(store: HistoryStore, filter: HistoryFilter, limit = 1_000): Promise<EndedRun[]> {
  const runs: EndedRun[] = []
  let before: string | null = null
  do {
    const page = await store.page(filter, limit, before)
    expect(page.runs.length).toBeLessThanOrEqual(limit)
    runs.push(...page.runs)
    before = page.next
  } while (before !== null)
  return runs
}

/** `bucket outcome` with its number of runs, by the definition of a count. */
function plainCounts(runs: readonly EndedRun[], bucketMs: number): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { finishedAt, outcome } of runs) {
    const key = `${finishedAt - (finishedAt % bucketMs)} ${outcome}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

async function countsOf(store: HistoryStore, filter: HistoryFilter & { from: number; to: number }, bucketMs: number) {
  const { buckets, countedFrom } = await store.counts(filter, bucketMs)
  expect(countedFrom).toBeNull()
  expect(buckets).toEqual(buckets.toSorted((left, right) => left.at - right.at))
  return new Map(
    buckets.flatMap(({ at, outcomes }) =>
      Object.entries(outcomes).map(([outcome, runs]): [string, number] => [`${at} ${outcome}`, runs]),
    ),
  )
}

const keysOf = (runs: readonly EndedRun[]): string[] => runs.map(({ jobId, life, runNo }) => `${jobId} ${life} ${runNo}`)

describe.each(kinds)('the history in %s', (_name, openPlace) => {
  it('gives back each run as it was', async () => {
    const store = (await openPlace()).open()
    const whole = endedRun({
      ...{
        jobId: 'ä/{x} 1',
        life: '3.7',
        runNo: 2 ** 40,
        outcome: 'DEAD',
        reason: 'attempts',
        trigger: 'REDRIVE',
        commandId: 'c-1',
      },
      ...{ handler: null, topic: 'orders', pool: null, tags: ['x', 'y'], scheduledFor: -5, dueAt: null, startedAt: null },
      ...{ attempts: 3, worker: null, errorType: 'Odd', errorMessage: 'it\nfailed 💥', result: Buffer.from([0, 255, 7]) },
      ...{ resultBytes: 3, note: 'cut', mayHoldSecrets: true, traceparent: '00-0-0-01' },
    })
    await store.write(0, 5, rowsOf([whole, endedRun()]))
    expect((await store.page({}, 10, null)).runs).toEqual(expect.arrayContaining([whole, endedRun()]))
    expect(await store.positions()).toEqual(new Map([[0, 5]]))
  })

  it('keeps a run once, however often its record is written, and adds nothing to the counts', async () => {
    const place = await openPlace()
    const runs = manyRuns(700, 1, 10 * hourMs)
    await place.open().write(1, 700, rowsOf(runs))
    const store = place.open()
    expect(await store.write(1, 300, rowsOf([...runs.slice(100, 400), ...runs.slice(100, 200)]))).toEqual({
      stored: 0,
      refused: 0,
    })
    expect(keysOf(await allOf(store, {})).sort()).toEqual(keysOf(runs).sort())
    expect((await store.positions()).get(1)).toBe(300)
    const { buckets } = await store.counts({ from: baseMs, to: baseMs + 24 * hourMs }, 24 * hourMs)
    expect(Object.values(buckets[0]?.outcomes ?? {}).reduce((sum, runs) => sum + runs, 0)).toBe(700)
  })

  it('tells of each handler its outcomes, and percentiles of duration and lateness within 25%', async () => {
    const store = (await openPlace()).open()
    const ended = (runNo: number, more: Partial<EndedRun>) => {
      const [dueAt, startedAt] = [baseMs, baseMs + runNo * 10]
      return endedRun({ runNo, handler: 'send', dueAt, startedAt, finishedAt: startedAt + runNo * 100, ...more })
    }
    const runs = Array.from({ length: 100 }, (_, index) => ended(index + 1, {}))
    const others = [
      ended(101, { outcome: 'DEAD' }),
      ended(102, { handler: 'rare', startedAt: null }),
      ended(103, { handler: null }),
    ]
    await store.write(0, 103, rowsOf([...runs, ...others]))
    // What is written twice counts once.
    await store.write(0, 103, rowsOf(runs))
    const [send, rare] = await store.handlers(baseMs, baseMs + 24 * hourMs)
    expect([send?.outcomes, rare?.outcomes]).toEqual([{ SUCCEEDED: 100, DEAD: 1 }, { SUCCEEDED: 1 }])
    for (const [found, exact] of [
      [send?.duration?.p50Ms, 5_100],
      [send?.duration?.p95Ms, 9_600],
      [send?.lateness?.p50Ms, 510],
      [send?.lateness?.p95Ms, 960],
    ] as const)
      expect(Math.abs(Number(found) / exact - 1)).toBeLessThan(0.25)
    expect(rare).toMatchObject({ duration: null, lateness: null })
    expect(await store.handlers(baseMs - 24 * hourMs, baseMs)).toEqual([])
    await store.removeOld(baseMs + 24 * hourMs, 1_000)
    await store.removeOld(baseMs + 24 * hourMs, 1_000)
    expect(await store.handlers(baseMs, baseMs + 24 * hourMs)).toEqual([])
  })

  it('keeps skipped occurrences that were decided in the same millisecond, each once, and outside the runs', async () => {
    const store = (await openPlace()).open()
    const skipped = [1_000, 2_000].map((scheduledFor) =>
      endedRun({ runNo: 0, outcome: 'SKIPPED', reason: 'overlap', scheduledFor, finishedAt: baseMs, note: '3 occurrences' }),
    )
    await store.write(0, 3, rowsOf([...skipped, endedRun({ runNo: 1, finishedAt: baseMs })]))
    expect(await store.write(0, 3, rowsOf(skipped))).toEqual({ stored: 0, refused: 0 })
    const found = await allOf(store, { outcome: 'SKIPPED' })
    expect(found.map(({ scheduledFor, note }) => [scheduledFor, note])).toEqual(
      expect.arrayContaining([1_000, 2_000].map((at) => [at, '3 occurrences'])),
    )
    expect(found).toHaveLength(2)
    expect(await countsOf(store, { from: baseMs, to: baseMs + hourMs }, hourMs)).toEqual(
      new Map([
        [`${baseMs} SUCCEEDED`, 1],
        [`${baseMs} SKIPPED`, 2],
      ]),
    )
  })

  it('keeps all runs that end in the same millisecond, those with the same hash too', async () => {
    const store = (await openPlace()).open()
    // 20 bits of hash: among 4,000 runs some are equal.
    const runs = Array.from({ length: 4_000 }, (_, index) => endedRun({ runNo: index + 1 }))
    for (let at = 0; at < runs.length; at += 400) await store.write(0, at, rowsOf(runs.slice(at, at + 400)))
    expect(await store.write(0, 4_000, rowsOf(runs))).toEqual({ stored: 0, refused: 0 })
    const found = await allOf(store, {}, 333)
    expect(found.map(({ runNo }) => runNo).sort((a, b) => a - b)).toEqual(runs.map(({ runNo }) => runNo))
  })

  const filters: HistoryFilter[] = [
    {},
    { from: baseMs + hourMs, to: baseMs + 3 * hourMs },
    { jobId: 'mail-3' },
    { idPrefix: 'mail' },
    { idPrefix: 'grö', outcome: 'SUCCEEDED' },
    { idPrefix: 'mail-x', tag: 'a' },
    { tag: 'ä' },
    { tag: 'a', handler: 'build', to: baseMs + 2 * hourMs },
    { handler: 'send' },
    { handler: 'send', outcome: 'DEAD' },
    { pool: 'reports', outcome: 'SUCCEEDED' },
    { outcome: 'CANCELLED' },
    { errorType: 'Timeout' },
    { errorType: 'Timeout', harmless: true },
    { errorText: 'timed out' },
    { errorText: 'CUSTOMER', from: baseMs + hourMs, to: baseMs + 4 * hourMs, harmless: true },
    { minDurationMs: 4_000 },
    { minDurationMs: 100, maxDurationMs: 200, pool: 'default' },
    { maxDurationMs: 50, jobId: 'report-1' },
    { jobId: 'none' },
    { tag: 'a', pool: 'reports', outcome: 'SUCCEEDED' },
    { tag: 'b', jobId: 'mail-x-7' },
    { idPrefix: 'mail', pool: 'default', tag: 'a', maxDurationMs: 2_000 },
    { handler: 'send', errorType: 'Refused', tag: 'b' },
    { outcome: 'DEAD', tag: 'a' },
    { outcome: 'DEAD', tag: 'a', jobId: 'mail-x-7' },
    { tag: 'a', errorText: 'timed' },
    { idPrefix: 'mail', tag: 'b' },
    { minDurationMs: 100, outcome: 'SUCCEEDED' },
    { idPrefix: 'mail', minDurationMs: 100 },
  ]
  it('finds and counts the same runs as a plain filter, page by page in the order of their ends', async () => {
    const store = (await openPlace()).open()
    const runs = manyRuns(4_000, 2, 5 * hourMs)
    await store.write(0, 1, rowsOf(runs))
    const range = { from: baseMs + 2 * hourMs, to: baseMs + 4 * hourMs }
    for (const filter of filters) {
      const wanted = runs.filter((run) => fits(run, filter)).sort(newestFirst)
      expect(keysOf(await allOf(store, filter, 77)), JSON.stringify(filter)).toEqual(keysOf(wanted))
      for (const bucketMs of [60_000, hourMs, 2 * hourMs])
        expect(await countsOf(store, { ...filter, ...range }, bucketMs), JSON.stringify({ filter, bucketMs })).toEqual(
          plainCounts(
            runs.filter((run) => fits(run, { ...filter, ...range })),
            bucketMs,
          ),
        )
    }
  })

  it('takes no batch of a writer who knows of a later position, because then it lacks what was written before', async () => {
    const store = (await openPlace()).open()
    await expect(store.write(0, 20, rowsOf([endedRun()]), 10)).rejects.toMatchObject({ code: 'not-ready' })
    expect((await store.page({}, 1, null)).runs).toEqual([])
    await store.write(0, 20, rowsOf([endedRun()]))
    await expect(store.write(0, 40, rowsOf([endedRun({ runNo: 2 })]), 30)).rejects.toThrow('position 20 of partition 0')
    // Another process had the partition before, and was faster.
    expect(await store.write(0, 15, rowsOf([endedRun({ runNo: 2 })]), 10)).toEqual({ stored: 1, refused: 0 })
    expect(await store.positions()).toEqual(new Map([[0, 15]]))
  })

  it('removes old runs in portions by whole hours, with their tags and counts', async () => {
    const store = (await openPlace()).open()
    const runs = manyRuns(1_000, 4, 5 * hourMs)
    await store.write(0, 1, rowsOf(runs))
    const before = baseMs + 2 * hourMs + 1_234
    const removed: number[] = []
    do removed.push(await store.removeOld(before, 150))
    while (removed.at(-1) !== 0)
    const kept = runs.filter(({ finishedAt }) => finishedAt >= baseMs + 2 * hourMs)
    expect(removed.reduce((sum, each) => sum + each)).toBe(1_000 - kept.length)
    expect(Math.max(...removed)).toBe(150)
    expect(keysOf(await allOf(store, {}))).toEqual(keysOf(kept.toSorted(newestFirst)))
    expect(keysOf(await allOf(store, { tag: 'a' }))).toEqual(
      keysOf(kept.filter(({ tags }) => tags.includes('a')).sort(newestFirst)),
    )
    const { buckets } = await store.counts({ from: baseMs, to: baseMs + 5 * hourMs }, hourMs)
    expect(buckets[0]?.at).toBe(baseMs + 2 * hourMs)
    const failed = { errorText: 'customer', from: baseMs, to: baseMs + 2 * hourMs }
    expect(await store.counts(failed, 60_000)).toEqual({ buckets: [], countedFrom: null })
  })

  it('takes texts that only a hostile writer would write', async () => {
    const store = (await openPlace()).open()
    const odd = endedRun({
      ...{
        jobId: "x'); DROP TABLE duelog_runs; --",
        outcome: 'O\0'.repeat(5_000),
        handler: '\ud800',
        pool: '%_',
        worker: 'w'.repeat(100_000),
      },
      ...{
        tags: Array.from({ length: 5_000 }, (_, index) => `t${index}`.repeat(50)),
        errorType: 'é'.repeat(70_000),
        errorMessage: '\0',
      },
      ...{ attempts: Number.MAX_SAFE_INTEGER, scheduledFor: Number.MIN_SAFE_INTEGER, startedAt: 2 ** 60 },
    })
    expect(await store.write(0, 1, rowsOf([odd]))).toEqual({ stored: 1, refused: 0 })
    expect((await store.page({ jobId: odd.jobId }, 1, null)).runs).toHaveLength(1)
    expect((await store.page({ errorText: "'%_\\" }, 1, null)).runs).toHaveLength(0)
    for (const asked of [{ jobId: '\0' }, { idPrefix: '\0' }, { tag: '\ud800' }, { errorText: '\0' }])
      await store.page(asked, 1, null)
    await store.counts({ pool: '\0', from: 0, to: hourMs }, hourMs)
    await store.write(0, 2, rowsOf([endedRun({ jobId: 'umlaut', errorType: 'E', errorMessage: 'ÄRGER Überall' })]))
    expect((await store.page({ errorText: 'Ärger ÜBERALL' }, 1, null)).runs).toMatchObject([{ jobId: 'umlaut' }])
  })

  it('refuses the runs of another topic or cluster', async () => {
    const place = await openPlace()
    await place.open().positions()
    await expect(place.open({ ...origin, clusterId: 'other' }).positions()).rejects.toMatchObject({ code: 'foreign-data' })
    await expect(place.open({ ...origin, topic: 'other.runs' }).positions()).rejects.toMatchObject({ code: 'foreign-data' })
    expect(await place.open({ ...origin, clusterId: undefined }).positions()).toEqual(new Map())
  })
})

it('has in PostgreSQL what the page for users reads with SQL', async () => {
  const place = await postgres.place()
  const at = Date.now() - 60_000
  const runs = [
    endedRun({ finishedAt: at, startedAt: at - 30, tags: ['customer-7'] }),
    endedRun({ jobId: 'bad', finishedAt: at, outcome: 'DEAD', errorType: 'E' }),
  ]
  await place.open().write(0, 1, rowsOf(runs))
  const page = readHouseFile('docs/how-to/history.md').text
  const statements =
    /```sql\n([\s\S]*?)```/
      .exec(page)?.[1]
      ?.split(';')
      .filter((text) => text.trim() !== '') ?? []
  const answers = await Promise.all(statements.map((statement) => place.value(statement)))
  expect(answers).toEqual(['echo|E|1', 'echo|30', expect.stringMatching(/^job\|1\|SUCCEEDED\|\d{4}-/)])
})

it('takes another connection to PostgreSQL if one breaks in the middle of a transaction', async () => {
  const place = await postgres.place()
  const database = openPostgres(place.url)
  onTestFinished(() => database.close())
  const ended = database.transaction(async (sql) => {
    await sql.all('SELECT 1', [])
    const mine = "application_name = 'duelog history' AND datname = current_database()"
    await place.value(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE ${mine}`)
    await sql.all('SELECT 1', [])
  })
  await expect(ended).rejects.toThrow()
  expect(await database.all('SELECT 1 AS one', [])).toEqual([{ one: 1 }])
})

describe('a file of SQLite', () => {
  it('is read while another program holds its lock', async () => {
    const place = await sqlitePlace()
    await place.open().write(0, 1, rowsOf([endedRun()]))
    const other = new DatabaseSync(place.path)
    other.exec('BEGIN IMMEDIATE')
    const store = place.open()
    expect((await store.page({}, 1, null)).runs).toHaveLength(1)
    await expect(store.write(0, 2, rowsOf([endedRun({ runNo: 2 })]), 1)).rejects.toThrow('database is locked')
    expect((await store.page({}, 1, null)).runs).toHaveLength(1)
    other.exec('ROLLBACK')
    other.close()
    expect(await store.write(0, 2, rowsOf([endedRun({ runNo: 2 })]), 1)).toEqual({ stored: 1, refused: 0 })
  })

  it('that was moved away takes no more runs: a new one begins without positions', async () => {
    const place = await sqlitePlace()
    const store = place.open()
    await store.write(0, 1, rowsOf([endedRun()]))
    await rename(place.path, `${place.path}.moved`)
    await expect(store.write(0, 2, rowsOf([endedRun({ runNo: 2 })]), 1)).rejects.toThrow('moved away')
    expect(await store.positions()).toEqual(new Map())
  })
})

describe('a record that is no run', () => {
  it.each([{ finishedAt: -1 }, { finishedAt: 2 ** 43 }, { finishedAt: 0.5 }, { runNo: -1 }, { jobId: 'x'.repeat(256) }])(
    'with %j has no row',
    (more) => expect(rowOf(endedRun(more))).toBeTypeOf('string'),
  )
})
