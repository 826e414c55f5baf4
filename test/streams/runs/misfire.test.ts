/** What happens to occurrences that became due while nobody could fire them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { JobHistory } from './history.ts'

type Definition = Partial<JobDefinitionInput>
const hour = 3_600_000
const everySecond: Definition = { schedule: { everyMs: 1_000 } }

/** Nobody owns the partition from the definition until `time`. */
const missed = (definition: Definition, time: number): JobHistory =>
  new JobHistory({ worker: { type: 'SUCCEEDED' } }).define(definition).downUntil(time)

describe('after an outage of five intervals', () => {
  it.each<[string, Definition, runs: number[], skipped: number]>([
    ['LATEST runs the last one', { catchUp: 'LATEST' }, [5_000], 4],
    ['ALL runs each', { catchUp: 'ALL' }, [1_000, 2_000, 3_000, 4_000, 5_000], 0],
    ['ALL runs the last catchUpMax', { catchUp: 'ALL', catchUpMax: 3 }, [3_000, 4_000, 5_000], 2],
    [
      'ALL with a catchUpMax that is just enough skips none',
      { catchUp: 'ALL', catchUpMax: 5 },
      [1_000, 2_000, 3_000, 4_000, 5_000],
      0,
    ],
    ['SKIP runs none', { catchUp: 'SKIP', misfireThresholdMs: 0 }, [], 5],
    ['SKIP runs what is not later than the threshold', { catchUp: 'SKIP', misfireThresholdMs: 1_500 }, [4_000, 5_000], 3],
    [
      'a threshold that none exceeds lets all run',
      { catchUp: 'SKIP', misfireThresholdMs: 4_500 },
      [1_000, 2_000, 3_000, 4_000, 5_000],
      0,
    ],
    ['maxRuns ends what ALL may run', { catchUp: 'ALL', maxRuns: 2 }, [1_000, 2_000], 0],
    ['skips are no runs to maxRuns', { catchUp: 'LATEST', maxRuns: 2 }, [5_000], 4],
    ['endAt ends what was missed', { catchUp: 'LATEST', endAt: 3_500 }, [3_000], 2],
    ['endAt leaves SKIP nothing', { catchUp: 'SKIP', endAt: 3_500 }, [], 3],
  ])('%s', (_, definition, runs, skipped) => {
    const job = missed({ ...everySecond, ...definition }, 5_500)
    expect(job.fired).toEqual(runs)
    expect(job.skips).toEqual(skipped === 0 ? {} : { 'catch-up': skipped })
    expect(job.state.skipped).toBe(skipped)
    const { endAt, maxRuns } = definition
    const done = endAt !== undefined || (typeof maxRuns === 'number' && runs.length >= maxRuns)
    expect(job.state.status).toBe(done ? 'COMPLETED' : 'ACTIVE')
    expect(job.next).toBe(done ? null : 6_000)
  })
  it('shows why the last occurrence was skipped', () => {
    const { state } = missed({ ...everySecond, catchUp: 'SKIP', misfireThresholdMs: 0 }, 5_500)
    expect(state.reason).toBe('skipped: catch-up')
    expect(state.decisions).toMatchObject([{ what: 'SKIPPED', reason: 'catch-up', scheduledFor: 1_000, at: 5_500, count: 5 }])
  })
  it('catches up on cron alike', () => {
    const job = missed({ schedule: { cron: '* * * * * *' }, catchUp: 'ALL', catchUpMax: 2 }, 5_500)
    expect(job.fired).toEqual([4_000, 5_000])
    expect(job.state).toMatchObject({ skipped: 3, nextFireAt: 6_000 })
  })
  it('dispatches a missed run at once, with its nominal time', () => {
    const job = missed({ ...everySecond, startDeadlineMs: 2_000 }, 5_500)
    expect(job.dispatched).toMatchObject([{ scheduledFor: 5_000, dueAt: 5_000, dispatchedAt: 5_500, startDeadlineAt: 7_500 }])
  })
})

describe('an occurrence that waits because its job is full', () => {
  /** Hourly in a zone. The first run is active while six occurrences are missed, and catch-up may run two of them. */
  const paris: Definition = { schedule: { cron: '0 * * * *', timezone: 'Europe/Paris' }, catchUp: 'ALL', maxConcurrentRuns: 1 }
  const full = (more: Definition): JobHistory => new JobHistory().define({ ...paris, ...more }).until(hour)
  it('is recorded after the last skipped one, so that changed zone rules do not bring it back', () => {
    const job = full({ catchUpMax: 2 }).downUntil(6.5 * hour)
    expect(job.state).toMatchObject({ waiting: true, nextFireAt: 5 * hour, decidedFor: { at: 4 * hour } })
    expect(job.skips).toEqual({ 'catch-up': 3 })
    expect(full({ catchUpMax: 1 }).downUntil(3.5 * hour).state).toMatchObject({
      waiting: true,
      nextFireAt: 3 * hour,
      decidedFor: { at: 2 * hour },
    })
  })
  it('is recorded after the last run, if none was skipped', () => {
    expect(full({}).downUntil(6.5 * hour).state).toMatchObject({
      waiting: true,
      nextFireAt: 2 * hour,
      decidedFor: { at: hour },
    })
    const before = new JobHistory()
      .define(paris)
      .command('TRIGGER')
      .until(1.5 * hour)
    expect(before.state).toMatchObject({ waiting: true, nextFireAt: hour, decidedFor: null })
  })
  it('is recorded after the last skipped one also without an earlier decision', () => {
    const job = new JobHistory()
      .define({ ...paris, catchUpMax: 1 })
      .command('TRIGGER')
      .downUntil(3.5 * hour)
    expect(job.state).toMatchObject({ waiting: true, nextFireAt: 3 * hour, decidedFor: { at: 2 * hour } })
  })
})

describe('the threshold', () => {
  it.each([
    [1_500, 'runs', [1_000]],
    [1_501, 'was missed', []],
  ])('is inclusive: 500 ms, at %i the occurrence of 1000 %s', (time, _, runs) => {
    const job = missed({ schedule: { at: 1_000 }, catchUp: 'SKIP', misfireThresholdMs: 500 }, time)
    expect(job.fired).toEqual(runs)
    expect(job.state).toMatchObject({ status: 'COMPLETED', finishedAt: time, skipped: 1 - runs.length })
  })
})

describe('an interval from END', () => {
  const fromEnd: Definition = { schedule: { everyMs: 1_000, from: 'END' } }
  it.each(['LATEST', 'ALL'] as const)('with %s runs its one missed occurrence', (catchUp) => {
    const job = missed({ ...fromEnd, catchUp }, 5_500)
    expect(job.fired).toEqual([1_000])
    expect(job.next).toBe(6_500)
    expect(job.state.skipped).toBe(0)
  })
  it('with SKIP continues one interval from now', () => {
    const job = missed({ ...fromEnd, catchUp: 'SKIP' }, 5_500)
    expect(job.fired).toEqual([])
    expect(job.next).toBe(6_500)
    expect(job.state.skipped).toBe(1)
    expect(job.state.decisions).toMatchObject([{ what: 'SKIPPED', reason: 'catch-up', scheduledFor: 1_000, at: 5_500, count: 1 }])
    expect(job.skips).toEqual({ 'catch-up': 1 })
  })
  it('whose validity ended meanwhile has skipped the one due occurrence, and is done', () => {
    const job = missed({ ...fromEnd, expireAt: 3_500 }, 9_000)
    expect(job.skips).toEqual({ expired: 1 })
    expect(job.state).toMatchObject({
      status: 'COMPLETED',
      skipped: 1,
      decisions: [{ what: 'SKIPPED', reason: 'expired', scheduledFor: 1_000, at: 9_000 }],
    })
  })
})

describe('the count of skips', () => {
  const year = 365 * 86_400_000
  it.each([
    ['LATEST', {}, 1],
    ['SKIP', { misfireThresholdMs: 0 }, 0],
  ] as const)('is exact for an interval, with %s', (catchUp, more, ran) => {
    const job = missed({ schedule: { everyMs: 100 }, catchUp, ...more }, year + 50)
    expect(job.fired).toHaveLength(ran)
    expect(job.state.skipped).toBe(year / 100 - ran)
    expect(job.next).toBe(year + 100)
  })
  it.each([
    ['SKIP', { misfireThresholdMs: 0 }, 0],
    ['LATEST', {}, 1],
    ['ALL', { catchUpMax: 5, maxConcurrentRuns: 9 }, 5],
  ] as const)('is exact for years of a calendar, in steps of a year each, with %s', (catchUp, more, ran) => {
    const job = missed({ schedule: { cron: '* * * * * *' }, catchUp, ...more }, 5 * year + 500)
    expect(job.fired).toHaveLength(ran)
    expect(job.state.skipped).toBe((5 * year) / 1_000 - ran)
    expect(job.next).toBe(5 * year + 1_000)
    for (const decision of job.decisions)
      for (const note of decision.notes) expect(note.kind === 'skipped' ? note.count : 0).toBeLessThan(32_000_000)
    // Reported as one: the size of the state does not grow with the absence.
    expect(job.state.decisions).toMatchObject([{ what: 'SKIPPED', reason: 'catch-up', count: (5 * year) / 1_000 - ran }])
  })
  it('is exact if the job ended meanwhile, and then it is done', () => {
    const expireAt = 3 * year
    const job = missed({ schedule: { cron: '* * * * * *' }, expireAt, catchUp: 'ALL' }, 4 * year)
    expect(job.state).toMatchObject({ status: 'COMPLETED', skipped: (4 * year) / 1_000, runNo: 0 })
  })
})

describe('every occurrence that was due', () => {
  const definition = fc.record({
    schedule: fc.oneof(
      fc.integer({ min: 100, max: 3_000 }).map((everyMs) => ({ everyMs, grid: everyMs })),
      fc.constantFrom(1, 2, 5, 10).map((seconds) => ({ cron: `*/${seconds} * * * * *`, grid: seconds * 1_000 })),
    ),
    catchUp: fc.constantFrom('SKIP', 'LATEST', 'ALL'),
    catchUpMax: fc.integer({ min: 1, max: 20 }),
    misfireThresholdMs: fc.nat(4_000),
    overlap: fc.constantFrom('ALLOW', 'SKIP'),
    maxConcurrentRuns: fc.integer({ min: 1, max: 4 }),
  })
  const passing = fc.array(fc.record({ ms: fc.nat(12_000), down: fc.boolean(), end: fc.boolean() }), { maxLength: 8 })
  it('became a run or a counted skip, once, in order, never early', () => {
    fc.assert(
      fc.property(definition, passing, ({ schedule: { grid, ...schedule }, ...more }, stretches) => {
        const job = new JobHistory().define({ schedule, ...more })
        for (const { ms, down, end } of stretches) {
          if (down) job.downUntil(job.now + ms)
          else job.until(job.now + ms)
          if (end && job.sent.length > 0) job.report('SUCCEEDED').until(job.now)
        }
        const due = Math.floor(job.now / grid)
        const skipped = Object.values(job.skips).reduce((sum, count) => sum + count, 0)
        const waits = job.job.state?.waiting === true
        const waiting = waits ? due - (job.state.nextFireAt ?? 0) / grid + 1 : 0
        expect(job.fired.length + skipped + waiting).toBe(due)
        if (!waits) expect(job.next).toBe((due + 1) * grid)
        expect(job.fired).toEqual([...new Set(job.fired)].sort((left, right) => left - right))
        for (const { scheduledFor, dispatchedAt } of job.dispatched) {
          expect(scheduledFor % grid).toBe(0)
          expect(dispatchedAt).toBeGreaterThanOrEqual(scheduledFor)
        }
        if (job.job.state !== undefined) expect(job.state).toMatchObject({ skipped, runNo: job.fired.length })
      }),
      { numRuns: 500 },
    )
  })
})
