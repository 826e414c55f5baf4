/**
 * The calendar of a rule: which days of which periods it names. A day is asked by itself, so no search depends on how far away the
 * beginning of the rule is, and each is bounded by the number of days it looks at.
 */
import type { Days } from './day-clock.ts'
import { inMonth, type RRule } from './rrule-text.ts'
import { step } from './steps.ts'
import { dayMs, dayOf, earliestWall, horizonAt } from './wall-times.ts'
import { YearTable } from './year-table.ts'

/** Most days that one search looks at: 136 years of every day, or as many periods of a year. */
export const daysSearchedMax = 50_000

const earliestDay = dayOf(earliestWall)
const horizonDay = dayOf(horizonAt)

const dayNumber = (year: number, month: number, day: number): number => dayOf(Date.UTC(year, month - 1, day))
const yearOf = (day: number): number => new Date(day * dayMs).getUTCFullYear()
/** Days that are looked at one by one before a table of years is worth its memory. */
const untabledMax = 200
/** Of periods of a day so many are passed over at once: the search ends where its steps do. */
const daysAtOnce = 366
const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7

/** Whether a number from 1 up to `size`, or counted from its end when negative, is listed. Nothing listed lists all. */
const lists = (values: readonly number[], value: number, size: number): boolean =>
  values.length === 0 || values.includes(value) || values.includes(value - size - 1)

export class RRuleDays implements Days {
  readonly #rule: RRule
  readonly #base: number
  readonly #ordinals: boolean
  readonly #years = new YearTable((day) => this.#names(day))
  #looked = 0

  /** The rule must name its days itself: completeRule in streams/schedules/rrule.ts sees to that. */
  constructor(rule: RRule, beginDay: number) {
    this.#rule = rule
    this.#ordinals = rule.byDay.some(({ ordinal }) => ordinal !== 0)
    // Of a rule by weeks of the year the period is the week's year, but it counts from the calendar's.
    this.#base = rule.freq === 'YEARLY' ? yearOf(beginDay) : this.periodOf(beginDay)
  }

  atOrAfter(day: number, last = horizonDay - 1): number | null {
    const end = Math.min(horizonDay, last + 1)
    let searched = 0
    let period = this.#alignedUp(this.periodOf(day))
    let at = Math.max(day, this.startOf(period))
    while (at < end && searched < daysSearchedMax) {
      const first = at
      const next = Math.min(end, this.#contiguousUntil(period, at + Math.min(daysAtOnce, daysSearchedMax - searched)))
      for (; at < next && this.#looked < untabledMax; at++) if (this.matches(at)) return at
      if (at < next) {
        const found = this.#years.next(at, next)
        // Each day that was passed over is a step, as if it had been asked by itself: verdicts go by steps.
        step(found === undefined ? next - at : found - at + 1)
        if (found !== undefined) return found
      }
      searched += next - first
      period = this.#alignedUp(this.periodOf(next - 1) + 1)
      at = this.startOf(period)
    }
    return null
  }

  /** The end of the days that follow one another from a period on: of periods of a day that the interval all hits, as many as may be searched. */
  #contiguousUntil(period: number, searchedUntil: number): number {
    const { freq, interval } = this.#rule
    const isDay = freq !== 'WEEKLY' && freq !== 'MONTHLY' && freq !== 'YEARLY'
    return isDay && interval === 1 ? Math.max(period + 1, searchedUntil) : this.startOf(period + 1)
  }

  atOrBefore(day: number, first = earliestDay): number | null {
    const begin = Math.max(earliestDay, first)
    let searched = 0
    let period = this.#alignedDown(this.periodOf(day))
    let at = Math.min(day, this.startOf(period + 1) - 1)
    while (at >= begin && searched < daysSearchedMax) {
      const start = Math.max(begin, this.startOf(period))
      for (; at >= start; at--, searched++) if (this.matches(at)) return at
      period = this.#alignedDown(period - 1)
      at = this.startOf(period + 1) - 1
    }
    return null
  }

  /** How many days one period has. */
  countOf(period: number): number {
    let count = 0
    const end = this.startOf(period + 1)
    for (let day = this.startOf(period); day < end; day++) if (this.matches(day)) count++
    return count
  }

  /** Days of one period, ascending. */
  daysOf(period: number): number[] {
    const days: number[] = []
    const end = this.startOf(period + 1)
    for (let day = this.startOf(period); day < end; day++) if (this.matches(day)) days.push(day)
    return days
  }

  periodOf(day: number): number {
    const { freq, weekStart } = this.#rule
    if (freq === 'WEEKLY') return Math.floor((day + 4 - weekStart) / 7)
    if (freq !== 'MONTHLY' && freq !== 'YEARLY') return day
    const year = yearOf(day)
    if (freq === 'MONTHLY') return year * 12 + new Date(day * dayMs).getUTCMonth()
    return this.#rule.byWeekNo.length > 0 ? this.#weekYearOf(day) : year
  }

  /** First day of a period. */
  startOf(period: number): number {
    const { freq, weekStart, byWeekNo } = this.#rule
    if (freq === 'WEEKLY') return period * 7 - 4 + weekStart
    if (freq === 'MONTHLY') return dayNumber(Math.floor(period / 12), (period % 12) + 1, 1)
    if (freq !== 'YEARLY') return period
    return byWeekNo.length > 0 ? this.#firstWeekOf(period) : dayNumber(period, 1, 1)
  }

  /** The nearest period at or after one, or at or before it, that the interval hits. */
  aligned(period: number, direction: 1 | -1): number {
    return direction === 1 ? this.#alignedUp(period) : this.#alignedDown(period)
  }

  #alignedUp(period: number): number {
    const { interval } = this.#rule
    return this.#base + Math.ceil((period - this.#base) / interval) * interval
  }

  #alignedDown(period: number): number {
    const { interval } = this.#rule
    return this.#base + Math.floor((period - this.#base) / interval) * interval
  }

  /** Whether the BY parts name a day; the interval is not asked. */
  matches(day: number): boolean {
    step()
    if (this.#looked < untabledMax) {
      this.#looked++
      return this.#names(day)
    }
    return this.#years.has(day)
  }

  /** The cheap questions come first: a search asks thousands. */
  #names(number: number): boolean {
    const { byMonth, byMonthDay, byYearDay, byWeekNo, byDay } = this.#rule
    const weekday = weekdayOf(number)
    if (byDay.length > 0 && !byDay.some((named) => named.weekday === weekday)) return false
    const date = new Date(number * dayMs)
    const month = date.getUTCMonth() + 1
    if (byMonth.length > 0 && !byMonth.includes(month)) return false
    const year = date.getUTCFullYear()
    if (byMonthDay.length > 0) {
      const monthDays = dayNumber(year, month + 1, 1) - dayNumber(year, month, 1)
      if (!lists(byMonthDay, date.getUTCDate(), monthDays)) return false
    }
    if (byYearDay.length > 0) {
      const newYear = dayNumber(year, 1, 1)
      if (!lists(byYearDay, number - newYear + 1, dayNumber(year + 1, 1, 1) - newYear)) return false
    }
    if (this.#ordinals && !this.#matchesOrdinal(number, weekday, year, month)) return false
    return byWeekNo.length === 0 || this.#matchesWeekNo(number)
  }

  #matchesOrdinal(number: number, weekday: number, year: number, month: number): boolean {
    const ofMonth = inMonth(this.#rule)
    const first = dayNumber(year, ofMonth ? month : 1, 1)
    const size = (ofMonth ? dayNumber(year, month + 1, 1) : dayNumber(year + 1, 1, 1)) - first
    const fromStart = Math.floor((number - first) / 7) + 1
    const fromEnd = -Math.floor((first + size - 1 - number) / 7) - 1
    return this.#rule.byDay.some(
      ({ weekday: named, ordinal }) => named === weekday && (ordinal === 0 || ordinal === fromStart || ordinal === fromEnd),
    )
  }

  #matchesWeekNo(number: number): boolean {
    const weekYear = this.#weekYearOf(number)
    const first = this.#firstWeekOf(weekYear)
    return lists(this.#rule.byWeekNo, Math.floor((number - first) / 7) + 1, (this.#firstWeekOf(weekYear + 1) - first) / 7)
  }

  /** The first week of a year is the first with at least four days in it. */
  #firstWeekOf(year: number): number {
    const fourth = dayNumber(year, 1, 4)
    return fourth - ((((fourth + 4 - this.#rule.weekStart) % 7) + 7) % 7)
  }

  #weekYearOf(day: number): number {
    const year = yearOf(day)
    if (day < this.#firstWeekOf(year)) return year - 1
    return day >= this.#firstWeekOf(year + 1) ? year + 1 : year
  }
}
