/** The n-th last occurrence equals the result of a walk from the first occurrence, for any schedule. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countFires, nthLatestFire, occurrences, type ScheduleSource } from '../../../streams/schedules/next-fire.ts'
import { iso, ms, repeated, source } from './samples.ts'

const walked = (definition: ScheduleSource, appendedAt: number, after: number, notAfter: number): number[] => [
  ...occurrences(definition, appendedAt, { from: after + 1, to: notAfter + 1, max: 3_000 }),
]

describe('the n-th last occurrence', () => {
  const rank = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 61, max: 3_000 }))
  const spanMs = fc.integer({ min: 0, max: 45 * 86_400_000 })
  it('is found for every kind of schedule, or there are fewer', () => {
    fc.assert(
      fc.property(repeated(), spanMs, rank, ({ definition, appendedAt, after }, span, n) => {
        const all = walked(definition, appendedAt, after, after + span)
        fc.pre(all.length < 3_000)
        expect(iso(nthLatestFire(definition, appendedAt, after, after + span, n))).toBe(iso(all.at(-n) ?? null))
      }),
      { numRuns: 600 },
    )
  })
  const start = ms('2026-03-01T00:00:00Z')
  it.each<[string, Parameters<typeof source>[0], n: number, expected: string]>([
    ['of seconds', { cron: '* * * * * *' }, 100_000, '2027-03-30T20:13:21.000Z'],
    [
      'of seconds on working days, over two changes of the clock',
      { cron: '* * * * * MON-FRI', timezone: 'Europe/Paris' },
      10_000_000,
      '2026-10-21T06:13:21.000Z',
    ],
    ['of every other second', { rrule: 'FREQ=SECONDLY;INTERVAL=2', dtstart: start }, 100_000, '2027-03-29T16:26:42.000Z'],
    ['of an interval', { everyMs: 100, anchor: 0 }, 100_000, '2027-03-31T21:13:20.100Z'],
  ])('is found far behind many: %s', (_, schedule, n, expected) => {
    const definition = source(schedule)
    const now = ms('2027-04-01T00:00:00Z')
    const found = nthLatestFire(definition, start, start, now, n)
    expect(iso(found)).toBe(expected)
    expect(countFires(definition, start, (found ?? 0) - 1, now)).toBe(n)
  })
})

describe('the count of a rule that is no set of times on a set of days', () => {
  const hours = Array.from({ length: 24 }, (_, hour) => hour).join(',')
  it.each([
    'FREQ=SECONDLY;INTERVAL=2;BYMINUTE=1,59',
    'FREQ=SECONDLY;INTERVAL=7;BYHOUR=0,9,23;BYSECOND=0,1,2,3,30,59',
    'FREQ=SECONDLY;INTERVAL=4999;BYDAY=MO,TU',
    'FREQ=MINUTELY;INTERVAL=7;BYHOUR=22,23;BYSECOND=0,30',
    'FREQ=HOURLY;INTERVAL=5;BYMINUTE=0,10,59;BYMONTHDAY=1,2,28',
    `FREQ=DAILY;BYHOUR=${hours};BYMINUTE=0,20;BYSETPOS=1,2,3,30,-1`,
    'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9,10;BYSETPOS=2,-1',
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU;BYHOUR=1,2,3;BYSETPOS=-2,1',
  ])('equals that of a walk, for any beginning and end: %s', (rrule) => {
    const start = ms('2026-01-01T10:20:30Z')
    const near = fc.integer({ min: -3_000, max: 60 * 86_400_000 })
    fc.assert(
      fc.property(
        near,
        fc.integer({ min: 0, max: 3 * 86_400_000 }),
        fc.constantFrom('UTC', 'Europe/Paris'),
        (away, span, timezone) => {
          const definition = source({ rrule, timezone, dtstart: start })
          const from = start + away
          const count = countFires(definition, start - 1, from, from + span)
          expect(count).toBe([...occurrences(definition, start - 1, { from: from + 1, to: from + span + 1 })].length)
          expect(countFires(definition, start - 1, from, from + span, 5)).toBe(Math.min(count, 5))
        },
      ),
      { numRuns: 20 },
    )
  })
})
