/**
 * Cron expressions, read by croner on the clock on the wall: croner knows nothing of zones here, streams/schedules/zoned-times.ts does.
 * Nothing asks for the time: every call names its reference.
 */
import { Cron, CronPattern } from 'croner'
import { BoundedCache } from './bounded-cache.ts'
import { DailyTimes, DayClock, type Days } from './day-clock.ts'
import { parseStep, step } from './steps.ts'
import { dayMs, dayOf, earliestWall, horizonAt, type Recurrence, type WallTimes } from './wall-times.ts'

/** Parsed expressions kept in memory, at about 80 KB each; a further one costs some 30 µs to parse again. */
const parsedCronsMax = 256

/** How croner marks a weekday that is named without #: one bit for each week of a month, and one for the last. */
const everyWeek = 0b111111

/** Where the search for "does this ever fire" starts; the calendar repeats every 400 years. */
const searchFrom = new Date(Date.UTC(2000, 0, 1))

/** Five fields have no seconds; six have them first. A seventh, the year, is refused. */
const mode = '5-or-6-parts'

type Parsed = { recurrence: Recurrence } | { problem: string }

const parsedCrons = new BoundedCache<Parsed>(parsedCronsMax, (expression) => {
  // The parser would read anything with a colon as a date.
  if (expression.includes(':')) return { problem: 'a cron expression has no colon; for one instant use schedule.at' }
  parseStep()
  try {
    const cron = new Cron(expression, { utcOffset: 0, mode, paused: true })
    const pattern = new CronPattern(expression, undefined, { mode })
    if (!mayComeTrue(pattern) || cron.nextRun(searchFrom) === null)
      return { problem: 'it never comes true, because no such day exists' }
    const times = new CronTimes(cron, pattern)
    return { recurrence: { everyHour: times.everyHour, wall: () => times } }
  } catch (thrown) {
    return { problem: readable(thrown instanceof Error ? thrown.message : String(thrown)) }
  }
})

class CronTimes implements WallTimes {
  readonly #cron: Cron
  readonly #daily: DailyTimes
  readonly everyHour: boolean

  constructor(cron: Cron, pattern: CronPattern) {
    this.#cron = cron
    const sets = { hours: setOf(pattern.hour), minutes: setOf(pattern.minute), seconds: setOf(pattern.second) }
    this.everyHour = sets.hours.length === 24
    const clock = new DayClock(sets)
    const everyDay =
      [pattern.day, pattern.month].every((values) => values.every(Boolean)) &&
      pattern.dayOfWeek.every((weeks) => weeks === everyWeek)
    const searched = {
      // The last ms before a day, and the last of it: croner looks strictly after and strictly before.
      atOrAfter: (day: number): number | null => dayOrNull(this.next(day * dayMs - 1)),
      atOrBefore: (day: number): number | null => dayOrNull(this.latest((day + 1) * dayMs - 1)),
    }
    this.#daily = new DailyTimes(everyDay ? allDays : searched, clock)
  }

  next(after: number, notAfter = horizonAt - 1): number | null {
    if (after >= notAfter) return null
    const found = this.#cron.nextRun(new Date(Math.max(after, earliestWall - 1)))?.getTime() ?? null
    step(daysBetween(after, found ?? horizonAt))
    return found === null || found > notAfter ? null : found
  }

  latest(notAfter: number, notBefore = earliestWall): number | null {
    if (notAfter < notBefore) return null
    const found = this.#cron.previousRuns(1, new Date(Math.min(notAfter, horizonAt - 1) + 1))[0]?.getTime() ?? null
    step(daysBetween(found ?? earliestWall, notAfter))
    return found === null || found < notBefore ? null : found
  }

  count(after: number, notAfter: number, max: number): number {
    return this.#daily.count(after, notAfter, max)
  }
}

/** The days of an expression that names each: to ask croner for every one of a long outage would cost the most of all. */
const allDays: Days = {
  atOrAfter: (day) => (day * dayMs < horizonAt ? Math.max(day, dayOf(earliestWall)) : null),
  atOrBefore: (day) => (day * dayMs >= earliestWall ? Math.min(day, dayOf(horizonAt - 1)) : null),
}

/** What croner has searched, as far as anybody can tell from what it found. */
const daysBetween = (from: number, to: number): number => Math.max(1, dayOf(to) - dayOf(from))

const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** False where no year has the day that it names: croner would look through eight thousand. */
function mayComeTrue(pattern: CronPattern): boolean {
  const { day, month, dayOfWeek, lastDayOfMonth, lastWeekday, nearestWeekdays, starDOW, useAndLogic } = pattern
  // Weekdays are besides the days of the month, unless both must be met.
  if (!starDOW && !useAndLogic) return true
  if (lastDayOfMonth || lastWeekday) return true
  // W never comes to a weekend.
  if (!day.some(Boolean) && !dayOfWeek.slice(1, 6).some(Boolean)) return false
  return daysOfMonths.some(
    (days, at) => month[at] && day.some((_, place) => place < days && (day[place] || nearestWeekdays[place])),
  )
}

function setOf(values: readonly number[]): number[] {
  return values.flatMap((value, index) => (value ? [index] : []))
}

const dayOrNull = (wall: number | null): number | null => (wall === null ? null : dayOf(wall))

/** The parser's message without its own class names and field numbers. */
function readable(message: string): string {
  const fields = ['second', 'minute', 'hour', 'day of month', 'month', 'day of week']
  if (/parts are required|requires exactly/.test(message)) {
    return 'it must have 5 fields (minute hour day month weekday), or 6 with seconds first, or be one of @yearly @monthly @weekly @daily @hourly'
  }
  if (message.includes('@reboot')) return '@reboot has no meaning here; use schedule.delayMs for one run after the definition'
  return message
    .replace(/^Cron(Pattern|Options|Date)?: (Syntax error, )?/, '')
    .replace(
      /configuration entry (\d) \((.*)\)/s,
      (_, index: string, text: string) => `the field ${fields[Number(index)]} (${text})`,
    )
    .replace('dayOfWeek', 'day of week')
    .replace(/\.$/, '')
}

/** Why an expression cannot be used, or undefined when it can. Never throws. */
export function cronProblem(expression: string): string | undefined {
  const entry = parsedCrons.get(expression)
  return 'problem' in entry ? entry.problem : undefined
}

/** What an expression names. Throws RangeError for an unusable one. */
export function cronRecurrence(expression: string): Recurrence {
  const entry = parsedCrons.get(expression)
  if ('recurrence' in entry) return entry.recurrence
  throw new RangeError(`The cron expression ${JSON.stringify(expression)} is not usable: ${entry.problem}.`)
}
