/** The role history on a real broker: what it writes, and what happens while its database or its topic is not as it should be. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { EndedRunInput } from '../../schemas/generated.ts'
import { systemClock } from '../../src/ground/clock/clock.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { RecordOut } from '../../src/ground/ports/log.ts'
import { History } from '../../src/server/history/history.ts'
import type { HistoryOptions } from '../../src/server/history/options.ts'
import { openCluster } from '../executor/cluster.ts'
import { openTransactional, openWriter } from '../kafka/harness.ts'
import { postgresOfThisFile } from './databases/stores.ts'
import { endedRun } from './runs.ts'

const postgres = postgresOfThisFile()
const patience = { timeout: 60_000, interval: 50 }

async function openBed() {
  const cluster = await openCluster()
  const { names, log, codecs } = cluster
  const folder = await mkdtemp(join(tmpdir(), 'duelog-history-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const lines: { level: number; msg: string }[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const path = join(folder, 'history', 'runs.sqlite')
  const start = async (more: Partial<HistoryOptions> = {}) => {
    const metrics = newMetrics()
    const own = { log, codec: codecs.endedRun, names, instance: `h@test:1:${Math.random()}`, userData: () => null }
    const history = new History({
      ...own,
      path,
      clusterId: 'c',
      retentionMs: 3_600_000,
      clock: systemClock,
      metrics,
      logger,
      ...more,
    })
    onTestFinished(() => history.stop())
    await history.start()
    return { history, metrics }
  }
  const record = (more: Partial<EndedRunInput> = {}, partition = 0): RecordOut => {
    const run = { ...endedRun(), finishedAt: Date.now(), ...more }
    return { topic: names.runs, partition, key: run.jobId, value: codecs.endedRun.encode(run) }
  }
  const writer = await openWriter(log)
  const idsOf = async ({ history }: { history: History }): Promise<string[]> =>
    (await history.page({}, 1_000, null)).runs.map(({ jobId, runNo }) => `${jobId}/${runNo}`).sort()
  return { ...cluster, path, start, record, idsOf, lines, write: (...records: RecordOut[]) => writer.write(records) }
}

const sumOf = async (metric: { get(): Promise<{ values: { value: number }[] }> }): Promise<number> =>
  (await metric.get()).values.reduce((sum, { value }) => sum + value, 0)

it('writes committed records of all partitions once, and continues where it stopped', async () => {
  const bed = await openBed()
  const transactional = await openTransactional(`${bed.names.runs}-tx`, bed.log)
  const runs = Array.from({ length: 1_200 }, (_, index) => bed.record({ jobId: `j${index}`, runNo: 1 }, index % 4))
  await bed.write(...runs.slice(0, 700))
  const first = await bed.start()
  await vi.waitUntil(async () => (await bed.idsOf(first)).length === 700, patience)
  await first.history.stop()
  await bed.write(...runs.slice(700, 900))
  await transactional.commit(runs.slice(900))
  const second = await bed.start()
  // 1,000 is the longest page, so they are counted.
  const range = { from: Date.now() - (Date.now() % 3_600_000) - 3_600_000, to: Date.now() + 3_600_000 }
  const countOf = async () => {
    const { buckets } = await second.history.counts(range, 3_600_000)
    return buckets.reduce((sum, { outcomes }) => sum + (outcomes.SUCCEEDED ?? 0), 0)
  }
  await vi.waitUntil(async () => (await countOf()) >= 1_200, patience)
  expect(await countOf()).toBe(1_200)
  expect(await sumOf(second.metrics.historyRuns)).toBe(500)
  expect(bed.lines.filter(({ level }) => level > 30)).toEqual([])
})

it('leaves out what is no run, and runs that are too old, and says so', async () => {
  const bed = await openBed()
  const broken = { ...bed.record(), value: Buffer.from('no Avro') }
  await bed.write(bed.record({ jobId: 'a' }), broken, { ...broken, value: null })
  await bed.write(
    bed.record({ jobId: 'negative', finishedAt: -1 }),
    bed.record({ jobId: 'old', finishedAt: Date.now() - 7_200_000 }),
    bed.record({ jobId: 'of-next-year', finishedAt: Date.now() + 365 * 86_400_000 }),
  )
  await bed.write(bed.record({ jobId: 'z' }))
  const started = await bed.start()
  await vi.waitUntil(async () => (await bed.idsOf(started)).includes('z/1'), patience)
  expect(await bed.idsOf(started)).toEqual(['a/1', 'z/1'])
  expect(await sumOf(started.metrics.invalid)).toBe(4)
  expect(bed.lines.filter(({ level }) => level >= 50)).toHaveLength(4)
})

it('waits for a database that cannot be opened, says why once, and goes on when it can', async () => {
  const bed = await openBed()
  await mkdir(join(bed.path, '..'), { recursive: true })
  await writeFile(bed.path, 'This is no database, and it is long enough to be taken for one.'.repeat(100))
  await bed.write(bed.record({ jobId: 'a' }))
  const started = await bed.start()
  await vi.waitUntil(() => bed.lines.length > 0, patience)
  await expect(started.history.page({}, 1, null)).rejects.toMatchObject({
    ...{ code: 'not-ready', message: expect.stringContaining('file is not a database') },
  })
  expect(await sumOf(started.metrics.historyProblem)).toBe(1)
  await rm(bed.path)
  await vi.waitUntil(async () => (await sumOf(started.metrics.historyProblem)) === 0, patience)
  expect(await bed.idsOf(started)).toEqual(['a/1'])
  expect(bed.lines.map(({ msg }) => msg)).toEqual([
    'Ended runs cannot be written to the history. Nothing else waits for it, and it is tried again.',
    'Ended runs are written to the history again.',
  ])
})

it('reads a topic from its beginning if its own position is not in it', async () => {
  const bed = await openBed()
  await bed.write(bed.record({ jobId: 'a' }))
  const first = await bed.start()
  await vi.waitUntil(async () => (await bed.idsOf(first)).length === 1, patience)
  await first.history.stop()
  // The same file with a position beyond the end, as after the topic was deleted and created again.
  const { DatabaseSync } = await import('node:sqlite')
  const file = new DatabaseSync(bed.path)
  file.exec('UPDATE duelog_run_positions SET next_offset = 1000')
  file.close()
  await bed.write(bed.record({ jobId: 'b' }))
  const second = await bed.start()
  await vi.waitUntil(async () => (await bed.idsOf(second)).length === 2, patience)
  expect(await sumOf(second.metrics.positionsReset)).toBe(1)
})

it('shares the partitions of the topic with other processes where they share a PostgreSQL, and takes over those of one that stops', async () => {
  const bed = await openBed()
  const { url } = await postgres.place()
  const runs = Array.from({ length: 400 }, (_, index) => bed.record({ jobId: `j${index}` }, index % 4))
  const [first, second] = [await bed.start({ url }), await bed.start({ url })]
  await bed.write(...runs.slice(0, 200))
  await vi.waitUntil(async () => (await bed.idsOf(first)).length === 200, patience)
  await bed.write(...runs.slice(200, 300))
  await vi.waitUntil(async () => (await bed.idsOf(second)).length === 300, patience)
  await first.history.stop()
  await bed.write(...runs.slice(300))
  await vi.waitUntil(async () => (await bed.idsOf(second)).length === 400, patience)
  expect((await sumOf(first.metrics.historyRuns)) + (await sumOf(second.metrics.historyRuns))).toBe(400)
  expect(bed.lines.filter(({ level }) => level > 30)).toEqual([])
})

it('waits for a PostgreSQL that is not there', async () => {
  const bed = await openBed()
  await bed.write(bed.record({ jobId: 'a' }))
  const { url } = await postgres.place()
  const later = new URL(url)
  later.pathname = '/later_place'
  const started = await bed.start({ url: later.href })
  await vi.waitUntil(() => bed.lines.length > 0, patience)
  expect(JSON.stringify(bed.lines)).toContain('"later_place\\" does not exist')
  const refusal = await started.history.page({}, 1, null).catch((error: Error) => error.message)
  expect(refusal).toContain('The log of h@test:1:')
  expect(refusal).not.toContain('later_place')
  await postgres.create('later_place')
  await vi.waitUntil(async () => (await bed.idsOf(started).catch(() => [])).length === 1, patience)
})
