import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  countFires,
  firstFire,
  latestFire,
  nextFire,
  nextFireAfterEnd,
  nextFireUnbounded,
  occurrences,
} from '../../../streams/schedules/next-fire.ts'
import { stepsSpent } from '../../../streams/schedules/steps.ts'
import { iso, iterated, ms, repeated, source } from './samples.ts'

const appendedAt = ms('2025-06-01T10:00:00.250Z')
const hour = 3_600_000
const day = 24 * hour

describe('a schedule of one run', () => {
  it('is due at its instant, also when that has passed', () => {
    expect(firstFire(source({ at: appendedAt + 5 }), appendedAt)).toBe(appendedAt + 5)
    expect(firstFire(source({ at: 0 }), appendedAt)).toBe(0)
  })
  it('counts a delay from the append time', () => {
    expect(firstFire(source({ delayMs: 1500 }), appendedAt)).toBe(appendedAt + 1500)
    expect(firstFire(source({ delayMs: 0 }), appendedAt)).toBe(appendedAt)
  })
  it('has no second run', () => {
    expect(nextFire(source({ at: 1000 }), appendedAt, 999)).toBe(1000)
    expect(nextFire(source({ at: 1000 }), appendedAt, 1000)).toBeNull()
    expect(nextFire(source({ delayMs: 0 }), appendedAt, appendedAt)).toBeNull()
  })
  it('has no run outside startAt and endAt', () => {
    expect(firstFire(source({ at: 1000 }, { startAt: 1001 }), appendedAt)).toBeNull()
    expect(firstFire(source({ at: 1000 }, { startAt: 1000, endAt: 1000 }), appendedAt)).toBe(1000)
    expect(firstFire(source({ delayMs: 10 }, { endAt: appendedAt + 9 }), appendedAt)).toBeNull()
  })
  it('is found as the latest and counted once', () => {
    expect(latestFire(source({ at: 1000 }), appendedAt, 0, 1000)).toBe(1000)
    expect(latestFire(source({ at: 1000 }), appendedAt, 0, 999)).toBeNull()
    expect(latestFire(source({ at: 1000 }), appendedAt, 1000, 2000)).toBeNull()
    expect(countFires(source({ at: 1000 }), appendedAt, 0, 1000, 5)).toBe(1)
    expect(countFires(source({ at: 1000 }), appendedAt, 0, 1000, 0)).toBe(0)
  })
})

describe('an interval', () => {
  it('first fires one interval after the append time', () => {
    expect(firstFire(source({ everyMs: 60_000 }), appendedAt)).toBe(appendedAt + 60_000)
    expect(nextFire(source({ everyMs: 60_000 }), appendedAt, appendedAt + 60_000)).toBe(appendedAt + 120_000)
  })
  it('is aligned to a past anchor and fires strictly after the append time', () => {
    const hourly = source({ everyMs: 3_600_000, anchor: ms('2020-01-01T00:30:00Z') })
    expect(iso(firstFire(hourly, appendedAt))).toBe('2025-06-01T10:30:00.000Z')
    expect(iso(firstFire(hourly, ms('2025-06-01T10:30:00Z')))).toBe('2025-06-01T11:30:00.000Z')
  })
  it('first fires at a future anchor itself', () => {
    const anchor = appendedAt + 10 * day
    expect(firstFire(source({ everyMs: 1000, anchor }), appendedAt)).toBe(anchor)
    expect(nextFire(source({ everyMs: 1000, anchor }), appendedAt, anchor)).toBe(anchor + 1000)
  })
  it('counts from startAt and first fires at it when it has no anchor', () => {
    const startAt = appendedAt + 5000
    expect(firstFire(source({ everyMs: 60_000 }, { startAt }), appendedAt)).toBe(startAt)
    expect(firstFire(source({ everyMs: 60_000 }, { startAt: appendedAt }), appendedAt)).toBe(appendedAt)
  })
  it('does not catch up for a startAt in the past', () => {
    expect(firstFire(source({ everyMs: 60_000 }, { startAt: appendedAt - 90_000 }), appendedAt)).toBe(appendedAt + 30_000)
  })
  it('keeps its anchor when startAt falls between two runs', () => {
    const definition = source({ everyMs: 60_000, anchor: 0 }, { startAt: ms('2025-06-02T00:00:30Z') })
    expect(iso(firstFire(definition, appendedAt))).toBe('2025-06-02T00:01:00.000Z')
  })
  it('fires at endAt and never after it', () => {
    const definition = source({ everyMs: 1000 }, { endAt: appendedAt + 2000 })
    expect(iterated(definition, appendedAt, appendedAt, 9)).toEqual([appendedAt + 1000, appendedAt + 2000])
  })
  it('from END, fires one interval after the end of the run, within the window', () => {
    const definition = source({ everyMs: 1000, from: 'END' }, { endAt: appendedAt + 10_000 })
    expect(firstFire(definition, appendedAt)).toBe(appendedAt + 1000)
    expect(nextFireAfterEnd(definition, appendedAt + 7321)).toBe(appendedAt + 8321)
    expect(nextFireAfterEnd(definition, appendedAt + 9001)).toBeNull()
    expect(nextFireAfterEnd(source({ cron: '* * * * *' }), appendedAt)).toBeNull()
  })
  it('leaves out exdates that are on its grid, in every question', () => {
    const [first, second, third] = [1, 2, 3].map((step) => appendedAt + step * 60_000) as [number, number, number]
    const definition = source({ everyMs: 60_000, exdates: [second, first, second + 1, third + 60_000] })
    expect(firstFire(definition, appendedAt)).toBe(third)
    expect(iterated(definition, appendedAt, appendedAt, 2)).toEqual([third, third + 120_000])
    expect(latestFire(definition, appendedAt, appendedAt, third + 60_000)).toBe(third)
    expect(latestFire(definition, appendedAt, appendedAt, second)).toBeNull()
    expect(countFires(definition, appendedAt, appendedAt, third + 120_000)).toBe(2)
    expect(countFires(definition, appendedAt + 30_000, appendedAt, third + 120_000)).toBe(4)
  })
  it('has no time that a Date cannot represent', () => {
    expect(nextFire(source({ everyMs: 315_360_000_000, anchor: 0 }), 0, 8_640_000_000_000_000)).toBeNull()
    expect(firstFire(source({ delayMs: 1 }), 8_640_000_000_000_000)).toBeNull()
  })
  it('finds and counts the missed runs of ten thousand years', () => {
    const definition = source({ everyMs: 100, anchor: 0 })
    expect(latestFire(definition, 0, 0, 315_360_000_000_050)).toBe(315_360_000_000_000)
    expect(countFires(definition, 0, 0, 315_360_000_000_050)).toBe(3_153_600_000_000)
    expect(countFires(definition, 0, 0, 315_360_000_000_050, 100)).toBe(100)
  })
})

describe('a cron schedule', () => {
  it('fires strictly after the append time, in its zone', () => {
    const definition = source({ cron: '0 9 * * MON-FRI', timezone: 'Europe/Paris' })
    expect(iso(firstFire(definition, appendedAt))).toBe('2025-06-02T07:00:00.000Z')
    expect(iso(firstFire(definition, ms('2025-06-02T07:00:00Z')))).toBe('2025-06-03T07:00:00.000Z')
    expect(iso(firstFire(definition, ms('2025-06-02T06:59:59.999Z')))).toBe('2025-06-02T07:00:00.000Z')
  })
  it('leaves out exdates, in every question', () => {
    const [first, second] = [ms('2025-06-02T07:00:00Z'), ms('2025-06-03T07:00:00Z')]
    const definition = source({ cron: '0 9 * * MON-FRI', timezone: 'Europe/Paris', exdates: [second, first, second + hour] })
    expect(iso(firstFire(definition, appendedAt))).toBe('2025-06-04T07:00:00.000Z')
    expect(latestFire(definition, appendedAt, appendedAt, second)).toBeNull()
    expect(iso(latestFire(definition, appendedAt, 0, second))).toBeNull()
    expect(countFires(definition, appendedAt, appendedAt, ms('2025-06-07T00:00:00Z'))).toBe(3)
    expect(iso(nextFireUnbounded(definition, appendedAt, first - 4 * day))).toBe('2025-05-30T07:00:00.000Z')
  })
  it('fires at startAt when it is a match, and at none before', () => {
    const startAt = ms('2025-06-10T00:00:00Z')
    expect(firstFire(source({ cron: '@daily' }, { startAt }), appendedAt)).toBe(startAt)
    expect(iso(firstFire(source({ cron: '@daily' }, { startAt: startAt + 1 }), appendedAt))).toBe('2025-06-11T00:00:00.000Z')
  })
  it('ends with endAt', () => {
    expect(firstFire(source({ cron: '@daily' }, { endAt: ms('2025-06-01T23:59:59Z') }), appendedAt)).toBeNull()
    expect(iso(firstFire(source({ cron: '@daily' }, { endAt: ms('2025-06-02T00:00:00Z') }), appendedAt))).toBe(
      '2025-06-02T00:00:00.000Z',
    )
  })
  it('finds the latest of a year of missed seconds, and counts them', () => {
    const definition = source({ cron: '* * * * * *', timezone: 'America/New_York' })
    const from = ms('2025-01-01T00:00:00Z')
    const until = ms('2026-01-01T00:00:00.500Z')
    expect(iso(latestFire(definition, from, from, until))).toBe('2026-01-01T00:00:00.000Z')
    expect(countFires(definition, from, from, until)).toBe(365 * 86_400)
    expect(countFires(definition, from, from, until, 1000)).toBe(1000)
  })
  it('has no occurrence beyond the year 3000', () => {
    expect(firstFire(source({ cron: '@daily' }), 8_640_000_000_000_000)).toBeNull()
    expect(iso(latestFire(source({ cron: '@yearly' }), 0, 0, 8_640_000_000_000_000))).toBe('2999-01-01T00:00:00.000Z')
  })
  it('throws if it was never valid', () => {
    expect(() => firstFire(source({ cron: 'never' }), appendedAt)).toThrow(RangeError)
    expect(() => firstFire(source({ cron: '@daily', timezone: 'Mars/Olympus' }), appendedAt)).toThrow(RangeError)
    expect(() => countFires(source({ cron: 'never' }), appendedAt, 0, appendedAt * 2)).toThrow(RangeError)
  })
})

describe('every repeated schedule', () => {
  it('gives ever later times, each inside its window', () => {
    fc.assert(
      fc.property(repeated(), ({ definition, appendedAt, after }) => {
        const found = iterated(definition, appendedAt, after, 12)
        let before = after
        for (const at of found) {
          expect(at).toBeGreaterThan(before)
          expect(at).toBeGreaterThanOrEqual(definition.startAt ?? 0)
          expect(at).toBeLessThanOrEqual(definition.endAt ?? Number.POSITIVE_INFINITY)
          expect(Number.isSafeInteger(at)).toBe(true)
          before = at
        }
      }),
      { numRuns: 800 },
    )
  })
  it('has the same next time from every instant between two of its times', () => {
    fc.assert(
      fc.property(repeated(), fc.double({ min: 0, max: 1, noNaN: true }), ({ definition, appendedAt, after }, share) => {
        const [first, second] = iterated(definition, appendedAt, after, 2)
        if (first === undefined || second === undefined) return
        const between = Math.min(second - 1, Math.floor(first + share * (second - first)))
        expect(nextFire(definition, appendedAt, between)).toBe(second)
        expect(nextFire(definition, appendedAt, second - 1)).toBe(second)
      }),
      { numRuns: 800 },
    )
  })
  it('agrees on the latest and the count with iteration', () => {
    fc.assert(
      fc.property(repeated(), fc.nat(30), fc.nat(999), ({ definition, appendedAt, after }, steps, more) => {
        const found = iterated(definition, appendedAt, after, steps + 1)
        const until = (found.at(-1) ?? after + 1000) + (found.length > steps ? 0 : more)
        expect(latestFire(definition, appendedAt, after, until)).toBe(found.at(-1) ?? null)
        expect(countFires(definition, appendedAt, after, until)).toBe(found.length)
        expect(countFires(definition, appendedAt, after, until, 3)).toBe(Math.min(3, found.length))
        expect(latestFire(definition, appendedAt, after, after)).toBeNull()
      }),
      { numRuns: 1500 },
    )
  })
  it('lists the same times lazily, and days next to each other share none', () => {
    fc.assert(
      fc.property(repeated(), ({ definition, appendedAt, after }) => {
        const to = after + day
        const some = [...occurrences(definition, appendedAt, { from: after + 1, to, max: 20 })]
        expect(some).toEqual(iterated(definition, appendedAt, after, 20).filter((at) => at < to))
      }),
      { numRuns: 200 },
    )
  })
})

describe('an expensive rule', () => {
  const rare = () =>
    source({
      rrule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;BYHOUR=3;BYMINUTE=0;BYSECOND=0',
      dtstart: Date.UTC(2000, 0, 1),
    })
  const stepsOf = (task: () => unknown): number => {
    const before = stepsSpent()
    task()
    return stepsSpent() - before
  }

  it('is searched for its first time once for each append time', () => {
    const definition = rare()
    const first = firstFire(definition, appendedAt)
    expect(first).not.toBeNull()
    expect(stepsOf(() => expect(firstFire(definition, appendedAt)).toBe(first))).toBe(0)
    const later = appendedAt + 100 * 365 * day
    expect(firstFire(definition, later)).toBe(firstFire(rare(), later))
    expect(firstFire(definition, later)).not.toBe(first)
  })

  it('is not built again, with all its exclusions, for each of its times', () => {
    const exdates = Array.from({ length: 1_000 }, (_, index) => Date.UTC(2030, 0, 1 + 2 * index, 3))
    let written = 0
    const counted = Object.assign([...exdates], {
      toJSON() {
        written++
        return exdates
      },
    })
    const definition = source({
      rrule: 'FREQ=DAILY;BYHOUR=3;BYMINUTE=0;BYSECOND=0',
      exdates: counted,
      dtstart: Date.UTC(2030, 0, 1, 3),
    })
    expect([...occurrences(definition, appendedAt, { max: 500 })]).toHaveLength(500)
    expect(written).toBeLessThanOrEqual(1)
    // The same for another schedule, which must not use the result of the first.
    const other = { ...definition, schedule: { ...definition.schedule, exdates: [] } }
    expect(nextFire(other, appendedAt, exdates[0] ?? 0)).toBe((exdates[0] ?? 0) + day)
    expect(nextFire(other, appendedAt, Number.NEGATIVE_INFINITY)).toBe(exdates[0])
    expect(nextFire(definition, appendedAt, Number.NEGATIVE_INFINITY)).toBe((exdates[0] ?? 0) + day)
  })
})
