/**
 * The table of the days that a rule names. The next day in it equals the result of a search day by day, and a year without a day
 * is skipped as a whole.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { rruleOf } from '../../../streams/schedules/rrule.ts'
import { RRuleDays, YearTable } from '../../../streams/schedules/rrule-days.ts'
import { stepsTaken } from '../../../streams/schedules/steps.ts'
import { dayMs } from '../../../streams/schedules/wall-times.ts'

const dayOf = (year: number, month = 0, day = 1): number => Date.UTC(year, month, day) / dayMs
const partsOf = (day: number) => {
  const date = new Date(day * dayMs)
  return { month: date.getUTCMonth(), date: date.getUTCDate(), weekday: date.getUTCDay() }
}

it('the table finds the same next day as a test of each day', () => {
  const days = fc.integer({ min: dayOf(1970), max: dayOf(2400) })
  const named = fc.record({ month: fc.nat(11), date: fc.integer({ min: 1, max: 31 }), weekday: fc.option(fc.nat(6)) })
  fc.assert(
    fc.property(named, days, fc.nat(20_000), ({ month, date, weekday }, from, length) => {
      const names = (day: number): boolean => {
        const parts = partsOf(day)
        return parts.month === month && parts.date === date && (weekday === null || parts.weekday === weekday)
      }
      let found: number | undefined
      for (let day = from; day < from + length && found === undefined; day++) if (names(day)) found = day
      expect(new YearTable(names).next(from, from + length)).toBe(found)
    }),
    { numRuns: 100 },
  )
})

it('the table is built once for each year, while each of its days counts as a step', () => {
  const days = new RRuleDays({ ...rruleOf('FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SA'), interval: 1 }, 0)
  const saturdays = [1992, 2020, 2048, 2076].map((year) => dayOf(year, 1, 29))
  let at = dayOf(1970)
  for (const saturday of saturdays) {
    const before = stepsTaken()
    expect(days.atOrAfter(at)).toBe(saturday)
    expect(stepsTaken() - before).toBe(saturday - at + 1)
    at = saturday + 1
  }
  const asked = days.matches.bind(days)
  let looks = 0
  days.matches = (day) => {
    looks++
    return asked(day)
  }
  // 2100 is not a leap year.
  expect(days.atOrAfter(at)).toBe(dayOf(2116, 1, 29))
  expect(looks).toBe(0)
})
