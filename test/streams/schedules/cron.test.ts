import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cronProblem } from '../../../streams/schedules/cron.ts'
import { countFires, nextFire } from '../../../streams/schedules/next-fire.ts'
import { iso, ms, source } from './samples.ts'

const nextCron = (cron: string, timezone: string, after: number): number | null =>
  nextFire(source({ cron, timezone }), after, after)

/** Occurrences after `from`, as ISO 8601. Seconds are omitted if all of them are zero. */
function fires(expression: string, timezone: string, from: string, count: number): string[] {
  const found: string[] = []
  let at: number | null = ms(from)
  while (found.length < count) {
    at = nextCron(expression, timezone, at)
    if (at === null) break
    found.push((iso(at) ?? '').replace(':00.000Z', 'Z'))
  }
  return found
}

describe('daylight saving', () => {
  const table: [string, string, string, string, string[]][] = [
    [
      'a fixed time in a gap fires once, right after it',
      '30 2 * * *',
      'Europe/Paris',
      '2025-03-29T12:00:00Z',
      ['2025-03-30T01:00Z', '2025-03-31T00:30Z'],
    ],
    [
      'a fixed time that exists twice fires at the first',
      '30 2 * * *',
      'Europe/Paris',
      '2025-10-25T12:00:00Z',
      ['2025-10-26T00:30Z', '2025-10-27T01:30Z'],
    ],
    [
      'a time in a gap that becomes another time is one run',
      '0 1,2,3 * * *',
      'Europe/Paris',
      '2025-03-29T22:00:00Z',
      ['2025-03-30T00:00Z', '2025-03-30T01:00Z', '2025-03-30T23:00Z'],
    ],
    [
      'each of some times fires once in a repeated hour',
      '0 1,2 * * *',
      'Europe/Paris',
      '2025-10-25T20:00:00Z',
      ['2025-10-25T23:00Z', '2025-10-26T00:00Z', '2025-10-27T00:00Z'],
    ],
    [
      'what names every hour fires again in a repeated one',
      '30 * * * *',
      'Europe/Paris',
      '2025-10-25T23:00:00Z',
      ['2025-10-25T23:30Z', '2025-10-26T00:30Z', '2025-10-26T01:30Z', '2025-10-26T02:30Z'],
    ],
    [
      'what names every hour has no run in a gap',
      '30 * * * *',
      'Europe/Paris',
      '2025-03-30T00:00:00Z',
      ['2025-03-30T00:30Z', '2025-03-30T01:30Z'],
    ],
    [
      'half-hourly runs go on evenly through a gap',
      '*/30 * * * *',
      'Europe/Paris',
      '2025-03-30T00:00:00Z',
      ['2025-03-30T00:30Z', '2025-03-30T01:00Z', '2025-03-30T01:30Z'],
    ],
    [
      'New York, into summer',
      '30 2 * * *',
      'America/New_York',
      '2025-03-08T12:00:00Z',
      ['2025-03-09T07:00Z', '2025-03-10T06:30Z'],
    ],
    [
      'New York, out of summer',
      '30 1 * * *',
      'America/New_York',
      '2025-11-01T12:00:00Z',
      ['2025-11-02T05:30Z', '2025-11-03T06:30Z'],
    ],
    [
      'Lord Howe moves by half an hour: gap',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2025-10-04T00:00:00Z',
      ['2025-10-04T15:30Z', '2025-10-05T15:15Z'],
    ],
    [
      'Lord Howe moves by half an hour: overlap',
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2025-04-05T00:00:00Z',
      ['2025-04-05T14:45Z', '2025-04-06T15:15Z'],
    ],
    [
      'Casablanca turns back for Ramadan',
      '30 2 * * *',
      'Africa/Casablanca',
      '2025-02-22T12:00:00Z',
      ['2025-02-23T01:30Z', '2025-02-24T02:30Z'],
    ],
    [
      'Casablanca turns forward after Ramadan',
      '30 2 * * *',
      'Africa/Casablanca',
      '2025-04-05T12:00:00Z',
      ['2025-04-06T02:00Z', '2025-04-07T01:30Z'],
    ],
    [
      'Samoa skipped a whole day; its run was due as the next began',
      '0 12 * * *',
      'Pacific/Apia',
      '2011-12-29T00:00:00Z',
      ['2011-12-29T22:00Z', '2011-12-30T10:00Z', '2011-12-30T22:00Z'],
    ],
  ]
  it.each(table)('%s', (_, expression, timezone, from, expected) => {
    expect(fires(expression, timezone, from, expected.length)).toEqual(expected)
  })
})

describe('the calendar', () => {
  const table: [string, string, string, string[]][] = [
    ['leap days', '0 0 29 2 *', '2095-01-01T00:00:00Z', ['2096-02-29T00:00Z', '2104-02-29T00:00Z']],
    ['the 31st leaves short months out', '0 0 31 * *', '2025-01-31T00:00:00Z', ['2025-03-31T00:00Z', '2025-05-31T00:00Z']],
    [
      'L is the last day of the month',
      '0 0 L * *',
      '2028-01-30T00:00:00Z',
      ['2028-01-31T00:00Z', '2028-02-29T00:00Z', '2028-03-31T00:00Z'],
    ],
    ['5#L and FRI#L are the last Friday', '0 0 * * FRI#L', '2025-06-01T00:00:00Z', ['2025-06-27T00:00Z', '2025-07-25T00:00Z']],
    ['5#2 is the second Friday', '0 0 * * 5#2', '2025-06-01T00:00:00Z', ['2025-06-13T00:00Z', '2025-07-11T00:00Z']],
    ['15W is the weekday nearest to the 15th', '0 0 15W * *', '2025-06-01T00:00:00Z', ['2025-06-16T00:00Z', '2025-07-15T00:00Z']],
    ['LW is the last weekday', '0 0 LW * *', '2025-05-01T00:00:00Z', ['2025-05-30T00:00Z', '2025-06-30T00:00Z']],
    ['? stands for *', '0 0 ? * MON', '2025-06-01T12:00:00Z', ['2025-06-02T00:00Z']],
    ['day of month or weekday', '0 0 1 * MON', '2025-06-30T12:00:00Z', ['2025-07-01T00:00Z', '2025-07-07T00:00Z']],
    ['+ asks for both', '0 0 1 * +MON', '2025-06-30T12:00:00Z', ['2025-09-01T00:00Z']],
    ['7 is Sunday too', '0 0 * * 7', '2025-06-01T12:00:00Z', ['2025-06-08T00:00Z']],
    ['names of months', '0 0 1 JAN,jul *', '2025-06-01T12:00:00Z', ['2025-07-01T00:00Z', '2026-01-01T00:00Z']],
    [
      'steps of a range',
      '10-30/10 8 * * *',
      '2025-06-01T08:10:00Z',
      ['2025-06-01T08:20Z', '2025-06-01T08:30Z', '2025-06-02T08:10Z'],
    ],
    ['@yearly', '@yearly', '2025-06-01T12:00:00Z', ['2026-01-01T00:00Z']],
    ['@monthly', '@monthly', '2025-06-01T12:00:00Z', ['2025-07-01T00:00Z']],
    ['@weekly', '@weekly', '2025-06-01T12:00:00Z', ['2025-06-08T00:00Z']],
    ['@daily', '@daily', '2025-06-01T12:00:00Z', ['2025-06-02T00:00Z']],
    ['@hourly', '@hourly', '2025-06-01T12:00:00Z', ['2025-06-01T13:00Z']],
  ]
  it.each(table)('%s', (_, expression, from, expected) => {
    expect(fires(expression, 'UTC', from, expected.length)).toEqual(expected)
  })
  it('has seconds in six fields', () => {
    expect(iso(nextCron('*/15 * * * * *', 'UTC', ms('2025-06-01T12:00:00.001Z')))).toBe('2025-06-01T12:00:15.000Z')
  })
})

describe('counting', () => {
  const table: [string, string, string, string, string, number][] = [
    [
      'a run moved to the end of a gap is one',
      '30 2 * * *',
      'Africa/Casablanca',
      '2018-03-25T00:00:00Z',
      '2018-03-25T20:00:00Z',
      1,
    ],
    ['a day of 23 hours has 23 hourly runs', '0 * * * *', 'Europe/Paris', '2025-03-29T22:59:59Z', '2025-03-30T21:59:59Z', 23],
    ['a day of 25 hours has 25', '0 * * * *', 'Europe/Paris', '2025-10-25T21:59:59Z', '2025-10-26T22:59:59Z', 25],
    [
      'a day of 23.5 hours by the second',
      '* * * * * *',
      'Australia/Lord_Howe',
      '2025-10-04T13:29:59Z',
      '2025-10-05T12:59:59Z',
      23.5 * 3600,
    ],
  ]
  it.each(table)('%s', (_, expression, timezone, after, notAfter, expected) => {
    expect(countFires(source({ cron: expression, timezone }), ms(after), ms(after), ms(notAfter))).toBe(expected)
  })
})

describe('an invalid expression', () => {
  const table: [string, RegExp][] = [
    ['', /5 fields/],
    ['0 0 * *', /5 fields/],
    ['0 0 1 1 * * 2026', /5 fields/],
    ['every monday', /5 fields/],
    ['@every 5m', /schedule\.everyMs/],
    ['-1 * * * *', /cannot be negative/],
    ['0 0 1,-1 * *', /cannot be negative/],
    ['0 10 * * ? *', /\? may stand only .* leave out the year/],
    ['? 10 * * *', /\? may stand only/],
    ['0 0 12 ? * MON-FRI *', /leave out the year/],
    ['@reboot', /delayMs/],
    ['99 * * * *', /Invalid value for minute: 99/],
    ['* 24 * * *', /Invalid value for hour: 24/],
    ['H * * * *', /the field minute \(H\) contains illegal characters/],
    ['5/10 * * * *', /stepping/],
    ['30-10 * * * *', /larger/],
    ['2026-01-01T00:00:00', /schedule\.at/],
    ['0 0 31 2 *', /never comes true/],
    ['0 0 30 FEB *', /never comes true/],
  ]
  it.each(table)('%j is explained', (expression, reason) => {
    expect(cronProblem(expression)).toMatch(reason)
    expect(cronProblem(expression)).not.toMatch(/Cron[A-Z]/)
  })
  it('never throws, whatever the text', () => {
    const cronLike = fc.array(fc.constantFrom('*', '0', '7', '/', '-', ',', 'L', 'W', '#', 'MON', ' ', '?', '@', '+', ':'), {
      maxLength: 24,
    })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          cronLike.map((parts) => parts.join('')),
        ),
        (text) => {
          const problem = cronProblem(text)
          if (problem === undefined) expect(nextCron(text, 'UTC', 0)).toBeGreaterThan(0)
          else expect(problem).not.toBe('')
        },
      ),
      { numRuns: 5000 },
    )
  })
})
