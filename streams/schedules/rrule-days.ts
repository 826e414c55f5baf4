/**
 * The calendar of a rule: the days that it names in each period. Each day is checked by itself. So the cost of a search does not depend
 * on the distance to the beginning of the rule, and is bounded by the number of days that are checked.
 */

import type { Days } from './day-clock.ts'
import { inMonth, type RRule } from './rrule-text.ts'
import { step } from './steps.ts'
import { dayMs, dayOf, earliestWall, horizonAt } from './wall-times.ts'

const kinds = 28
const wordsPerYear = 12

const yearStart = (year: number): number => Math.floor(Date.UTC(year, 0, 1) / dayMs)
const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

/**
 * The days of a year that a rule names, for each kind of year. The kind is the weekday of January 1 and whether the year is a leap year;
 * for weeks that belong to the previous or next year, also whether one of those is. So a search through a century without a match
 * evaluates the rule for at most 28 years and reads a table for the others.
 */
export class YearTable {
  readonly #names: (day: number) => boolean
  #words: Uint32Array | undefined
  /** One bit for each kind that the table holds. */
  #known = 0
  /** The year of the last request. */
  #first = 0
  #end = 0
  #base = 0

  /** `names` must return the same for days whole weeks apart that have the same place in years of the same kind. */
  constructor(names: (day: number) => boolean) {
    this.#names = names
  }

  has(day: number): boolean {
    if (day < this.#first || day >= this.#end) this.#turnTo(day)
    const place = day - this.#first
    return (((this.#words?.[this.#base + (place >> 5)] ?? 0) >>> (place & 31)) & 1) === 1
  }

  /** The first named day from `day` on and before `end`. A year without one costs one lookup, not one for each of its days. */
  next(day: number, end: number): number | undefined {
    for (let at = day; at < end; at = this.#end) {
      if (at < this.#first || at >= this.#end) this.#turnTo(at)
      const place = this.#nextPlace(at - this.#first)
      if (place !== undefined) return this.#first + place < end ? this.#first + place : undefined
    }
    return undefined
  }

  #nextPlace(from: number): number | undefined {
    for (let index = from >> 5; index < wordsPerYear; index++) {
      const all = this.#words?.[this.#base + index] ?? 0
      const word = index === from >> 5 ? all & (-1 << (from & 31)) : all
      if (word !== 0) return (index << 5) + 31 - Math.clz32(word & -word)
    }
    return undefined
  }

  #turnTo(day: number): void {
    const year = new Date(day * dayMs).getUTCFullYear()
    this.#first = yearStart(year)
    this.#end = yearStart(year + 1)
    const weekday = (((this.#first + 4) % 7) + 7) % 7
    const kind = weekday * 4 + ([year - 1, year, year + 1].findIndex(isLeap) + 1)
    this.#base = kind * wordsPerYear
    if ((this.#known & (1 << kind)) === 0) this.#fill(kind)
  }

  #fill(kind: number): void {
    this.#words ??= new Uint32Array(kinds * wordsPerYear)
    for (let day = this.#first; day < this.#end; day++) {
      const place = day - this.#first
      const index = this.#base + (place >> 5)
      if (this.#names(day)) this.#words[index] = (this.#words[index] ?? 0) | (1 << (place & 31))
    }
    this.#known |= 1 << kind
  }
}

/** Most days that one search checks: 136 years of daily periods, or the same number of yearly periods. */
export const daysSearchedMax = 50_000

const earliestDay = dayOf(earliestWall)
const horizonDay = dayOf(horizonAt)

const dayNumber = (year: number, month: number, day: number): number => dayOf(Date.UTC(year, month - 1, day))
const yearOf = (day: number): number => new Date(day * dayMs).getUTCFullYear()
/** Days that are checked one by one before a table of years is worth its memory. */
const singleDaysMax = 200
/** Daily periods that are skipped at once. The search still ends where its steps end. */
const daysAtOnce = 366
const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7

/** Whether a list holds a number from 1 to `size`; negative entries count from the end. An empty list holds all. */
const lists = (values: readonly number[], value: number, size: number): boolean =>
  values.length === 0 || values.includes(value) || values.includes(value - size - 1)

export class RRuleDays implements Days {
  readonly #rule: RRule
  readonly #base: number
  readonly #ordinals: boolean
  readonly #years = new YearTable((day) => this.#names(day))
  #looked = 0

  /** The rule must name its days itself; completeRule in streams/schedules/rrule.ts adds them. */
  constructor(rule: RRule, beginDay: number) {
    this.#rule = rule
    this.#ordinals = rule.byDay.some(({ ordinal }) => ordinal !== 0)
    // With BYWEEKNO the period is the year of the week, but the interval counts from the calendar year.
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
      for (; at < next && this.#looked < singleDaysMax; at++) if (this.matches(at)) return at
      if (at < next) {
        const found = this.#years.next(at, next)
        // Each skipped day counts as one step, as if it had been checked by itself, because verdicts depend on steps.
        step(found === undefined ? next - at : found - at + 1)
        if (found !== undefined) return found
      }
      searched += next - first
      period = this.#alignedUp(this.periodOf(next - 1) + 1)
      at = this.startOf(period)
    }
    return null
  }

  /** The end of the consecutive days from a period on. If the interval hits every daily period, this is the search limit. */
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

  /** Number of days in one period. */
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

  /** The nearest period that the interval hits, at or after another, or at or before it. */
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

  /** Whether the BY parts name a day; the interval is ignored. */
  matches(day: number): boolean {
    step()
    if (this.#looked < singleDaysMax) {
      this.#looked++
      return this.#names(day)
    }
    return this.#years.has(day)
  }

  /** The cheap checks come first, because a search makes thousands of them. */
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
