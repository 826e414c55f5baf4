/**
 * Recurrence rules of RFC 5545 in wall-clock time. A rule takes the parts that it does not name from the wall-clock time of its
 * beginning, as section 3.3.10 requires: a yearly rule takes the day, a monthly rule the day of the month, a weekly rule the weekday,
 * and each takes the time of day.
 *
 * A rule of hours, minutes or seconds that names no hour counts elapsed time from its beginning.
 */
import { BoundedCache } from './bounded-cache.ts'
import { DailyTimes, DayClock } from './day-clock.ts'
import { RRuleDays } from './rrule-days.ts'
import { type Frequency, parseRRule, type RRule } from './rrule-text.ts'
import { ChosenTimes, chosen, type GridLimit, UnitTimes } from './rrule-times.ts'
import { dayMs, dayOf, type Recurrence, type WallTimes } from './wall-times.ts'

/** Parsed texts kept in memory, about 2 KB each. */
const parsedRulesMax = 1024

const parsedRules = new BoundedCache<RRule | { problem: string }>(parsedRulesMax, parseRRule)

const hourMs = 3_600_000
const unitsMs: Partial<Record<Frequency, number>> = { HOURLY: hourMs, MINUTELY: 60_000, SECONDLY: 1_000 }
const all = (size: number): number[] => Array.from({ length: size }, (_, value) => value)

/** Why a text cannot be used as a rule, or undefined when it can. Never throws. */
export function rruleTextProblem(text: string): string | undefined {
  const parsed = parsedRules.get(text)
  return 'problem' in parsed ? parsed.problem : undefined
}

/** The rule of a text. Throws RangeError for an unusable one. */
export function rruleOf(text: string): RRule {
  const parsed = parsedRules.get(text)
  if ('problem' in parsed) throw new RangeError(`The rule ${JSON.stringify(text)} is not usable: ${parsed.problem}.`)
  return parsed
}

/** Whether a rule names every hour of the day, or names no hour and repeats hourly or more often. */
export const namesEveryHour = ({ freq, byHour }: RRule): boolean =>
  byHour.length === 0 ? unitsMs[freq] !== undefined : byHour.length === 24

/** The recurrence of a rule that begins at an instant, with the zone's offset at that instant. COUNT and UNTIL are ignored. */
export function rruleRecurrence(rule: RRule, beginAt: number, beginOffsetMs: number): Recurrence {
  const begin = beginAt + beginOffsetMs
  const complete = completeRule(rule, begin)
  const hours = complete.byHour.length > 0 ? complete.byHour : all(24)
  const everyHour = namesEveryHour(rule)
  const unitMs = unitsMs[rule.freq]
  if (unitMs === undefined || (rule.interval === 1 && rule.bySetPos.length === 0)) {
    const times = dayTimes(complete, begin, hours)
    return { everyHour, wall: () => times }
  }
  const byOffset = new Map<number, WallTimes>()
  const wall = (offsetMs: number): WallTimes => {
    const known = byOffset.get(offsetMs)
    if (known !== undefined) return known
    const times = unitTimes(complete, hours, unitMs, Math.floor((beginAt + offsetMs) / unitMs))
    byOffset.set(offsetMs, times)
    return times
  }
  return { everyHour, wall: everyHour ? wall : () => wall(beginOffsetMs) }
}

/** The rule with the parts that follow from its beginning. */
function completeRule(rule: RRule, begin: number): RRule {
  const date = new Date(begin)
  const complete = { ...rule }
  const names = (...given: readonly unknown[][]): boolean => given.some((values) => values.length > 0)
  const { freq, byMonth, byWeekNo, byYearDay, byMonthDay, byDay } = rule
  const namesDay = names(byYearDay, byMonthDay, byDay)
  const weekday = { ordinal: 0, weekday: date.getUTCDay() }
  if ((freq === 'WEEKLY' && !names(byDay)) || (freq === 'YEARLY' && names(byWeekNo) && !namesDay)) complete.byDay = [weekday]
  if (freq === 'YEARLY' && !names(byWeekNo) && !namesDay) {
    complete.byMonthDay = [date.getUTCDate()]
    if (!names(byMonth)) complete.byMonth = [date.getUTCMonth() + 1]
  }
  if (freq === 'MONTHLY' && !namesDay) complete.byMonthDay = [date.getUTCDate()]
  const below = (...units: Frequency[]): boolean => units.includes(freq)
  if (!names(rule.byHour) && !below('HOURLY', 'MINUTELY', 'SECONDLY')) complete.byHour = [date.getUTCHours()]
  if (!names(rule.byMinute) && !below('MINUTELY', 'SECONDLY')) complete.byMinute = [date.getUTCMinutes()]
  if (!names(rule.bySecond) && !below('SECONDLY')) complete.bySecond = [date.getUTCSeconds()]
  return complete
}

const orAll = (values: readonly number[]): readonly number[] => (values.length > 0 ? values : all(60))

function dayTimes(rule: RRule, begin: number, hours: readonly number[]): WallTimes {
  const daily = unitsMs[rule.freq] === undefined ? rule : dayFilter(rule)
  const days = new RRuleDays(daily, dayOf(begin))
  const clock = new DayClock({ hours, minutes: orAll(rule.byMinute), seconds: orAll(rule.bySecond) })
  return rule.bySetPos.length > 0 ? new ChosenTimes(days, clock, rule.bySetPos) : new DailyTimes(days, clock)
}

function unitTimes(rule: RRule, hours: readonly number[], unitMs: number, baseUnit: number): WallTimes {
  const [minutes, seconds] = [orAll(rule.byMinute), orAll(rule.bySecond)]
  const limits: GridLimit[] = [{ unitMs: hourMs, size: 24, allowed: hours }]
  if (unitMs < hourMs) limits.push({ unitMs: 60_000, size: 60, allowed: minutes })
  if (unitMs < 60_000) limits.push({ unitMs: 1_000, size: 60, allowed: seconds })
  const inMinute = seconds.map((second) => second * 1_000)
  const inHour = (): number[] => minutes.flatMap((minute) => inMinute.map((second) => minute * 60_000 + second))
  const whole = unitMs === hourMs ? inHour() : unitMs === 60_000 ? inMinute : [0]
  const offsetsMs = rule.bySetPos.length === 0 ? whole : chosen(rule.bySetPos, whole.length).map((place) => whole[place] ?? 0)
  const days = new RRuleDays(dayFilter(rule), Math.floor((baseUnit * unitMs) / dayMs))
  return new UnitTimes({ unitMs, interval: rule.interval, baseUnit, offsetsMs, days, limits })
}

/** The days on which a rule of hours, minutes or seconds may have occurrences. */
const dayFilter = (rule: RRule): RRule => ({ ...rule, freq: 'DAILY', interval: 1 })
