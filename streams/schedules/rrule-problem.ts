/** Why a rule cannot be used: its text, or that nothing ever comes of it. */
import type { Schedule } from '../../schemas/generated.ts'
import { calendarOf, nextInCalendar } from './calendar.ts'
import { rruleOf, rruleTextProblem } from './rrule.ts'
import { nextZoned } from './zoned-times.ts'

export const rruleProblem = rruleTextProblem

/** Where the search begins for a rule whose beginning is not known yet; the calendar repeats every 400 years. */
const searchFrom = Date.UTC(2000, 0, 1)

/** Why a rule has no occurrence at all, or undefined when it has one. Its text and zone must be usable. */
export function neverFires(schedule: Schedule, startAt: number | null): string | undefined {
  const calendar = calendarOf(schedule, startAt, searchFrom)
  if (calendar === undefined || nextInCalendar(calendar, calendar.from - 1) !== null) return undefined
  const first = nextZoned(calendar.rule, calendar.from - 1)
  if (first === null) return 'it never comes true, because no such day or time exists'
  const firstIso = new Date(first).toISOString()
  const ends = schedule.rrule !== null && rruleOf(schedule.rrule).until !== undefined && first > calendar.until
  if (!ends) return 'exdates leaves nothing of it'
  // The append time of a definition is not known here, and most likely later.
  return schedule.dtstart === null && startAt === null ? undefined : `it would first come true at ${firstIso}, after its UNTIL`
}
