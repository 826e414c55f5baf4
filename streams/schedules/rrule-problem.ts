/** The reasons why a rule cannot be used: its text is wrong, it has no occurrence, or the search for one takes too long. */
import type { Schedule } from '../../schemas/index.ts'
import { type Calendar, freshCalendarOf, nextInCalendar } from './calendar.ts'
import { rruleOf, rruleTextProblem } from './rrule.ts'
import { withinSteps } from './steps.ts'
import { cachePerRules, learningSteps } from './zone.ts'
import { nextZoned } from './zoned-times.ts'

export const rruleProblem = rruleTextProblem

/**
 * Steps that the search for the first time of a rule may take: about 1 ms, and 10 ms if its time zone is not cached. A rule that needs
 * more occurs once in centuries, or its COUNT spans centuries. February 29 on a Monday takes a tenth of the limit.
 */
export const firstTimeStepsMax = 100_000

/** Steps that it may take to skip all exdates, because a search for the next time may have to skip all of them. */
export const exdatesStepsMax = 1_000_000

/** Steps that it may take to load the time zone at all exdates: for a whole century, or for one day in each of 300 years. */
export const exdatesZoneStepsMax = 2_400_000

/** The start of the search for a rule whose beginning is not known yet. The calendar repeats every 400 years. */
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

/** The reason why a rule has no occurrence, or none that can be found; undefined if it has one. Its text and zone must be valid. */
export function neverFires({ schedule, startAt }: { schedule: Schedule; startAt: number | null }): string | undefined {
  const { cron, rrule, exdates } = schedule
  // A cron expression that names no time is refused by itself.
  return rrule === null && (cron === null || exdates.length === 0)
    ? undefined
    : verdicts.get(JSON.stringify({ schedule, startAt }))
}

const neverFroms = cachePerRules<string | undefined>(verdictsMax, (key) => {
  const { schedule, beginAt } = JSON.parse(key) as { schedule: Schedule; beginAt: number }
  const calendar = freshCalendarOf(schedule, null, beginAt)
  const found = withinSteps(firstTimeStepsMax, () => nextZoned(calendar.rule, calendar.from - 1) !== null)
  if (found?.result === true) return undefined
  return `it begins at ${new Date(beginAt).toISOString()}, as it has no dtstart and no startAt, and from there its INTERVAL never meets what else it names: give it a dtstart or a startAt`
})

/**
 * The same for a rule that begins when its definition was accepted, in epoch ms. With an interval, only that beginning can show that
 * the rule has no occurrence. For any other rule neverFires() shows it.
 */
export function neverFiresFrom(
  { schedule, startAt }: { schedule: Schedule; startAt: number | null },
  beginAt: number,
): string | undefined {
  const { rrule, dtstart } = schedule
  if (rrule === null || dtstart !== null || startAt !== null || rruleOf(rrule).interval === 1) return undefined
  return neverFroms.get(JSON.stringify({ schedule, beginAt }))
}

/** The beginning of a rule with an interval determines its days and times. Without a beginning in the schedule they are not known here. */
function mayBeginElsewhere({ rrule, dtstart }: Schedule, startAt: number | null): string | undefined {
  const isOpen = dtstart === null && startAt === null && rrule !== null && rruleOf(rrule).interval > 1
  return isOpen
    ? 'whether its INTERVAL ever meets what else it names depends on when it begins, and from 2000-01-01T00:00Z, from where it is judged, it never does: give it a dtstart or a startAt'
    : undefined
}

function verdictOf(calendar: Calendar, schedule: Schedule, startAt: number | null): string | undefined {
  const begin = Math.max(calendar.from, schedule.cron === null ? calendar.from : searchFrom)
  const first = nextZoned(calendar.rule, begin - 1)
  if (first === null) return mayBeginElsewhere(schedule, startAt) ?? 'it never comes true, because no such day or time exists'
  const from = Math.max(begin, startAt ?? begin)
  if (nextInCalendar(calendar, from - 1) !== null) return undefined
  // Nothing is due before startAt, but a rule that ends before startAt still has an occurrence.
  if (from > begin && nextInCalendar(calendar, begin - 1) !== null) return undefined
  const firstIso = new Date(first).toISOString()
  const ends = schedule.rrule !== null && rruleOf(schedule.rrule).until !== undefined && first > calendar.until
  if (!ends) return 'exdates removes all of its occurrences'
  // The append time of a definition is not known here, and is most likely later.
  return schedule.dtstart === null && startAt === null ? undefined : `it would first come true at ${firstIso}, after its UNTIL`
}
