/** Wall-clock times of rules that are not just a set of times on a set of days: BYSETPOS, and intervals shorter than a day. */
import type { DayClock, Days } from './day-clock.ts'
import { daysSearchedMax, type RRuleDays } from './rrule-days.ts'
import { step } from './steps.ts'
import { dayMs, dayOf, earliestWall, horizonAt, type WallTimes } from './wall-times.ts'

const hourMs = 3_600_000
/** Largest number of start positions that are kept for one interval; a rule has at most as many as its interval. */
const hourCountsMax = 4_096

/** The n-th of all times in each period (BYSETPOS), for periods of a day or more. */
export class ChosenTimes implements WallTimes {
  readonly #days: RRuleDays
  readonly #clock: DayClock
  readonly #positions: readonly number[]
  /** Places of the chosen times, by the number of times in the period. Periods have at most as many different numbers as days. */
  readonly #places = new Map<number, number[]>()

  constructor(days: RRuleDays, clock: DayClock, positions: readonly number[]) {
    this.#days = days
    this.#clock = clock
    this.#positions = positions
  }

  next(after: number, notAfter = horizonAt - 1): number | null {
    const lastDay = dayOf(notAfter)
    let period = this.#days.aligned(this.#days.periodOf(dayOf(after)), 1)
    for (let searched = 0; searched < daysSearchedMax; ) {
      const start = this.#days.startOf(period)
      // Most periods have no day, and there are many of them.
      const day = this.#days.atOrAfter(start, lastDay)
      if (day === null) return null
      period = this.#days.periodOf(day)
      const found = this.#isEmpty(period) ? undefined : this.#timesOf(period).find((time) => time > after)
      if (found !== undefined) return found <= notAfter ? found : null
      searched += this.#days.startOf(period + 1) - start
      period = this.#days.aligned(period + 1, 1)
    }
    return null
  }

  latest(notAfter: number, notBefore = earliestWall): number | null {
    const firstDay = dayOf(notBefore)
    let period = this.#days.aligned(this.#days.periodOf(dayOf(notAfter)), -1)
    for (let searched = 0; searched < daysSearchedMax; ) {
      const end = this.#days.startOf(period + 1)
      const day = this.#days.atOrBefore(end - 1, firstDay)
      if (day === null) return null
      period = this.#days.periodOf(day)
      const found = this.#isEmpty(period) ? undefined : this.#timesOf(period).findLast((time) => time <= notAfter)
      if (found !== undefined) return found >= notBefore ? found : null
      searched += end - this.#days.startOf(period)
      period = this.#days.aligned(period - 1, -1)
    }
    return null
  }

  /** Takes one step for each period. */
  count(after: number, notAfter: number, max: number): number {
    const last = Math.min(notAfter, horizonAt - 1)
    let count = 0
    let period = this.#days.aligned(this.#days.periodOf(dayOf(after)), 1)
    for (; this.#days.startOf(period) * dayMs <= last && count < max; period = this.#days.aligned(period + 1, 1)) {
      const whole = this.#days.startOf(period) * dayMs > after && this.#days.startOf(period + 1) * dayMs <= last
      if (whole) count += this.#placesOf(this.#days.countOf(period)).length
      else for (const time of this.#timesOf(period)) if (time > after && time <= last) count++
    }
    return Math.min(count, max)
  }

  /** Whether BYSETPOS chooses nothing in any period, for every possible number of days. */
  #isEmpty(period: number): boolean {
    return this.#placesOf(this.#days.countOf(period)).length === 0
  }

  #timesOf(period: number): number[] {
    const days = this.#days.daysOf(period)
    const { total } = this.#clock
    const places = this.#placesOf(days.length)
    step(places.length)
    return places.map((place) => (days[Math.floor(place / total)] ?? 0) * dayMs + this.#clock.nth(place % total))
  }

  #placesOf(days: number): number[] {
    const known = this.#places.get(days)
    if (known !== undefined) return known
    const places = chosen(this.#positions, days * this.#clock.total)
    this.#places.set(days, places)
    return places
  }
}

/** Indexes from 0 that the positions (from 1, or negative from the end) choose out of `size`; ascending. */
export function chosen(positions: readonly number[], size: number): number[] {
  const places = positions.map((position) => (position > 0 ? position - 1 : size + position))
  return [...new Set(places)].filter((place) => place >= 0 && place < size).sort((left, right) => left - right)
}

/** A limit on the units of a grid: the 'hour', 'minute' or 'second' must be listed. */
export interface GridLimit {
  unitMs: number
  /** Units of this kind in one of the next larger kind. */
  size: number
  allowed: readonly number[]
}

export interface UnitGrid {
  /** An hour, a minute or a second. */
  unitMs: number
  interval: number
  /** A unit that the interval hits. */
  baseUnit: number
  /** Times inside of each unit, ascending. */
  offsetsMs: readonly number[]
  days: Days
  /** The larger unit first, so the limit of hours comes first. */
  limits: readonly GridLimit[]
}

/** Every interval-th hour, minute or second within the limits. Excluded times are skipped at once. */
export class UnitTimes implements WallTimes {
  readonly #grid: UnitGrid
  /** Times of an allowed hour, by the phase of the interval at its beginning. Everything else is equal in each hour. */
  readonly #hourCounts = new Map<number, number>()

  constructor(grid: UnitGrid) {
    this.#grid = grid
  }

  /** Takes one step for each hour, or for each unit that is hit if those are fewer. */
  count(after: number, notAfter: number, max: number): number {
    const { days, limits, unitMs, interval } = this.#grid
    const last = Math.min(notAfter, horizonAt - 1)
    if (unitMs * interval > hourMs) return this.#countStepped(after, last, max)
    let count = 0
    const lastDay = dayOf(last)
    for (let day = days.atOrAfter(dayOf(after), lastDay); day !== null && count < max; day = days.atOrAfter(day + 1, lastDay)) {
      if (day * dayMs > last) break
      for (const hour of limits[0]?.allowed ?? []) {
        const start = day * dayMs + hour * hourMs
        const end = start + hourMs - 1
        if (start > last) break
        step()
        if (start > after && end <= last) count += this.#countOfHour(start)
        else if (end > after) count += this.#countStepped(Math.max(after, start - 1), Math.min(end, last))
      }
    }
    return Math.min(count, max)
  }

  #countOfHour(start: number): number {
    const { unitMs, interval, baseUnit } = this.#grid
    const phase = (start / unitMs - baseUnit) % interval
    const known = this.#hourCounts.get(phase)
    if (known !== undefined) return known
    const count = this.#countStepped(start - 1, start + hourMs - 1)
    if (this.#hourCounts.size >= hourCountsMax) this.#hourCounts.clear()
    this.#hourCounts.set(phase, count)
    return count
  }

  #countStepped(after: number, notAfter: number, max = Number.POSITIVE_INFINITY): number {
    let count = 0
    for (let at = this.next(after, notAfter); at !== null && count < max; at = this.next(at, notAfter)) count++
    return count
  }

  next(after: number, notAfter = horizonAt - 1): number | null {
    const { unitMs, interval, baseUnit, offsetsMs } = this.#grid
    if (offsetsMs.length === 0) return null
    let unit = Math.floor(after / unitMs)
    for (let searched = 0; searched < daysSearchedMax; searched++) {
      step()
      unit = baseUnit + Math.ceil((unit - baseUnit) / interval) * interval
      const start = unit * unitMs
      if (start > notAfter) return null
      const open = this.#openFrom(start, dayOf(notAfter))
      if (open === null) return null
      if (open > start) {
        unit = open / unitMs
        continue
      }
      const offsetMs = offsetsMs.find((offset) => start + offset > after)
      if (offsetMs !== undefined) return start + offsetMs <= notAfter ? start + offsetMs : null
      unit++
    }
    return null
  }

  latest(notAfter: number, notBefore = earliestWall): number | null {
    const { unitMs, interval, baseUnit, offsetsMs } = this.#grid
    if (offsetsMs.length === 0) return null
    let unit = Math.floor(notAfter / unitMs)
    for (let searched = 0; searched < daysSearchedMax; searched++) {
      step()
      unit = baseUnit + Math.floor((unit - baseUnit) / interval) * interval
      const start = unit * unitMs
      if (start + unitMs <= notBefore || start < earliestWall) return null
      const end = this.#openUntil(start, dayOf(notBefore))
      if (end === null) return null
      if (end <= start) {
        unit = end / unitMs - 1
        continue
      }
      const offsetMs = offsetsMs.findLast((offset) => start + offset <= notAfter)
      if (offsetMs !== undefined) return start + offsetMs >= notBefore ? start + offsetMs : null
      unit--
    }
    return null
  }

  /** The time itself if it is within all limits, else the earliest later candidate; null when there is none. */
  #openFrom(at: number, lastDay: number): number | null {
    const today = dayOf(at)
    const day = this.#grid.days.atOrAfter(today, lastDay)
    if (day === null || day > today) return day === null ? null : day * dayMs
    for (const { unitMs, size, allowed } of this.#grid.limits) {
      const unit = Math.floor(at / unitMs)
      const place = unit % size
      const found = allowed.find((value) => value >= place) ?? size
      if (found > place) return (unit - place + found) * unitMs
    }
    return at
  }

  /** The end of the unit that begins at a time if it is within all limits, else the end of the latest earlier candidate. */
  #openUntil(at: number, firstDay: number): number | null {
    const today = dayOf(at)
    const day = this.#grid.days.atOrBefore(today, firstDay)
    if (day === null || day < today) return day === null ? null : (day + 1) * dayMs
    for (const { unitMs, size, allowed } of this.#grid.limits) {
      const unit = Math.floor(at / unitMs)
      const place = unit % size
      const found = allowed.findLast((value) => value <= place) ?? -1
      if (found < place) return (unit - place + found + 1) * unitMs
    }
    return at + this.#grid.unitMs
  }
}
