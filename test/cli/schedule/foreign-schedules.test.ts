/** Expressions of other schedulers: what they mean there is what they mean here, or they are refused. */
import { describe, expect, it } from 'vitest'
import { convertedSchedule, type Dialect } from '../../../src/program/cli/schedule/foreign-schedules.ts'
import { completeDefinition } from '../../../streams/definitions/defaults.ts'
import { nextFire } from '../../../streams/schedules/next-fire.ts'

/** A Thursday. */
const from = Date.UTC(2026, 0, 1)

/** The next three days, or times, at which the converted schedule is due. */
function times(dialect: Dialect, text: string): string[] {
  const converted = convertedSchedule(dialect, text)
  if (!('cron' in converted)) throw new Error('It is no cron expression.')
  const definition = completeDefinition({ schedule: converted, target: { handler: 'noop' } })
  const found: string[] = []
  for (let at = nextFire(definition, 0, from - 1); at !== null && found.length < 3; at = nextFire(definition, 0, at))
    found.push(new Date(at).toISOString().slice(5, 16))
  return found
}

describe('an expression', () => {
  it.each([
    ['quartz', '0 0 12 ? * 2-6', '0 0 12 * * MON-FRI'],
    ['quartz', '0 0/5 * * * ?', '0 */5 * * * *'],
    ['quartz', '0 5/15 10 * * ? *', '0 5-59/15 10 * * *'],
    ['quartz', '0 0 22-2 * * ?', '0 0 22,23,0,1,2 * * *'],
    ['quartz', '0 15 10 ? * 6L', '0 15 10 * * 5L'],
    ['quartz', '0 15 10 ? * 6#3', '0 15 10 * * FRI#3'],
    ['quartz', '0 15 10 L * ?', '0 15 10 L * *'],
    ['quartz', '0 15 10 15W JAN,jul ?', '0 15 10 15W 1,7 *'],
    ['quartz', '0 0 0 ? * L', '0 0 0 * * SAT'],
    ['quartz', '0 0 0 ? * FRI-MON', '0 0 0 * * FRI,SAT,SUN,MON'],
    ['quartz', '0 0 0 ? * 2/2', '0 0 0 * * MON,WED,FRI'],
    ['aws', 'cron(0 10 ? * 2-6 *)', '0 10 * * MON-FRI'],
    ['aws', '0 10 * * ? *', '0 10 * * *'],
    ['spring', '0 0 9-17 * * MON-FRI', '0 0 9-17 * * MON-FRI'],
    ['spring', '0 0 0 13 * 5', '0 0 0 13 * +FRI'],
    ['spring', '0 0 0 ? * 7', '0 0 0 * * SUN'],
    ['spring', '0 0 0 ? * THUL', '0 0 0 * * 4L'],
    ['spring', '@daily', '@daily'],
    ['github', '30 5 * * 1,3', '30 5 * * MON,WED'],
    ['github', '0 9 13 * 5', '0 9 13 * FRI'],
    ['github', '*/15 * * * *', '*/15 * * * *'],
  ] as const)('of %s, %s, is %s', (dialect, text, cron) => {
    expect(convertedSchedule(dialect, text)).toEqual({ cron })
  })

  it('is due at the times that its own scheduler names', () => {
    // Quartz and AWS: 2 is Monday. Spring: both day fields must match. GitHub: one suffices.
    expect(times('quartz', '0 0 12 ? * 2')).toEqual(['01-05T12:00', '01-12T12:00', '01-19T12:00'])
    expect(times('aws', 'cron(0 12 ? * 1 *)')).toEqual(['01-04T12:00', '01-11T12:00', '01-18T12:00'])
    expect(times('spring', '0 0 0 13 * FRI')).toEqual(['02-13T00:00', '03-13T00:00', '11-13T00:00'])
    expect(times('github', '0 0 13 * 5')).toEqual(['01-02T00:00', '01-09T00:00', '01-13T00:00'])
    expect(times('quartz', '0 0 0 ? * 6L')).toEqual(['01-30T00:00', '02-27T00:00', '03-27T00:00'])
  })

  it('of AWS may be a rate or a time', () => {
    expect(convertedSchedule('aws', 'rate(1 hour)')).toEqual({ everyMs: 3_600_000 })
    expect(convertedSchedule('aws', 'rate(5 minutes)')).toEqual({ everyMs: 300_000 })
    expect(convertedSchedule('aws', 'at(2030-01-31T09:00:00)')).toEqual({ at: '2030-01-31T09:00:00Z' })
  })

  it.each([
    ['quartz', '0 0 12 * * 2-6', 'one of the day of the month and the weekday'],
    ['quartz', '0 0 12 ? * ?', 'one of the day of the month and the weekday'],
    ['quartz', '0 0 12 1 1 ? 2030', 'it names the year 2030; there is no field for it here: use startAt and endAt'],
    ['quartz', '0 0 12 L-3 * ?', 'BYMONTHDAY=-4'],
    ['quartz', '0 0 12 ? * 0', '0 is no weekday; allowed: 1 to 7, or SUN to SAT'],
    ['quartz', '0 12 * * ?', 'it has 5 fields; an expression of Quartz has 6 or 7'],
    ['quartz', '0 0 12 31 2 ?', 'it never comes true'],
    ['aws', 'rate(0 minutes)', 'a rate is a number and minutes, hours or days'],
    ['aws', 'at(tomorrow)', 'at() has a time'],
    ['spring', '0 0 25 * * *', '25 is no hour; allowed: 0 to 23'],
    ['spring', '0 0/0 * * * *', '0/0 is no value, range or step of the field minute'],
    ['spring', '0 0 12 ? * L', 'L is no value, range or step of the field weekday'],
    ['github', '0 9 */2 * 1', 'write + before the weekday if both must match, and 1-31/2 if one suffices'],
    ['github', '@daily', 'it has 1 fields'],
    ['github', '0 9 L * *', 'GitHub has no ?, L, W and #'],
    ['github', 'x'.repeat(257), 'the expression has 257 characters; allowed: 256'],
  ] as const)('of %s, %s, is refused with the reason', (dialect, text, reason) => {
    expect(() => convertedSchedule(dialect, text)).toThrow(reason)
  })
})
