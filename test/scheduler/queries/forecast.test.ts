import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { systemClock } from '../../../src/ground/clock/clock.ts'
import { slotWaitersMax } from '../../../src/ground/concurrency/semaphore.ts'
import { dueJobs, Forecasts } from '../../../src/scheduler/queries/due-jobs.ts'
import { forecast, forecastSampleMax, forecastSearchMax, forecastTimersMax } from '../../../src/scheduler/queries/forecast.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { stepsSpent } from '../../../streams/schedules/steps.ts'
import { definitionKey, definitionValue, timerKey, timerKind } from '../../../streams/state/keys.ts'
import { timersOf } from '../../../streams/state/timers.ts'
import { codecs } from '../../model/world.ts'
import { memoryStore } from '../../tools/memory-store.ts'

const now = Date.UTC(2030, 0, 1)
/** An idle process. */
const atOnce = { rest: () => new Promise<void>(setImmediate) }
const minute = 60_000

/** A store with these jobs, as their owner has them before any decision. */
async function storeOf(jobs: Iterable<readonly [id: string, schedule: JobDefinitionInput['schedule'], more?: object]>) {
  const store = memoryStore()
  const ops = []
  for (const [id, schedule, more = {}] of jobs) {
    const spec = completeDefinition({ schedule, target: { handler: 'noop' }, ...more })
    const definition = { offset: 0, appendedAt: now, bytes: codecs.definition.encode(spec), spec }
    ops.push({ key: definitionKey(id), value: definitionValue(definition) })
    for (const timer of timersOf({ id, definition })) ops.push({ key: timerKey(timer), value: Buffer.alloc(0) })
  }
  await store.apply(ops)
  return store
}
const range = { from: now, to: now + 10 * minute, bucketMs: minute }

describe('forecast', () => {
  it('counts the next occurrence of each job in its step, and overdue ones', async () => {
    const store = await storeOf([
      ['late', { at: now - 5 }],
      ['a', { at: now }],
      ['b', { at: now + minute - 1 }],
      ['c', { at: now + minute }],
      ['beyond', { at: now + 10 * minute }],
    ])
    const lease = timerKey({ dueAt: now + 1, kind: timerKind.lease, jobId: 'a', runNo: 1 })
    await store.apply([{ key: lease, value: Buffer.alloc(0) }])
    const counts = await forecast(store, codecs, range)
    expect(counts).toMatchObject({ overdue: 1, jobs: 3, sampled: 3, until: range.to, cut: false })
    expect(counts.next).toEqual([2, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    expect(counts.later).toEqual(Array(10).fill(0))
  })

  it('counts occurrences after the next one, up to maxRuns and expireAt', async () => {
    const store = await storeOf([
      ['each', { everyMs: 2 * minute }],
      ['thrice', { everyMs: minute }, { maxRuns: 3 }],
      ['soon over', { everyMs: minute }, { expireAt: now + 5 * minute }],
    ])
    const { next, later } = await forecast(store, codecs, range)
    expect(next).toEqual([0, 2, 1, 0, 0, 0, 0, 0, 0, 0])
    expect(later).toEqual([0, 0, 2, 2, 2, 0, 1, 0, 1, 0])
  })

  it('continues a job that recurs too often for its share at its rate', async () => {
    const store = await storeOf(
      Array.from(
        { length: forecastSampleMax },
        (_, index) => [`j${index}`, { rrule: 'FREQ=SECONDLY', dtstart: now - index * 1_000 }] as const,
      ),
    )
    const { later, cut } = await forecast(store, codecs, range)
    expect(cut).toBe(true)
    const total = later.reduce((sum, count) => sum + count, 0)
    expect(total).toBeGreaterThan(598 * forecastSampleMax * 0.9)
    expect(total).toBeLessThan(598 * forecastSampleMax * 1.1)
  })

  it('uses a sample if there are many jobs', async () => {
    const jobs = Array.from({ length: 5 * forecastSampleMax }, (_, index) => [`j${index}`, { everyMs: 5 * minute - 1 }] as const)
    const { later, jobs: counted, sampled } = await forecast(await storeOf(jobs), codecs, range)
    expect([counted, sampled]).toEqual([5 * forecastSampleMax, forecastSampleMax])
    expect(later.reduce((sum, count) => sum + count, 0)).toBeCloseTo(5 * forecastSampleMax)
  })

  it('gives the same answer again while nothing changes, although the timers of frequent jobs move on', async () => {
    // Most jobs are rare. A few are so frequent that they make most of the occurrences.
    const rare = Array.from(
      { length: 5 * forecastSampleMax },
      (_, index) => [`rare-${index}`, { cron: `${index % 60} * * * *` }] as const,
    )
    const frequent = Array.from({ length: 20 }, (_, index) => [`frequent-${index}`, { everyMs: 1_000 + index }] as const)
    const store = await storeOf([...rare, ...frequent])
    const day = { from: now, to: now + 24 * 60 * minute, bucketMs: 60 * minute }
    const totals: number[] = []
    for (let seconds = 0; seconds < 5; seconds++) {
      const { next, later, sampled } = await forecast(store, codecs, day, atOnce)
      expect(sampled).toBe(forecastSampleMax)
      const exact = Array.from(
        { length: 24 },
        () => rare.length + frequent.reduce((sum, [, { everyMs }]) => sum + (60 * minute) / everyMs, 0),
      )
      for (const [hour, count] of exact.entries()) {
        const found = (next[hour] ?? 0) + (later[hour] ?? 0)
        expect(Math.abs(found / count - 1), `hour ${hour}`).toBeLessThan(0.02)
      }
      totals.push(later.reduce((sum, count) => sum + count, 0))
      // Each frequent job has fired: its timer is elsewhere among the timers of the others.
      await store.apply(
        frequent.flatMap(([id], index) => {
          const timer = (at: number) => timerKey({ dueAt: at, kind: timerKind.fire, jobId: id, runNo: 0 })
          const at = now + (seconds + 1) * (1_000 + index)
          return [
            { key: timer(at), value: null },
            { key: timer(at + 1_000 + index), value: Buffer.alloc(0) },
          ]
        }),
      )
    }
    expect(new Set(totals.map(Math.round)).size).toBe(1)
  })

  it('reports how far it came if there is too much', async () => {
    const store = memoryStore()
    const value = Buffer.alloc(0)
    const timers = Array.from({ length: forecastTimersMax + 10 }, (_, index) => ({
      key: timerKey({ dueAt: now + index, kind: timerKind.fire, jobId: `j${index}`, runNo: 0 }),
      value,
    }))
    await store.apply(timers)
    const { until, jobs } = await forecast(store, codecs, range)
    expect(until).toBe(now + forecastTimersMax - 1)
    expect(jobs).toBe(forecastTimersMax - 1)
  })
})

/** One tick a second would hide all others. Each job has another tag, handler or pool. */
const filtered = [
  ['tick', { everyMs: 1_000 }, { tags: ['noise'] }],
  ['minutely', { cron: '* * * * *', timezone: 'UTC' }, { tags: ['a'] }],
  ['hourly', { cron: '4 * * * *', timezone: 'UTC' }, { tags: ['a'], target: { handler: 'report' } }],
  ['once', { at: now + 4 * minute }, { target: { handler: 'noop', pool: 'slow' } }],
  ['last', { everyMs: minute }, { maxRuns: 1, tags: ['b'] }],
] as const

describe('a forecast with a filter', () => {
  it.each([
    [{ tag: 'a' }, [0, 1, 1, 1, 2, 1, 1, 1, 1, 1]],
    [{ handler: 'report' }, [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]],
    [{ pool: 'slow' }, [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]],
    [{ tag: 'a', pool: 'slow' }, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    [{ periodMsMin: minute }, [0, 2, 1, 1, 3, 1, 1, 1, 1, 1]],
    [{ periodMsMin: minute + 1 }, [0, 1, 0, 0, 2, 0, 0, 0, 0, 0]],
  ])('%j counts only its jobs', async (filter, expected) => {
    const { next, later, jobs, sampled } = await forecast(await storeOf(filtered), codecs, { ...range, ...filter }, atOnce)
    expect(next.map((count, bucket) => count + (later[bucket] ?? 0))).toEqual(expected)
    expect(sampled).toBe(jobs)
  })

  it('is estimated from a sample if there are many jobs', async () => {
    const many = Array.from(
      { length: 5 * forecastSampleMax },
      (_, index) => [`j${index}`, { at: now + minute }, { tags: [index % 4 === 0 ? 'wanted' : 'other'] }] as const,
    )
    const { next, jobs, sampled } = await forecast(await storeOf(many), codecs, { ...range, tag: 'wanted' }, atOnce)
    expect(sampled).toBeLessThan(jobs)
    expect(Math.abs((next[1] ?? 0) / ((5 * forecastSampleMax) / 4) - 1)).toBeLessThan(0.1)
    expect(jobs).toBeCloseTo(next[1] ?? 0)
  })
})

describe('a forecast of expensive rules', () => {
  /** Each time needs a search through a year, and there is one time each day. */
  const places = Array.from({ length: 366 }, (_, place) => place + 1).join(',')
  const dear = (index: number) => ({
    rrule: `FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=${index % 24};BYMINUTE=${index % 60};BYSETPOS=${places}`
      .slice(0, 1_020)
      .replace(/,\d*$/, ''),
    timezone: 'UTC',
    dtstart: now,
  })
  const decade = { from: now, to: now + 3_653 * 86_400_000, bucketMs: 3_653 * 86_400 * 1_000 }

  it.each([1, 10, forecastSampleMax])(
    'of %i jobs uses a limited number of steps, and leaves the event loop to others',
    async (count) => {
      const store = await storeOf(Array.from({ length: count }, (_, index) => [`j${index}`, dear(index)] as const))
      const before = stepsSpent()
      let [last, most, goesOn] = [before, 0, true]
      const look = (): void => {
        most = Math.max(most, stepsSpent() - last)
        last = stepsSpent()
        if (goesOn) setImmediate(look)
      }
      setImmediate(look)
      const { cut, later } = await forecast(store, codecs, decade, atOnce)
      goesOn = false
      expect(cut).toBe(true)
      expect(later.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(1_000 * count)
      expect(stepsSpent() - before).toBeLessThan(2 * forecastSearchMax)
      expect(most).toBeLessThan(forecastSearchMax / 4)
    },
  )

  it('pauses after each piece in proportion to the load of the process', async () => {
    const store = await storeOf(Array.from({ length: 20 }, (_, index) => [`job-${index}`, dear(index)] as const))
    const used: number[] = []
    const spare = { rest: async (ms: number) => void used.push(ms) }
    const before = stepsSpent()
    await forecast(store, codecs, decade, spare)
    expect(stepsSpent() - before).toBeGreaterThan(500_000)
    expect(used).not.toEqual([])
  })

  it('runs one at a time, and at most a fixed number wait', async () => {
    const store = await storeOf([['one', dear(0)]])
    const forecasts = new Forecasts(codecs, systemClock, atOnce)
    let [activeRuns, most] = [0, 0]
    const scan: typeof store.scan = async (asked) => {
      most = Math.max(most, ++activeRuns)
      const found = await store.scan(asked)
      activeRuns--
      return found
    }
    const counted = () => ({ ...store, get: store.get.bind(store), scan })
    const range = { from: now, to: now + minute, bucketMs: minute }
    const asked = Array.from({ length: slotWaitersMax + 1 }, () => forecasts.of(counted, range))
    await expect(forecasts.of(counted, range)).rejects.toMatchObject({ code: 'overloaded' })
    await Promise.all(asked)
    expect(most).toBe(1)
  })
})

describe('a range that begins years later', () => {
  it('is estimated without a look at each of its milliseconds', async () => {
    const store = await storeOf([['each', { cron: '* * * * *', timezone: 'UTC' }]])
    const from = now + 9 * 365 * 1_440 * minute
    const hour = await dueJobs(store, codecs, { from, to: from + 60 * minute, limit: 1 }, atOnce)
    expect(hour).toMatchObject({ jobs: [{ id: 'each', count: 60 }], complete: false })
    expect(await dueJobs(store, codecs, { from, to: from + 1, limit: 1 }, atOnce)).toMatchObject({ complete: false })
  })
})

describe('the jobs that are due in a range', () => {
  const inside = { from: now + 10 * minute, to: now + 12 * minute, limit: 10 }

  it('are those whose next or a later occurrence is in it, with the first and the number', async () => {
    const store = await storeOf([
      ['late', { at: now - 5 }],
      ['before', { at: now + 10 * minute - 1 }],
      ['at the start', { at: now + 10 * minute }],
      ['at the end', { at: now + 12 * minute }],
      ['each', { everyMs: minute }],
      ['hourly', { cron: '11 * * * *', timezone: 'UTC' }],
      ['yearly', { cron: '0 5 1 7 *', timezone: 'UTC' }],
      ['thrice', { everyMs: minute }, { maxRuns: 3 }],
      ['soon over', { everyMs: minute }, { expireAt: now + 5 * minute }],
    ])
    const due = await dueJobs(store, codecs, inside, atOnce)
    expect(due).toEqual({
      jobs: [
        { id: 'at the start', at: now + 10 * minute, count: 1 },
        { id: 'hourly', at: now + 11 * minute, count: 1 },
        { id: 'each', at: now + 10 * minute, count: 2 },
      ],
      found: 3,
      complete: true,
    })
    expect((await dueJobs(store, codecs, { ...inside, limit: 1 }, atOnce)).jobs).toHaveLength(1)
  })

  it('are those of a filter, the rarest first', async () => {
    const store = await storeOf(filtered)
    const listed = async (filter: object) => {
      const { jobs, found } = await dueJobs(store, codecs, { from: now, to: now + 10 * minute, limit: 10, ...filter }, atOnce)
      expect(found).toBe(jobs.length)
      return jobs.map(({ id }) => id)
    }
    expect(await listed({})).toEqual(['last', 'hourly', 'once', 'minutely', 'tick'])
    expect(await listed({ tag: 'a' })).toEqual(['hourly', 'minutely'])
    expect(await listed({ handler: 'noop', periodMsMin: minute })).toEqual(['last', 'once', 'minutely'])
    expect(await listed({ periodMsMin: minute + 1 })).toEqual(['last', 'hourly', 'once'])
  })

  it('say that some may be missing when there are too many to look at', async () => {
    const many = Array.from({ length: forecastSampleMax + 1 }, (_, index) => [`j${index}`, { everyMs: minute }] as const)
    const store = await storeOf([...many, ['inside', { at: now + 11 * minute }]])
    const due = await dueJobs(store, codecs, { ...inside, limit: 500 }, atOnce)
    expect(due).toMatchObject({ found: forecastSampleMax, complete: false })
    expect(due.jobs).toHaveLength(500)
    expect(
      (await dueJobs(store, codecs, { ...inside, from: now + 11 * minute, limit: 500 }, atOnce)).jobs.map(({ id }) => id),
    ).toContain('inside')
  })
})
