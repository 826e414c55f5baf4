import { describe, expect, it } from 'vitest'
import { definitionFromJson } from '../../../streams/definitions/definition-json.ts'
import { countFires, latestFire, nextFire } from '../../../streams/schedules/next-fire.ts'
import { iso, iterated, ms, source } from './samples.ts'

const newYork = 'America/New_York'
/** The start of all examples of RFC 5545: 2 September 1997, 09:00 in New York. */
const dtstart = ms('1997-09-02T13:00:00Z')

/** Local dates, or dates and times, of the first occurrences. */
function locals(rrule: string, max: number, begin = dtstart, timezone = newYork): string[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' })
  const found = iterated(source({ rrule, dtstart: begin, timezone }), 0, 0, max).map((at) => format.format(at))
  return found.every((text) => text.endsWith(' 09:00')) ? found.map((text) => text.slice(0, 10)) : found
}

describe('the examples of RFC 5545, section 3.8.5.3', () => {
  const table: [string, string[]][] = [
    ['FREQ=DAILY;COUNT=3', ['1997-09-02', '1997-09-03', '1997-09-04']],
    ['FREQ=DAILY;INTERVAL=2', ['1997-09-02', '1997-09-04', '1997-09-06']],
    ['FREQ=DAILY;INTERVAL=10;COUNT=5', ['1997-09-02', '1997-09-12', '1997-09-22', '1997-10-02', '1997-10-12']],
    ['FREQ=DAILY;UNTIL=19970904T000000Z', ['1997-09-02', '1997-09-03']],
    ['FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA', ['1998-01-01', '1998-01-02', '1998-01-03']],
    ['FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1', ['1998-01-01', '1998-01-02', '1998-01-03']],
    ['FREQ=WEEKLY;COUNT=4', ['1997-09-02', '1997-09-09', '1997-09-16', '1997-09-23']],
    ['FREQ=WEEKLY;INTERVAL=2;WKST=SU', ['1997-09-02', '1997-09-16', '1997-09-30', '1997-10-14']],
    ['FREQ=WEEKLY;COUNT=4;WKST=SU;BYDAY=TU,TH', ['1997-09-02', '1997-09-04', '1997-09-09', '1997-09-11']],
    ['FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=MO,WE,FR', ['1997-09-03', '1997-09-05', '1997-09-15', '1997-09-17']],
    [
      'FREQ=WEEKLY;INTERVAL=2;COUNT=5;WKST=SU;BYDAY=TU,TH',
      ['1997-09-02', '1997-09-04', '1997-09-16', '1997-09-18', '1997-09-30'],
    ],
    ['FREQ=MONTHLY;COUNT=3;BYDAY=1FR', ['1997-09-05', '1997-10-03', '1997-11-07']],
    ['FREQ=MONTHLY;INTERVAL=2;COUNT=4;BYDAY=1SU,-1SU', ['1997-09-07', '1997-09-28', '1997-11-02', '1997-11-30']],
    ['FREQ=MONTHLY;COUNT=3;BYDAY=-2MO', ['1997-09-22', '1997-10-20', '1997-11-17']],
    ['FREQ=MONTHLY;BYMONTHDAY=-3', ['1997-09-28', '1997-10-29', '1997-11-28']],
    ['FREQ=MONTHLY;COUNT=4;BYMONTHDAY=2,15', ['1997-09-02', '1997-09-15', '1997-10-02', '1997-10-15']],
    ['FREQ=MONTHLY;COUNT=4;BYMONTHDAY=1,-1', ['1997-09-30', '1997-10-01', '1997-10-31', '1997-11-01']],
    [
      'FREQ=MONTHLY;INTERVAL=18;COUNT=7;BYMONTHDAY=10,11',
      ['1997-09-10', '1997-09-11', '1999-03-10', '1999-03-11', '2000-09-10', '2000-09-11', '2002-03-10'],
    ],
    ['FREQ=MONTHLY;INTERVAL=2;BYDAY=TU', ['1997-09-02', '1997-09-09', '1997-09-16', '1997-09-23', '1997-09-30', '1997-11-04']],
    ['FREQ=YEARLY;COUNT=4;BYMONTH=6,7', ['1998-06-02', '1998-07-02', '1999-06-02', '1999-07-02']],
    ['FREQ=YEARLY;INTERVAL=2;COUNT=3;BYMONTH=1,2,3', ['1999-01-02', '1999-02-02', '1999-03-02']],
    ['FREQ=YEARLY;INTERVAL=3;COUNT=4;BYYEARDAY=1,100,200', ['2000-01-01', '2000-04-09', '2000-07-18', '2003-01-01']],
    ['FREQ=YEARLY;BYDAY=20MO', ['1998-05-18', '1999-05-17', '2000-05-15']],
    ['FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO', ['1998-05-11', '1999-05-17', '2000-05-15']],
    ['FREQ=YEARLY;BYMONTH=3;BYDAY=TH', ['1998-03-05', '1998-03-12', '1998-03-19', '1998-03-26', '1999-03-04']],
    ['FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13', ['1998-02-13', '1998-03-13', '1998-11-13', '1999-08-13', '2000-10-13']],
    ['FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13', ['1997-09-13', '1997-10-11', '1997-11-08', '1997-12-13']],
    ['FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8', ['1997-11-04', '2001-11-06']],
    ['FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3', ['1997-09-04', '1997-10-07', '1997-11-06']],
    ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2', ['1997-09-29', '1997-10-30', '1997-11-27', '1997-12-30']],
    ['FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z', ['1997-09-02 09:00', '1997-09-02 12:00']],
    ['FREQ=MINUTELY;INTERVAL=15;COUNT=3', ['1997-09-02 09:00', '1997-09-02 09:15', '1997-09-02 09:30']],
    ['FREQ=MINUTELY;INTERVAL=90;COUNT=3', ['1997-09-02 09:00', '1997-09-02 10:30', '1997-09-02 12:00']],
    [
      'FREQ=DAILY;BYHOUR=9,10;BYMINUTE=0,40',
      ['1997-09-02 09:00', '1997-09-02 09:40', '1997-09-02 10:00', '1997-09-02 10:40', '1997-09-03 09:00'],
    ],
    ['FREQ=MINUTELY;INTERVAL=20;BYHOUR=16', ['1997-09-02 16:00', '1997-09-02 16:20', '1997-09-02 16:40', '1997-09-03 16:00']],
    ['FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5', ['1997-09-15', '1997-09-30', '1997-10-15', '1997-10-30', '1997-11-15']],
  ]
  it.each(table)('%s', (rrule, expected) => {
    expect(locals(rrule, expected.length)).toEqual(expected)
  })
  it('WKST makes a difference to every second week', () => {
    const begin = ms('1997-08-05T13:00:00Z')
    expect(locals('FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO', 4, begin)).toEqual([
      '1997-08-05',
      '1997-08-10',
      '1997-08-19',
      '1997-08-24',
    ])
    expect(locals('FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU', 4, begin)).toEqual([
      '1997-08-05',
      '1997-08-17',
      '1997-08-19',
      '1997-08-31',
    ])
  })
})

describe('the ends of a rule', () => {
  it('COUNT ends it after this number, in every query alike', () => {
    const rule = source({ rrule: 'FREQ=DAILY;COUNT=3', dtstart })
    expect(countFires(rule, 0, 0, ms('2030-01-01T00:00:00Z'))).toBe(3)
    expect(iso(latestFire(rule, 0, 0, ms('2030-01-01T00:00:00Z')))).toBe('1997-09-04T13:00:00.000Z')
    expect(nextFire(rule, 0, ms('1997-09-04T13:00:00Z'))).toBeNull()
  })
  it('exdates remove occurrences that COUNT has counted', () => {
    const rule = source({
      rrule: 'FREQ=DAILY;COUNT=3',
      dtstart,
      exdates: [ms('1997-09-03T13:00:00Z'), ms('1997-09-03T14:00:00Z')],
    })
    expect(iterated(rule, 0, 0, 9).map(iso)).toEqual(['1997-09-02T13:00:00.000Z', '1997-09-04T13:00:00.000Z'])
    expect(countFires(rule, 0, 0, ms('2030-01-01T00:00:00Z'))).toBe(2)
    expect(iso(latestFire(rule, 0, 0, ms('1997-09-03T20:00:00Z')))).toBe('1997-09-02T13:00:00.000Z')
  })
  it('UNTIL without Z is a wall-clock time, and a date includes its whole day', () => {
    const times = (until: string): number =>
      countFires(source({ rrule: `FREQ=HOURLY;UNTIL=${until}`, dtstart, timezone: newYork }), 0, 0, ms('2030-01-01T00:00:00Z'))
    expect(times('19970902T120000')).toBe(4)
    expect(times('19970902T120000Z')).toBe(0)
    expect(times('19970902')).toBe(15)
  })
})

describe('a rule without dtstart', () => {
  const appendedAt = ms('2030-05-06T07:08:09.250Z')
  it('begins at the append time, which is past, as an interval does', () => {
    expect(iterated(source({ rrule: 'FREQ=DAILY;COUNT=2' }), appendedAt, 0, 9).map(iso)).toEqual([
      '2030-05-07T07:08:09.000Z',
      '2030-05-08T07:08:09.000Z',
    ])
  })
  it('begins at startAt, which is its first', () => {
    const rule = source({ rrule: 'FREQ=DAILY;COUNT=2' }, { startAt: ms('2030-06-01T00:00:00Z') })
    expect(iterated(rule, appendedAt, 0, 9).map(iso)).toEqual(['2030-06-01T00:00:00.000Z', '2030-06-02T00:00:00.000Z'])
  })
  it('does not catch up for occurrences before the append time', () => {
    const rule = source({ rrule: 'FREQ=DAILY', dtstart })
    expect(iso(nextFire(rule, appendedAt, Number.NEGATIVE_INFINITY))).toBe('2030-05-06T13:00:00.000Z')
  })
})

describe('daylight saving and rules of hours and less', () => {
  const winter = ms('2025-03-29T23:00:00Z')
  it('follow elapsed time, two hours after two hours', () => {
    const rule = source({ rrule: 'FREQ=HOURLY;INTERVAL=2', dtstart: winter, timezone: 'Europe/Paris' })
    const found = iterated(rule, 0, ms('2025-03-29T23:00:00Z'), 4000)
    expect(found).toEqual(found.map((_, index) => winter + (index + 1) * 7_200_000))
  })
  it('follow the clock if they name hours', () => {
    const rule = source({ rrule: 'FREQ=HOURLY;BYHOUR=2', dtstart: ms('2025-03-28T23:30:00Z'), timezone: 'Europe/Paris' })
    expect(iterated(rule, 0, ms('2025-03-29T12:00:00Z'), 2).map(iso)).toEqual([
      '2025-03-30T01:00:00.000Z',
      '2025-03-31T00:30:00.000Z',
    ])
  })
})

describe('a rule that cannot be used is refused with a reason', () => {
  const table: [string, RegExp][] = [
    ['', /NAME=VALUE/],
    ['DAILY', /"DAILY" is not of the form NAME=VALUE/],
    ['INTERVAL=2', /FREQ must be one of SECONDLY/],
    ['FREQ=FORTNIGHTLY', /FREQ must be one of/],
    ['FREQ=DAILY;FREQ=WEEKLY', /FREQ stands there twice/],
    ['FREQ=DAILY;EVERY=2', /"EVERY" is not a part it can have/],
    ['FREQ=DAILY;INTERVAL=0', /INTERVAL has "0"; allowed: 1 to 100000/],
    ['FREQ=DAILY;INTERVAL=0.5', /INTERVAL has "0.5"/],
    ['FREQ=DAILY;COUNT=10001', /COUNT has "10001"; allowed: 1 to 10000/],
    ['FREQ=DAILY;COUNT=3;UNTIL=20300101', /COUNT and UNTIL exclude one another/],
    ['FREQ=DAILY;UNTIL=20300230', /does not exist/],
    ['FREQ=DAILY;UNTIL=soon', /UNTIL has "SOON"/],
    ['FREQ=DAILY;BYHOUR=24', /BYHOUR has "24"; allowed: 0 to 23/],
    ['FREQ=DAILY;BYSECOND=60', /BYSECOND has "60"; allowed: 0 to 59/],
    ['FREQ=DAILY;BYSECOND=0.5', /BYSECOND has "0.5"/],
    ['FREQ=MONTHLY;BYMONTHDAY=0', /BYMONTHDAY has "0"/],
    ['FREQ=MONTHLY;BYMONTHDAY=-32', /BYMONTHDAY has "-32"/],
    ['FREQ=MONTHLY;BYDAY=6MO', /no month has a sixth/],
    ['FREQ=WEEKLY;BYDAY=1MO', /BYDAY with a number has no meaning with FREQ=WEEKLY/],
    ['FREQ=WEEKLY;BYMONTHDAY=1', /BYMONTHDAY has no meaning with FREQ=WEEKLY/],
    ['FREQ=MONTHLY;BYWEEKNO=1', /BYWEEKNO has no meaning with FREQ=MONTHLY/],
    ['FREQ=DAILY;BYSETPOS=1', /BYSETPOS needs another BY part/],
    ['FREQ=DAILY;BYDAY=XX', /BYDAY has "XX"; allowed: SU/],
    ['DTSTART:20300101T000000Z\nRRULE:FREQ=DAILY', /schedule\.dtstart/],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', /it never comes true, because no such day/],
    ['FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=31', /it never comes true/],
    ['FREQ=SECONDLY;INTERVAL=2;BYSECOND=1', /it never comes true/],
    ['FREQ=HOURLY;INTERVAL=24;BYHOUR=3', /it never comes true/],
    ['FREQ=DAILY;UNTIL=20240101T000000Z', /after its UNTIL/],
  ]
  it.each(table)('%j', (rrule, reason) => {
    const begin = '2025-02-01T00:00:00Z'
    const read = definitionFromJson({ schedule: { rrule, dtstart: begin }, target: { handler: 'noop' } })
    expect(read.ok ? [] : read.problems.map(({ message }) => message)).toEqual([expect.stringMatching(reason)])
  })
  it.each(['FREQ=HOURLY;INTERVAL=24;BYHOUR=9', 'FREQ=DAILY;INTERVAL=7;BYDAY=MO', 'FREQ=MONTHLY;INTERVAL=12;BYMONTH=6'])(
    'a rule %s without a beginning must have one, which decides whether it has an occurrence',
    (rrule) => {
      const read = (schedule: object) => definitionFromJson({ schedule: { rrule, ...schedule }, target: { handler: 'noop' } })
      const open = read({})
      expect(open.ok ? '' : open.problems[0]?.message).toMatch(/depends on when it begins.*give it a dtstart or a startAt/)
      expect(read({ dtstart: '2026-06-01T09:30:00Z' }).ok).toBe(true)
    },
  )
  it('accepts lower case, the name of the property and a semicolon at the end', () => {
    expect(definitionFromJson({ schedule: { rrule: 'FREQ=DAILY;' }, target: { handler: 'noop' } }).ok).toBe(true)
    expect(definitionFromJson({ schedule: { rrule: 'rrule:freq=daily' }, target: { handler: 'noop' } }).ok).toBe(true)
  })
})
