/** One run for each occurrence of a past range, a few at a time. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput, Schedule } from '../../../schemas/generated.ts'
import { backfillRunsMax, countBackfill } from '../../../streams/runs/backfill.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import { JobHistory } from './history.ts'

type Definition = Partial<JobDefinitionInput>
const backfilled = (job: JobHistory): number[] =>
  job.dispatched.filter(({ trigger, attempt }) => trigger === 'BACKFILL' && attempt === 1).map(({ scheduledFor }) => scheduledFor)
/** A job that is defined at a time after the range. */
const definedAt = (time: number, definition: Definition, worker = true): JobHistory => {
  const job = new JobHistory(worker ? { worker: { type: 'SUCCEEDED' } } : {})
  job.now = time
  return job.define({ startDeadlineMs: 2_592_000_000, ...definition })
}
const minute = 60_000

describe('the range of a backfill', () => {
  const every: Definition = { schedule: { everyMs: 1_000, anchor: 0 }, misfireThresholdMs: 0, catchUp: 'SKIP' }
  it.each([
    [2_000, 4_000, [2_000, 3_000]],
    [2_001, 4_001, [3_000, 4_000]],
    [0, 1, [0]],
    [0, 1_000, [0]],
  ])('from %d to %d holds its beginning and not its end: %j', (from, to, expected) => {
    expect(backfilled(definedAt(9_500, every).command('BACKFILL', { from, to }))).toEqual(expected)
  })
  it('ends at the present: the schedule fires later occurrences', () => {
    const job = definedAt(9_500, every).command('BACKFILL', { from: 8_000, to: 60_000 }).until(10_000)
    expect(backfilled(job)).toEqual([8_000, 9_000])
    expect(job.fired).toEqual([10_000])
  })
  it('lies within startAt and endAt of the definition', () => {
    const job = definedAt(9_500, { ...every, startAt: 3_000, endAt: 5_000 }).command('BACKFILL', { from: 0, to: 9_000 })
    expect(backfilled(job)).toEqual([3_000, 4_000, 5_000])
  })
})

describe('a backfill of the time before the job was defined', () => {
  it.each<[string, Definition, number, number[]]>([
    ['an interval, on its grid from the append time', { schedule: { everyMs: 1_000 } }, 9_300, [6_300, 7_300]],
    ['an interval from startAt', { schedule: { everyMs: 1_000 }, startAt: 6_700 }, 9_300, [6_700, 7_700]],
    ['an anchored interval', { schedule: { everyMs: 1_000, anchor: 250 } }, 9_300, [6_250, 7_250]],
    ['an interval whose anchor is ahead', { schedule: { everyMs: 1_000, anchor: 20_400 } }, 9_300, [6_400, 7_400]],
    ['an interval from END, on the same grid', { schedule: { everyMs: 1_000, from: 'END' } }, 9_300, [6_300, 7_300]],
    ['cron', { schedule: { cron: '* * * * * *' } }, 9_300, [6_000, 7_000]],
  ])('follows the schedule: %s', (_, definition, time, expected) => {
    expect(backfilled(definedAt(time, definition).command('BACKFILL', { from: 6_000, to: 8_000 }))).toEqual(expected)
  })
  const [day, hour] = [86_400_000, 3_600_000]
  const defined = 30 * day + 9 * hour + 30 * minute
  it.each<[string, string, Partial<Schedule>, number[]]>([
    ['the time of day', 'FREQ=DAILY', {}, [20, 21, 22, 23, 24, 25]],
    ['the days of an interval', 'FREQ=DAILY;INTERVAL=4', {}, [22]],
    ['the weekday', 'FREQ=WEEKLY', {}, [23]],
    ['hours of an interval', 'FREQ=HOURLY;INTERVAL=48', {}, [20, 22, 24]],
    ['what is left out', 'FREQ=DAILY', { exdates: [22 * day + 9.5 * hour] }, [20, 21, 23, 24, 25]],
    ['no less than COUNT, which counts from there on', 'FREQ=DAILY;COUNT=2', {}, [20, 21, 22, 23, 24, 25]],
    ['nothing before dtstart', 'FREQ=DAILY', { dtstart: 24 * day + 9.5 * hour }, [24, 25]],
  ])('uses the append time of a rule, as its owner does: %s', (_, rrule, more, days) => {
    const job = definedAt(defined, { schedule: { rrule, ...more } })
    job.command('BACKFILL', { from: 20 * day, to: 26 * day })
    expect(backfilled(job)).toEqual(days.map((count) => count * day + 9.5 * hour))
  })
  it('reads the beginning of a rule in its time zone', () => {
    const job = definedAt(Date.UTC(2026, 2, 30, 7, 30), { schedule: { rrule: 'FREQ=DAILY', timezone: 'Europe/Paris' } })
    job.command('BACKFILL', { from: Date.UTC(2026, 2, 28), to: Date.UTC(2026, 2, 30) })
    expect(backfilled(job)).toEqual([Date.UTC(2026, 2, 28, 8, 30), Date.UTC(2026, 2, 29, 7, 30)])
  })
  it('continues at the times of the rule after its append time', () => {
    const job = definedAt(defined, { schedule: { rrule: 'FREQ=DAILY;COUNT=3' } }).until(defined + 2.5 * day)
    expect(job.fired).toEqual([1, 2].map((count) => defined + count * day))
    job.command('BACKFILL', { from: defined - day, to: defined + 9 * day })
    expect(backfilled(job)).toEqual([-1, 0, 1, 2].map((count) => defined + count * day))
  })
  it('reads cron in its time zone', () => {
    const day = Date.UTC(2026, 2, 30)
    const job = definedAt(day, { schedule: { cron: '0 9 * * *', timezone: 'Europe/Paris' } })
    job.command('BACKFILL', { from: Date.UTC(2026, 2, 28), to: day })
    expect(backfilled(job)).toEqual([Date.UTC(2026, 2, 28, 8), Date.UTC(2026, 2, 29, 7)])
  })
})

describe('the runs of a backfill', () => {
  const minutely: Definition = { schedule: { everyMs: minute, anchor: 0 }, maxConcurrentRuns: 2 }
  const range = { from: 0, to: 5 * minute }
  it('are due now, know their command, and do not count for the schedule', () => {
    const job = definedAt(5 * minute + 1, minutely, false).command('BACKFILL', { ...range, commandId: 'b' })
    expect(job.dispatched[0]).toMatchObject({ trigger: 'BACKFILL', scheduledFor: 0, dueAt: 5 * minute + 1 })
    expect(job.state).toMatchObject({
      scheduledRuns: 0,
      nextFireAt: 6 * minute,
      active: [{ commandId: 'b' }, { commandId: 'b' }],
    })
  })
  it('are limited by the maximum of the job, in order, and each occurrence runs once', () => {
    const job = definedAt(5 * minute + 1, minutely, false).command('BACKFILL', range)
    expect(backfilled(job)).toEqual([0, minute])
    expect(job.state.backfill).toMatchObject({ nextAt: 2 * minute, to: 5 * minute })
    for (let runNo = 1; runNo <= 5; runNo++) {
      job.report('SUCCEEDED', { runNo })
      expect(job.state.active.length).toBeLessThanOrEqual(2)
    }
    expect(backfilled(job)).toEqual([0, 1, 2, 3, 4].map((count) => count * minute))
    expect(job.state).toMatchObject({ backfill: null, succeeded: 5, active: [] })
  })
  it.each(['SKIP', 'QUEUE_ONE', 'CANCEL_PREVIOUS'] as const)('are one at a time with overlap %s', (overlap) => {
    const job = definedAt(5 * minute + 1, { ...minutely, overlap }, false).command('BACKFILL', range)
    expect(job.state.active).toHaveLength(1)
    expect(job.report('SUCCEEDED').state.active).toHaveLength(1)
  })
  it('begin when there is room, and continue after a run in any final state', () => {
    const job = definedAt(5 * minute + 1, { ...minutely, maxConcurrentRuns: 1 }, false)
      .command('TRIGGER')
      .command('BACKFILL', range)
    expect(backfilled(job)).toEqual([])
    job.report('SUCCEEDED').fail('Error', { retryable: false }).command('CANCEL_RUN', { runNo: 3 })
    expect(backfilled(job)).toEqual([0, minute, 2 * minute])
  })
  it('keep the job from being COMPLETED until the last has ended', () => {
    const job = definedAt(9 * minute, { ...minutely, endAt: 3 * minute, overlap: 'SKIP' }, false)
    job.command('BACKFILL', range)
    for (let runNo = 1; runNo <= 4; runNo++) expect(job.report('SUCCEEDED').state.finishedAt === null).toBe(runNo < 4)
    expect(job.state.status).toBe('COMPLETED')
  })
})

describe('a backfill that is ended', () => {
  const minutely: Definition = { schedule: { everyMs: minute, anchor: 0 }, maxConcurrentRuns: 2 }
  const range = { from: minute, to: 5 * minute }
  const begun = (more: Definition = {}): JobHistory =>
    definedAt(5 * minute + 1, { ...minutely, ...more }, false).command('BACKFILL', { ...range, commandId: 'b' })
  it('makes no further runs; those that it has made go on, and the schedule too', () => {
    const job = begun()
    expect(job.state.backfill).toEqual({ commandId: 'b', from: minute, to: 5 * minute, nextAt: 3 * minute, made: 2 })
    job.command('BACKFILL', { discard: true })
    expect(job.state).toMatchObject({ backfill: null, active: [{ status: 'DISPATCHED' }, { status: 'DISPATCHED' }] })
    expect(job.state.decisions.at(-1)).toMatchObject({ what: 'DROPPED', reason: 'command', scheduledFor: 3 * minute })
    job
      .report('SUCCEEDED', { runNo: 1 })
      .report('SUCCEEDED', { runNo: 2 })
      .until(6 * minute)
    expect(backfilled(job)).toEqual([minute, 2 * minute])
    expect(job.fired).toEqual([6 * minute])
  })
  it('lets the job be COMPLETED', () => {
    const job = begun({ endAt: 3 * minute }).command('BACKFILL', { discard: true })
    job.report('SUCCEEDED', { runNo: 1 }).report('SUCCEEDED', { runNo: 2 })
    expect(job.state.status).toBe('COMPLETED')
  })
  it('lets a job be COMPLETED at once that was paused before it began', () => {
    const job = definedAt(1, { ...minutely, endAt: minute }, false)
      .until(minute)
      .command('PAUSE')
    job.command('BACKFILL', { from: 0, to: 1 }).report('SUCCEEDED')
    expect(job.state).toMatchObject({ status: 'PAUSED', active: [], backfill: { nextAt: 0 } })
    expect(job.command('BACKFILL', { discard: true }).state.status).toBe('COMPLETED')
  })
  it('is refused without one, and once the last of its runs is made', () => {
    const job = begun().command('BACKFILL', { discard: true }).command('BACKFILL', { discard: true, commandId: 'x' })
    expect(job.state.decisions.at(-1)).toMatchObject({ what: 'DROPPED', reason: 'no-backfill', commandId: 'x' })
  })
  it('may be that of a job whose validity is over', () => {
    const job = begun({ expireAt: 5 * minute + 10 })
    job.now = 5 * minute + 20
    expect(job.command('BACKFILL', { discard: true }).state).toMatchObject({ backfill: null })
    expect(job.state.decisions.at(-1)).toMatchObject({ reason: 'command' })
  })
})

describe('the count of a backfill', () => {
  it.each<[string, Definition]>([
    ['an interval', { schedule: { everyMs: 1_700, anchor: 250 } }],
    ['cron', { schedule: { cron: '*/7 * * * * *' } }],
    ['a rule', { schedule: { rrule: 'FREQ=SECONDLY;INTERVAL=3' }, startAt: 5_500 }],
  ])('is that of the runs that it makes: %s', (_, definition) => {
    const job = definedAt(61_000, { ...definition, maxConcurrentRuns: 100 })
    const spec = job.job.definition?.spec
    if (spec === undefined) throw new Error('no definition')
    const { anchorAt } = pristineState(job.job)
    const range = { from: 3_000, to: 60_000 }
    const counted = countBackfill(spec, anchorAt, { ...range, max: 1_000 })
    const made = backfilled(job.command('BACKFILL', range))
    expect(made.length).toBeGreaterThan(7)
    expect(counted).toEqual({ occurrences: made.length, isMore: false, first: made[0], last: made.at(-1) })
    const [half, some] = [Math.floor(made.length / 2), { from: 3_000, to: 60_000 }]
    expect(countBackfill(spec, anchorAt, { ...some, max: half })).toMatchObject({
      occurrences: half,
      isMore: true,
    })
    expect(countBackfill(spec, anchorAt, { ...some, max: made.length })).toMatchObject({ isMore: false })
  })
  it('of a range without occurrence is 0', () => {
    const job = definedAt(61_000, { schedule: { everyMs: 10_000, anchor: 0 } })
    const spec = job.job.definition?.spec
    if (spec === undefined) throw new Error('no definition')
    const none = { occurrences: 0, isMore: false, first: null, last: null }
    expect(countBackfill(spec, 0, { from: 10_001, to: 20_000, max: 9 })).toEqual(none)
  })
})

describe('an occurrence that waits for room', () => {
  const definition: Definition = { schedule: { everyMs: minute, anchor: 0 }, catchUp: 'ALL', maxConcurrentRuns: 1 }
  const begun = (more: Definition = {}): JobHistory =>
    definedAt(5 * minute + 1, { ...definition, ...more }, false).command('BACKFILL', { from: 0, to: 5 * minute })
  const order = (job: JobHistory): [string, number][] =>
    job.dispatched.map(({ trigger, scheduledFor }) => [trigger, scheduledFor / minute])
  it('goes before the rest of a backfill, and the backfill goes on after it', () => {
    const job = begun().until(6 * minute)
    expect(job.state.waiting).toBe(true)
    for (let runNo = 1; runNo <= 3; runNo++) job.report('SUCCEEDED', { runNo }).until(job.now)
    expect(order(job)).toEqual([
      ['BACKFILL', 0],
      ['SCHEDULE', 6],
      ['BACKFILL', 1],
      ['BACKFILL', 2],
    ])
  })
  it('goes before it also if several wait, one after another', () => {
    const job = begun().until(8 * minute)
    for (let runNo = 1; runNo <= 4; runNo++) job.report('SUCCEEDED', { runNo }).until(job.now)
    expect(order(job).map(([trigger]) => trigger)).toEqual(['BACKFILL', 'SCHEDULE', 'SCHEDULE', 'SCHEDULE', 'BACKFILL'])
  })
  it.each<[string, Definition]>([
    ['overlap SKIP', { overlap: 'SKIP' }],
    ['overlap ALLOW', { overlap: 'ALLOW' }],
  ])('is not skipped because of a backfill, and goes before its rest: catchUp LATEST, %s', (_, more) => {
    const job = begun({ catchUp: 'LATEST', ...more }).until(6 * minute)
    expect(job.state).toMatchObject({ waiting: true, skipped: 0, nextFireAt: 6 * minute })
    for (let runNo = 1; runNo <= 2; runNo++) job.report('SUCCEEDED', { runNo }).until(job.now)
    expect(order(job)).toEqual([
      ['BACKFILL', 0],
      ['SCHEDULE', 6],
      ['BACKFILL', 1],
    ])
    expect(job.state.skipped).toBe(0)
  })
  it('is not skipped because another one waits in the queue for a run of a backfill: overlap QUEUE_ONE', () => {
    const job = begun({ catchUp: 'LATEST', overlap: 'QUEUE_ONE' }).until(7 * minute)
    expect(job.state).toMatchObject({ queuedFor: 6 * minute, waiting: true, nextFireAt: 7 * minute, skipped: 0 })
    for (let runNo = 1; runNo <= 3; runNo++) job.report('SUCCEEDED', { runNo }).until(job.now)
    expect(order(job)).toEqual([
      ['BACKFILL', 0],
      ['SCHEDULE', 6],
      ['SCHEDULE', 7],
      ['BACKFILL', 1],
    ])
  })
  it('is skipped because of another run of the schedule, beside a backfill too', () => {
    const job = begun({ catchUp: 'LATEST', overlap: 'SKIP' })
      .until(6 * minute)
      .report('SUCCEEDED', { runNo: 1 })
      .until(6 * minute)
    expect(order(job).at(-1)).toEqual(['SCHEDULE', 6])
    expect(job.until(7 * minute).state).toMatchObject({ waiting: false, skipped: 1 })
  })
  it('runs at least once for each run of a backfill whose runs are longer than the interval', () => {
    const job = begun({ catchUp: 'LATEST', overlap: 'SKIP' })
    for (let runNo = 1; job.state.backfill !== null; runNo++)
      job
        .until(job.now + 1.5 * minute)
        .report('SUCCEEDED', { runNo })
        .until(job.now)
    const triggers = order(job).map(([trigger]) => trigger)
    expect(triggers.filter((trigger) => trigger === 'BACKFILL')).toHaveLength(5)
    expect(triggers.some((trigger, index) => trigger === 'BACKFILL' && triggers[index + 1] === 'BACKFILL')).toBe(false)
  })
  it('uses one slot; the backfill has the others', () => {
    const job = begun({ maxConcurrentRuns: 2 }).until(6 * minute)
    job.report('SUCCEEDED', { runNo: 1 }).report('SUCCEEDED', { runNo: 2 }).until(job.now)
    expect(order(job).slice(2)).toEqual([
      ['BACKFILL', 2],
      ['SCHEDULE', 6],
    ])
  })
  it('takes no slot before its jitter is over', () => {
    const job = begun({ jitterMs: 50_000 })
    const { nextFireAt, nextDueAt } = job.state
    expect((nextDueAt ?? 0) - (nextFireAt ?? 0)).toBeGreaterThan(1_000)
    job.until((nextFireAt ?? 0) + 1).report('SUCCEEDED')
    expect(order(job)).toEqual([
      ['BACKFILL', 0],
      ['BACKFILL', 1],
    ])
  })
  it('and does not run after all releases its slot', () => {
    // The last run ends when the next occurrence becomes due, so late that catch-up omits the occurrence.
    const job = begun({ catchUp: 'SKIP', misfireThresholdMs: 0, overlap: 'SKIP' })
    job.now = 6 * minute + 1
    job.report('SUCCEEDED')
    expect(order(job)).toEqual([['BACKFILL', 0]])
    expect(order(job.until(job.now))).toEqual([
      ['BACKFILL', 0],
      ['BACKFILL', 1],
    ])
  })
})

describe('a blocked backfill', () => {
  const definition: Definition = { schedule: { everyMs: minute, anchor: 0 }, overlap: 'SKIP' }
  const begun = (): JobHistory => definedAt(5 * minute + 1, definition, false).command('BACKFILL', { from: 0, to: 5 * minute })
  it.each<[string, (job: JobHistory) => unknown, (job: JobHistory) => unknown]>([
    ['a command', (job) => job.command('PAUSE'), (job) => job.command('RESUME')],
    ['a definition', (job) => job.define({ ...definition, paused: true }), (job) => job.define(definition)],
    ['a definition that cannot be used', (job) => job.garble(), (job) => job.define(definition)],
  ])('by %s continues when that is over', (_, stop, goOn) => {
    const job = begun()
    stop(job)
    job.report('SUCCEEDED')
    expect(backfilled(job)).toEqual([0])
    goOn(job)
    expect(backfilled(job)).toEqual([0, minute])
  })
  it('from the beginning, of a job that is PAUSED, begins when it is resumed', () => {
    const job = definedAt(5 * minute + 1, { ...definition, paused: true }).command('BACKFILL', { from: 0, to: 2 * minute })
    expect(backfilled(job)).toEqual([])
    expect(backfilled(job.command('RESUME'))).toEqual([0, minute])
  })
  it('for good by the end of the job runs nothing more', () => {
    const job = begun().command('CANCEL')
    expect(job.state).toMatchObject({ backfill: null, active: [], status: 'COMPLETED' })
    expect(backfilled(job)).toEqual([0])
  })
})

describe('a backfill of a job whose definition is invalid', () => {
  it('waits until it is valid: nothing goes to a pool without topics', () => {
    let problem: string | undefined
    const job = new JobHistory({ poolProblem: () => problem })
    job.now = 5 * minute
    const every: Definition = { schedule: { everyMs: minute, anchor: 0 }, overlap: 'SKIP' }
    job.define(every).command('BACKFILL', { from: 0, to: 2 * minute })
    problem = 'It has no topics.'
    job.define({ ...every, target: { handler: 'noop', pool: 'none' } }).report('SUCCEEDED')
    expect(job.state).toMatchObject({ status: 'INVALID', active: [], backfill: { nextAt: minute } })
    problem = undefined
    job.until(job.state.recheckAt ?? 0)
    expect(backfilled(job)).toEqual([0, minute])
  })
})

describe('a backfill is refused', () => {
  it.each<[string, string, Definition, { from: number | null; to: number | null }]>([
    ['without a range', 'empty-range', {}, { from: null, to: null }],
    ['without an end', 'empty-range', {}, { from: 0, to: null }],
    ['for a range without an occurrence', 'empty-range', {}, { from: 1, to: minute }],
    ['for a range that ends before it begins', 'empty-range', {}, { from: 3 * minute, to: minute }],
    ['for a range ahead', 'empty-range', {}, { from: 6 * minute, to: 9 * minute }],
    ['for a range that no calendar holds', 'empty-range', { schedule: { cron: '* * * * *' } }, { from: 9e18, to: 9.1e18 }],
    ['for a range before all time', 'empty-range', { schedule: { cron: '* * * * *' } }, { from: -9e18, to: minute }],
    ['for an instant', 'does-not-recur', { schedule: { at: 1_000 } }, { from: 0, to: 5 * minute }],
    ['for a delay', 'does-not-recur', { schedule: { delayMs: 1_000 } }, { from: 0, to: 5 * minute }],
  ])('%s: %s', (_, reason, definition, range) => {
    const job = definedAt(5 * minute, { schedule: { everyMs: minute, anchor: 0 }, ...definition }).command('BACKFILL', range)
    expect(backfilled(job)).toEqual([])
    expect(job.state).toMatchObject({ backfill: null, decisions: [{ what: 'DROPPED', reason }] })
  })
  it('while another goes on', () => {
    const job = definedAt(5 * minute, { schedule: { everyMs: minute, anchor: 0 }, overlap: 'SKIP' }, false)
    job.command('BACKFILL', { from: 0, to: 2 * minute }).command('BACKFILL', { from: 2 * minute, to: 4 * minute })
    expect(job.state.decisions.at(-1)).toMatchObject({ what: 'DROPPED', reason: 'backfill-active' })
    job.report('SUCCEEDED').report('SUCCEEDED')
    expect(backfilled(job)).toEqual([0, minute])
  })
})

describe('a requested range', () => {
  const past = (more: Partial<JobDefinitionInput>, now = 100_000): JobHistory => {
    const job = new JobHistory()
    job.now = now
    return job.define({ maxConcurrentRuns: 9, ...more })
  }
  const nominal = (job: JobHistory): number[] => job.dispatched.map(({ scheduledFor }) => scheduledFor)
  it.each([
    [10_000, [10_250, 11_250]],
    [10_250, [10_250, 11_250]],
    [10_251, [11_250]],
  ])('has the grid of an interval whose anchor is later: from %d', (from, times) => {
    const job = past({ schedule: { everyMs: 1_000, anchor: 90_250 } }).command('BACKFILL', { from, to: 12_000 })
    expect(nominal(job)).toEqual(times)
  })
  it.each<[string, { from: number | null; to: number | null }]>([
    ['without a beginning', { from: null, to: 5_000 }],
    ['without an end', { from: 1_000, to: null }],
    ['that ends where it begins', { from: 5_000, to: 5_000 }],
    ['that ends before', { from: 6_000, to: 5_000 }],
    ['from before all time', { from: -1, to: 5_000 }],
    ['of the future', { from: 200_000, to: 300_000 }],
  ])('is refused %s', (_, range) => {
    const job = past({ schedule: { everyMs: 1_000, anchor: 0 } }).command('BACKFILL', range)
    expect([job.last.refusal, job.dispatched]).toEqual(['empty-range', []])
  })
  it('may use all slots of a job without future occurrences', () => {
    const job = past({ schedule: { everyMs: 1_000, anchor: 0 }, endAt: 50_000, maxConcurrentRuns: 2 })
    expect(nominal(job.command('BACKFILL', { from: 1_000, to: 9_000 }))).toEqual([1_000, 2_000])
  })
  it('begins a few megabytes at a time, and at least one run', () => {
    expect([0, 1_000_000, 3_000_000, 9_000_000].map(backfillRunsMax)).toEqual([4_194_304, 4, 1, 1])
    const job = past({ schedule: { everyMs: 1_000, anchor: 0 } })
    const spec = job.job.definition?.spec ?? expect.fail()
    job.definition({ spec, bytes: Buffer.alloc(1_000_000) }).command('BACKFILL', { from: 1_000, to: 9_000 })
    expect(nominal(job)).toEqual([1_000, 2_000, 3_000, 4_000])
  })
  it('waits while the job is paused, also without active runs, and then continues', () => {
    const job = past({ schedule: { everyMs: 1_000, anchor: 0 }, endAt: 101_000, maxConcurrentRuns: 1 })
    job.command('BACKFILL', { from: 1_000, to: 4_000 }).until(101_000).command('PAUSE').report('SUCCEEDED')
    expect(job.state).toMatchObject({ status: 'PAUSED', active: [], nextFireAt: 101_000, backfill: { nextAt: 2_000 } })
    job.command('RESUME').until(101_000).report('SUCCEEDED', { runNo: 2 })
    expect(nominal(job)).toEqual([1_000, 101_000, 2_000])
  })
  it('is dropped if the definition changes so that no backfill is possible, and the job says so', () => {
    const job = past({ schedule: { everyMs: 1_000, anchor: 0 }, maxConcurrentRuns: 2 }).command('BACKFILL', {
      from: 1_000,
      to: 9_000,
    })
    job.define({ schedule: { everyMs: 1_000, anchor: 0 }, target: { topic: { name: 'out' } } }).report('SUCCEEDED')
    expect(job.state.backfill).toBeNull()
    expect(job.state.decisions).toMatchObject([{ what: 'DROPPED', reason: 'topic-target' }])
  })
})
