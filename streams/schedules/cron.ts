/**
 * Cron expressions, evaluated by croner in wall-clock time. Time zones are applied by streams/schedules/zoned-times.ts, not by croner.
 * No clock is read: every call names its reference time.
 */
import { Cron, CronPattern } from 'croner'
import { BoundedCache } from './bounded-cache.ts'
import { DailyTimes, DayClock, type Days } from './day-clock.ts'
import { parseStep, step } from './steps.ts'
import { dayMs, dayOf, earliestWall, horizonAt, type Recurrence, type WallTimes } from './wall-times.ts'

/** Parsed expressions kept in memory, about 80 KB each. To parse one again costs about 30 µs. */
const parsedCronsMax = 256

/** Croner's value for a weekday that is given without #: one bit for each week of a month, and one for the last. */
const everyWeek = 0b111111

/** The start of the search whether an expression ever fires. The calendar repeats every 400 years. */
const searchFrom = new Date(Date.UTC(2000, 0, 1))

/** 5 fields have no seconds; 6 begin with them. A seventh field, the year, is refused. */
const mode = '5-or-6-parts'

type Parsed = { recurrence: Recurrence } | { problem: string }

const parsedCrons = new BoundedCache<Parsed>(parsedCronsMax, (expression) => {
  // The parser reads any text with a colon as a date.
  if (expression.includes(':')) return { problem: 'a cron expression has no colon; for one instant use schedule.at' }
  const foreign = foreignProblem(expression)
  if (foreign !== undefined) return { problem: foreign }
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
      // The last ms before a day, and the last ms of it, because croner searches strictly after and strictly before.
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

/** The days of an expression that names every day. To ask croner for each day of a long outage would be the largest cost. */
const allDays: Days = {
  atOrAfter: (day) => (day * dayMs < horizonAt ? Math.max(day, dayOf(earliestWall)) : null),
  atOrBefore: (day) => (day * dayMs >= earliestWall ? Math.min(day, dayOf(horizonAt - 1)) : null),
}

/** An estimate of the days that croner has searched, derived from the result. */
const daysBetween = (from: number, to: number): number => Math.max(1, dayOf(to) - dayOf(from))

const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** False if no year has the day that the pattern names. Croner would search 8,000 years for it. */
function mayComeTrue(pattern: CronPattern): boolean {
  const { day, month, dayOfWeek, lastDayOfMonth, lastWeekday, nearestWeekdays, starDOW, useAndLogic } = pattern
  // A weekday matches in addition to the days of the month, unless both must match.
  if (!starDOW && !useAndLogic) return true
  if (lastDayOfMonth || lastWeekday) return true
  // W never falls on a weekend.
  if (!day.some(Boolean) && !dayOfWeek.slice(1, 6).some(Boolean)) return false
  return daysOfMonths.some(
    (days, at) => month[at] && day.some((_, place) => place < days && (day[place] || nearestWeekdays[place])),
  )
}

function setOf(values: readonly number[]): number[] {
  return values.flatMap((value, index) => (value ? [index] : []))
}

const dayOrNull = (wall: number | null): number | null => (wall === null ? null : dayOf(wall))

/** What other programs write. The parser would take it for something else, or say only that it is wrong. */
function foreignProblem(expression: string): string | undefined {
  if (/^\s*@every\b/i.test(expression)) return '@every is an interval; use schedule.everyMs'
  if (/(?:^|[\s,])-\d/.test(expression))
    return 'its numbers cannot be negative; L is the last day of the month, 5L the last Friday'
  const fields = expression.trim().split(/\s+/)
  if (fields.some((field, at) => field.includes('?') && at !== fields.length - 3 && at !== fields.length - 1))
    return '? may stand only for the day of the month and for the weekday. The order is minute hour day month weekday, with seconds before them if there are 6 fields; leave out the year, which AWS and Quartz have at the end'
  return undefined
}

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
      /configuration entry (\d) \(([^()]*)\)/,
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
