/** Why a rule cannot be used: its text, that nothing ever comes of it, or that it takes too long to find out. */
import type { Schedule } from '../../schemas/index.ts'
import { type Calendar, freshCalendarOf, nextInCalendar } from './calendar.ts'
import { rruleOf, rruleTextProblem } from './rrule.ts'
import { withinSteps } from './steps.ts'
import { learningSteps } from './zone.ts'
import { cachePerRules } from './zone-rules.ts'
import { nextZoned } from './zoned-times.ts'

export const rruleProblem = rruleTextProblem

/**
 * Steps that the search for the first time of a rule may take: about a millisecond, and ten where nothing is known of its time zone. What
 * needs more comes true once in centuries, or counts through them: February 29 on a Monday takes a tenth of it.
 */
export const firstTimeStepsMax = 100_000

/** Steps that it may take to pass over all that exdates leaves out: whoever asks for the next time may have to pass over it whole. */
export const exdatesStepsMax = 1_000_000

/** Steps that it may take to learn the time zone at all of them: that of a century whole, or of one day each in 300 years. */
export const exdatesZoneStepsMax = 2_400_000

/** Where the search begins for a rule whose beginning is not known yet; the calendar repeats every 400 years. */
const searchFrom = Date.UTC(2000, 0, 1)

/** Verdicts kept in memory: a definition is judged each time it is read from its store. */
const verdictsMax = 4096

const verdicts = cachePerRules<string | undefined>(verdictsMax, (key) => {
  const { schedule, startAt } = JSON.parse(key) as { schedule: Schedule; startAt: number | null }
  const calendar = freshCalendarOf(schedule, startAt, searchFrom)
  const found = withinSteps(firstTimeStepsMax, () => verdictOf(calendar, schedule, startAt))
  if (found === undefined)
    return `it never comes true, or is not found to within ${firstTimeStepsMax} steps of the search: it is too rare, or begins too long before startAt`
  if (found.result !== undefined || schedule.exdates.length === 0) return found.result
  if (learningSteps(schedule.timezone, schedule.exdates) > exdatesZoneStepsMax)
    return `it takes more than ${exdatesZoneStepsMax} steps of the search to learn its time zone at all of its exdates, which lie too far apart: name fewer of them, or use UNTIL`
  const { named } = calendar.excluded
  const passed = withinSteps(exdatesStepsMax, () => {
    for (const at of named) nextZoned(calendar.rule, at)
  })
  return passed === undefined
    ? `it takes more than ${exdatesStepsMax} steps of the search to pass over its exdates: name fewer of them, or use UNTIL`
    : undefined
})

/** Why a rule has no occurrence at all, or none that can be found, or undefined when it has one. Its text and zone must be usable. */
export function neverFires({ schedule, startAt }: { schedule: Schedule; startAt: number | null }): string | undefined {
  return schedule.rrule === null ? undefined : verdicts.get(JSON.stringify({ schedule, startAt }))
}

const neverFroms = cachePerRules<string | undefined>(verdictsMax, (key) => {
  const { schedule, beginAt } = JSON.parse(key) as { schedule: Schedule; beginAt: number }
  const calendar = freshCalendarOf(schedule, null, beginAt)
  const found = withinSteps(firstTimeStepsMax, () => nextZoned(calendar.rule, calendar.from - 1) !== null)
  if (found?.result === true) return undefined
  return `it begins at ${new Date(beginAt).toISOString()}, as it has no dtstart and no startAt, and from there its INTERVAL never meets what else it names: give it a dtstart or a startAt`
})

/**
 * The same of a rule that takes its beginning from when its definition was taken, epoch ms: with an interval that alone may say that nothing
 * ever comes of it. Of any other rule neverFires() knows it.
 */
export function neverFiresFrom(
  { schedule, startAt }: { schedule: Schedule; startAt: number | null },
  beginAt: number,
): string | undefined {
  const { rrule, dtstart } = schedule
  if (rrule === null || dtstart !== null || startAt !== null || rruleOf(rrule).interval === 1) return undefined
  return neverFroms.get(JSON.stringify({ schedule, beginAt }))
}

/** Of a rule with an interval the beginning says which days and times it meets, and without one of its own that is not known here. */
function mayBeginElsewhere({ rrule, dtstart }: Schedule, startAt: number | null): string | undefined {
  const isOpen = dtstart === null && startAt === null && rrule !== null && rruleOf(rrule).interval > 1
  return isOpen
    ? 'whether its INTERVAL ever meets what else it names depends on when it begins, and from 2000-01-01T00:00Z, from where it is judged, it never does: give it a dtstart or a startAt'
    : undefined
}

function verdictOf(calendar: Calendar, schedule: Schedule, startAt: number | null): string | undefined {
  const first = nextZoned(calendar.rule, calendar.from - 1)
  if (first === null) return mayBeginElsewhere(schedule, startAt) ?? 'it never comes true, because no such day or time exists'
  const from = Math.max(calendar.from, startAt ?? calendar.from)
  if (nextInCalendar(calendar, from - 1) !== null) return undefined
  // Before startAt nothing is due, but a rule that has ended by then has come true once.
  if (from > calendar.from && nextInCalendar(calendar, calendar.from - 1) !== null) return undefined
  const firstIso = new Date(first).toISOString()
  const ends = schedule.rrule !== null && rruleOf(schedule.rrule).until !== undefined && first > calendar.until
  if (!ends) return 'exdates leaves nothing of it'
  // The append time of a definition is not known here, and most likely later.
  return schedule.dtstart === null && startAt === null ? undefined : `it would first come true at ${firstIso}, after its UNTIL`
}
