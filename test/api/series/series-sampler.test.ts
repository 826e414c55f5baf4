import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { describe, expect, it, type TestContext } from 'vitest'
import { DuelogError } from '../../../src/ground/errors/errors.ts'
import { newMetrics } from '../../../src/ground/metrics/metrics.ts'
import { SeriesFile, SeriesSampler } from '../../../src/server/api/series/series-sampler.ts'
import type { PartitionOwnerView } from '../../../src/server/peers/owner-directory.ts'
import type { ProcessCounts } from '../../../src/server/peers/process-counts.ts'
import { ManualClock, rest } from '../../tools/manual-clock.ts'

const begin = Date.UTC(2030, 0, 1)
const second = 1_000
const minute = 60_000
const logger = pino({ level: 'silent' })

const viewOf = (partition: number, instance: string | null, more: Partial<PartitionOwnerView> = {}): PartitionOwnerView =>
  ({
    ...{ partition, phase: instance === null ? 'closed' : 'active', instance, url: null, restoreRemaining: 0, restoreTotal: 0 },
    ...{ mailboxDepth: 0, jobsOffset: 0, commandsOffset: 0, eventsOffset: 0, overdueMs: 0 },
    underWay: { dispatched: 0, running: 0, waiting: 0 },
    standing: { deadRuns: 0, deadJobs: 0, invalid: 0, paused: 0 },
    ...more,
  }) as PartitionOwnerView

const countsOf = (process: string, more: Partial<ProcessCounts> = {}): ProcessCounts => ({
  process,
  ...{ definitions: 0, dispatched: 0, written: 0, retries: 0, leasesLost: 0, ended: {}, skipped: {} },
  lateness: [
    [10, 0],
    [100, 0],
    [null, 0],
  ],
  ...more,
})

/** A sampler over owners that the test plays. The process itself owns nothing. */
function sampling(context: TestContext, { path, log = logger, clock = new ManualClock(begin), version = '1.0.0' }: Options = {}) {
  const world = {
    views: [viewOf(0, 'a@h:1:x'), viewOf(1, 'a@h:1:x')],
    counts: [countsOf('a')] as ProcessCounts[],
    isAway: false,
    clock,
  }
  const guard = (): void => {
    if (world.isAway) throw new DuelogError('broker-unavailable', 'No broker answers.')
  }
  const sampler = new SeriesSampler({
    owners: {
      async remoteCounts() {
        guard()
        return structuredClone(world.counts)
      },
      async views() {
        guard()
        return structuredClone(world.views)
      },
    },
    ...{ metrics: newMetrics(), clock, logger: log, instance: 'api@h:9:z', version },
    file: path === undefined ? undefined : new SeriesFile(path, log),
  })
  context.onTestFinished(() => sampler.stop())
  const columns = (range: 'hour' | 'day') => sampler.keeper.view(range, clock.nowMs()).columns
  const marks = () => sampler.keeper.view('day', clock.nowMs()).marks.map(({ kind, text }) => `${kind}: ${text}`)
  return { world, sampler, columns, marks }
}

interface Options {
  path?: string
  log?: Logger
  clock?: ManualClock
  version?: string
}

async function folder(context: TestContext): Promise<string> {
  const found = await mkdtemp(join(tmpdir(), 'duelog-series-'))
  context.onTestFinished(() => rm(found, { recursive: true, force: true }))
  return found
}

describe('the series', () => {
  it('count what all owners did in each step, with their lateness', async (context) => {
    const { world, sampler, columns } = sampling(context)
    world.counts = [countsOf('a', { dispatched: 1_000, ended: { SUCCEEDED: 900 } }), countsOf('b')]
    await sampler.start()
    await world.clock.advance(10 * second)
    const later = {
      dispatched: 1_010,
      written: 2,
      retries: 3,
      ended: { SUCCEEDED: 905, DEAD: 1, FAILED: 1 },
      skipped: { MISFIRE: 4 },
    }
    world.counts = [
      countsOf('a', {
        ...later,
        lateness: [
          [10, 9],
          [100, 0],
          [null, 0],
        ],
      }),
      countsOf('b', {
        dispatched: 5,
        lateness: [
          [10, 0],
          [100, 1],
          [null, 0],
        ],
      }),
    ]
    const underWay = { dispatched: 2, running: 3, waiting: 4, withoutHandler: 0, inPausedPools: 0 }
    const standing = { deadRuns: 7, deadJobs: 1, invalid: 0, paused: 0 }
    world.views = [
      viewOf(0, 'a@h:1:x', { underWay, standing, mailboxDepth: 5, overdueMs: 20 }),
      viewOf(1, 'b@h:2:y', { standing }),
    ]
    await world.clock.advance(10 * second)
    await world.clock.advance(10 * second)
    const { dispatched, started, ended, failed, retried, skipped, p50Ms, p99Ms, maxMs, ...stood } = columns('hour')
    expect({ dispatched, started, ended, failed, retried, skipped }).toEqual({
      ...{
        dispatched: [0, 17, 0],
        started: [0, 12, 0],
        ended: [0, 7, 0],
        failed: [0, 2, 0],
        retried: [0, 3, 0],
        skipped: [0, 4, 0],
      },
    })
    // Nine starts in the class up to 10 ms, and one in that up to 100 ms.
    expect([p50Ms?.[0], p99Ms?.[0], maxMs]).toEqual([null, null, [null, 100, null]])
    expect([p50Ms?.[1], p99Ms?.[1]].map((ms) => Math.ceil(Math.log10(ms ?? 0)))).toEqual([1, 2])
    expect(stood).toEqual({
      ...{ active: [0, 5, 5], waiting: [0, 4, 4], backlog: [0, 7, 7], overdueMs: [0, 20, 20], deadLetters: [0, 14, 14] },
    })
    expect(columns('day').dispatched).toEqual([])
    await world.clock.advance(40 * second)
    expect(columns('day')).toMatchObject({ dispatched: [17], maxMs: [100], waiting: [4] })
  })

  it('have a gap while nobody answers, and count what happened in it afterwards', async (context) => {
    const { world, sampler, columns } = sampling(context)
    await sampler.start()
    await world.clock.advance(20 * second)
    world.isAway = true
    await world.clock.advance(20 * second)
    world.isAway = false
    world.counts = [countsOf('a', { dispatched: 6 })]
    await world.clock.advance(20 * second)
    expect(columns('hour').dispatched).toEqual([0, 0, null, null, 6, 0])
    world.views = [viewOf(0, null), viewOf(1, null)]
    await world.clock.advance(20 * second)
    expect(columns('hour').dispatched).toEqual([0, 0, null, null, 6, 0])
  })

  it('count a new process from its start, an old one from its first sample, and none twice', async (context) => {
    const { world, sampler, columns, marks } = sampling(context)
    await sampler.start()
    await world.clock.advance(10 * second)
    const young = { startedAt: begin + 15 * second, instance: 'young@h:3:q' }
    const old = { startedAt: begin - 1, instance: 'old@h:4:r' }
    world.counts = [countsOf('young', { ...young, dispatched: 3 }), countsOf('old', { ...old, dispatched: 1_000 })]
    await world.clock.advance(10 * second)
    world.counts = [countsOf('young', { ...young, dispatched: 5 }), countsOf('old', { ...old, dispatched: 1_001 })]
    await world.clock.advance(20 * second)
    expect(columns('hour').dispatched).toEqual([0, 3, 3, 0])
    expect(marks()).toEqual(['start: api@h:9 started, version 1.0.0', 'start: young@h:3 started'])
  })

  it('mark partitions that moved and versions that changed', async (context) => {
    const { world, sampler, marks } = sampling(context)
    await sampler.start()
    await world.clock.advance(10 * second)
    world.views = [viewOf(0, null), viewOf(1, null)]
    await world.clock.advance(10 * second)
    world.views = [viewOf(0, 'b@h:2:y'), viewOf(1, 'b@h:2:y')]
    world.counts = [countsOf('b', { version: '1.1.0' })]
    await world.clock.advance(10 * second)
    world.counts = [countsOf('b', { version: '1.0.0' })]
    await world.clock.advance(10 * second)
    expect(marks().slice(1)).toEqual([
      'deploy: Version 1.0.0 was replaced by version 1.0.0, 1.1.0',
      '2 partitions moved from a@h:1 to b@h:2'.replace(/^/, 'takeover: '),
      'deploy: Version 1.0.0, 1.1.0 was replaced by version 1.0.0',
    ])
  })

  it('survive a restart, with a gap, and say that the version changed', async (context) => {
    const path = join(await folder(context), 'series.json')
    const clock = new ManualClock(begin)
    const first = sampling(context, { path, clock })
    await first.sampler.start()
    // A mark is saved at once, as the process may be killed.
    await expect.poll(() => readFile(path, 'utf8').catch(() => '')).toContain('api@h:9 started')
    first.world.counts = [countsOf('a', { dispatched: 4 })]
    await clock.advance(2 * minute + 10 * second)
    await first.sampler.stop()
    await clock.advance(2 * minute)
    const next = sampling(context, { path, clock, version: '2.0.0' })
    await next.sampler.start()
    await clock.advance(2 * minute)
    expect(next.columns('day').dispatched).toEqual([0, 0, null, null, 0, 0])
    // The last hour too has what was before the restart.
    expect(next.sampler.keeper.view('hour', clock.nowMs())).toMatchObject({ stepMs: minute, from: begin, rangeMs: 60 * minute })
    expect(next.marks()).toEqual([
      'start: api@h:9 started, version 1.0.0',
      'start: api@h:9 started, version 2.0.0',
      'deploy: Version 1.0.0 was replaced by version 2.0.0',
    ])
    await next.sampler.stop()
    expect((await stat(path)).mode & 0o077).toBe(0)
  })

  it('keep 24 h, in memory and in the file', async (context) => {
    const path = join(await folder(context), 'series.json')
    const point = (at: number) => ({
      ...{ at, dispatched: 1, started: 1, ended: 1, failed: 0, retried: 0, skipped: 0, active: 0, waiting: 0, backlog: 0 },
      ...{ overdueMs: 0, deadLetters: null, p50Ms: null, p99Ms: 2.5, maxMs: null },
    })
    const points = Array.from({ length: 3_000 }, (_, index) => point(begin - (3_000 - index) * minute))
    await writeFile(path, JSON.stringify({ points, marks: [] }))
    const { world, sampler, columns } = sampling(context, { path })
    await sampler.start()
    expect(columns('day').dispatched).toHaveLength(1_439)
    await world.clock.advance(5 * minute)
    expect(columns('day').dispatched?.length).toBeLessThanOrEqual(1_440)
    await sampler.stop()
    expect(JSON.parse(await readFile(path, 'utf8')).points.length).toBeLessThanOrEqual(1_440)
  })

  it('ignore what is not theirs in the file, and live without one', async (context) => {
    const place = await folder(context)
    const path = join(place, 'series.json')
    const long = { at: begin - 1, kind: 'start', text: 'x'.repeat(2_000) }
    const strange = [null, [], 7, { at: 1e99 }, { at: begin - 1, kind: 'evil', text: 'x' }, { at: begin - 1 }, long]
    const mine = { at: begin - 2, kind: 'start', text: 'mine', version: null }
    await writeFile(path, JSON.stringify({ points: strange, marks: [...strange, mine] }))
    const { sampler, marks, columns } = sampling(context, { path })
    await sampler.start()
    expect(marks()).toEqual(['start: mine', 'start: api@h:9 started, version 1.0.0'])
    expect(columns('day').dispatched).toEqual([])
    const warnings: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) })
    await sampler.stop()
    for (const text of ['', '{"points":[', 'null', '{"points":7}', '{"marks":{}}', ' '.repeat(9 * 1024 * 1024)]) {
      await writeFile(path, text)
      const empty = sampling(context, { path, log })
      await empty.sampler.start()
      expect(empty.marks()).toEqual(['start: api@h:9 started, version 1.0.0'])
      expect(warnings.splice(0)).toEqual([expect.stringContaining('cannot be read')])
      await empty.sampler.stop()
    }
    const blocked = join(place, 'file')
    await writeFile(blocked, '')
    const other = sampling(context, { path: join(blocked, 'series.json'), log })
    await other.sampler.start()
    await other.world.clock.advance(3 * minute)
    await other.sampler.stop()
    await rest()
    expect(other.columns('day').dispatched).toHaveLength(3)
    expect(warnings).toEqual([
      expect.stringContaining('cannot be read'),
      'The series cannot be saved; a restart of this process loses them.',
    ])
    await chmod(place, 0o700)
  })

  it('follow a clock that is set back', async (context) => {
    const { world, sampler, columns } = sampling(context)
    await sampler.start()
    await world.clock.advance(60 * second)
    world.clock.skewMs = -40 * second
    await world.clock.advance(61 * second)
    // 81 s have passed on it: eight whole steps, each once.
    expect(columns('hour').dispatched).toHaveLength(8)
    expect(sampler.keeper.view('hour', world.clock.nowMs()).from).toBe(begin)
    await world.clock.advance(5 * minute)
    world.clock.skewMs -= 3 * minute
    await world.clock.advance(2 * minute)
    const minutes = sampler.keeper.minutes.map(({ at }) => at)
    expect(minutes).toEqual([...new Set(minutes)].sort())
  })
})
