/**
 * The calendar of a rule: which days of which periods it names. A day is asked by itself, so no search depends on how far away the
 * beginning of the rule is, and each is bounded by the number of days it looks at.
 */
import type { Days } from './day-clock.ts'
import { inMonth, type RRule } from './rrule-text.ts'
import { dayMs, dayOf, horizonAt } from './wall-times.ts'

/** Most days that one search looks at: 136 years of every day, or as many periods of a year. */
export const daysSearchedMax = 50_000

const horizonDay = dayOf(horizonAt)

interface CalendarDay {
  year: number
  /** 1 to 12. */
  month: number
  day: number
  /** 1 to 366. */
  yearDay: number
  weekday: number
  monthDays: number
  yearDays: number
}

const dayNumber = (year: number, month: number, day: number): number => dayOf(Date.UTC(year, month - 1, day))

function calendarOf(number: number): CalendarDay {
  const date = new Date(number * dayMs)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth() + 1
  const newYear = dayNumber(year, 1, 1)
  return {
    year,
    month,
    day: date.getUTCDate(),
    yearDay: number - newYear + 1,
    weekday: date.getUTCDay(),
    monthDays: dayNumber(year, month + 1, 1) - dayNumber(year, month, 1),
    yearDays: dayNumber(year + 1, 1, 1) - newYear,
  }
}

/** Whether a number from 1 up to `size`, or counted from its end when negative, is listed. Nothing listed lists all. */
const lists = (values: readonly number[], value: number, size: number): boolean =>
  values.length === 0 || values.includes(value) || values.includes(value - size - 1)

export class RRuleDays implements Days {
  readonly #rule: RRule
  readonly #base: number
  readonly #ordinals: boolean

  /** The rule must name its days itself: completeRule in streams/schedules/rrule.ts sees to that. */
  constructor(rule: RRule, beginDay: number) {
    this.#rule = rule
    this.#ordinals = rule.byDay.some(({ ordinal }) => ordinal !== 0)
    // Of a rule by weeks of the year the period is the week's year, but it counts from the calendar's.
    this.#base = rule.freq === 'YEARLY' ? calendarOf(beginDay).year : this.periodOf(beginDay)
  }

  atOrAfter(day: number): number | null {
    let searched = 0
    let period = this.#alignedUp(this.periodOf(day))
    let at = Math.max(day, this.startOf(period))
    while (at < horizonDay && searched < daysSearchedMax) {
      const end = this.startOf(period + 1)
      for (; at < end; at++, searched++) if (this.matches(at)) return at < horizonDay ? at : null
      period = this.#alignedUp(period + 1)
      at = this.startOf(period)
    }
    return null
  }

  atOrBefore(day: number): number | null {
    let searched = 0
    let period = this.#alignedDown(this.periodOf(day))
    let at = Math.min(day, this.startOf(period + 1) - 1)
    while (at >= 0 && searched < daysSearchedMax) {
      const start = this.startOf(period)
      for (; at >= start; at--, searched++) if (this.matches(at)) return at
      period = this.#alignedDown(period - 1)
      at = this.startOf(period + 1) - 1
    }
    return null
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
    const { year, month } = calendarOf(day)
    if (freq === 'MONTHLY') return year * 12 + month - 1
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
  matches(number: number): boolean {
    const { byMonth, byMonthDay, byYearDay, byWeekNo, byDay } = this.#rule
    const day = calendarOf(number)
    if (byMonth.length > 0 && !byMonth.includes(day.month)) return false
    if (!lists(byMonthDay, day.day, day.monthDays) || !lists(byYearDay, day.yearDay, day.yearDays)) return false
    if (byDay.length > 0 && !this.#matchesWeekday(day)) return false
    if (byWeekNo.length === 0) return true
    const weekYear = this.#weekYearOf(number)
    const first = this.#firstWeekOf(weekYear)
    return lists(byWeekNo, Math.floor((number - first) / 7) + 1, (this.#firstWeekOf(weekYear + 1) - first) / 7)
  }

  #matchesWeekday({ weekday, day, monthDays, yearDay, yearDays }: CalendarDay): boolean {
    const { byDay } = this.#rule
    if (!this.#ordinals) return byDay.some((named) => named.weekday === weekday)
    const [place, size] = inMonth(this.#rule) ? [day, monthDays] : [yearDay, yearDays]
    const fromStart = Math.ceil(place / 7)
    const fromEnd = -Math.ceil((size - place + 1) / 7)
    return byDay.some(
      (named) => named.weekday === weekday && (named.ordinal === 0 || named.ordinal === fromStart || named.ordinal === fromEnd),
    )
  }

  /** The first week of a year is the first with at least four days in it. */
  #firstWeekOf(year: number): number {
    const fourth = dayNumber(year, 1, 4)
    return fourth - ((((fourth + 4 - this.#rule.weekStart) % 7) + 7) % 7)
  }

  #weekYearOf(day: number): number {
    const { year } = calendarOf(day)
    if (day < this.#firstWeekOf(year)) return year - 1
    return day >= this.#firstWeekOf(year + 1) ? year + 1 : year
  }
}
