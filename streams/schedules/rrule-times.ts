/** Wall-clock times of the rules that are more than a set of times on a set of days: BYSETPOS, and intervals below a day. */
import type { DayClock, Days } from './day-clock.ts'
import { daysSearchedMax, type RRuleDays } from './rrule-days.ts'
import { dayMs, dayOf, earliestWall, horizonAt, type WallTimes } from './wall-times.ts'

abstract class SteppedTimes implements WallTimes {
  abstract next(after: number): number | null
  abstract latest(notAfter: number): number | null

  count(after: number, notAfter: number, max: number): number {
    let count = 0
    for (let at = this.next(after); at !== null && at <= notAfter && count < max; at = this.next(at)) count++
    return count
  }
}

/** The n-th of all times of each period, BYSETPOS, for periods of a day or more. */
export class ChosenTimes extends SteppedTimes {
  readonly #days: RRuleDays
  readonly #clock: DayClock
  readonly #positions: readonly number[]

  constructor(days: RRuleDays, clock: DayClock, positions: readonly number[]) {
    super()
    this.#days = days
    this.#clock = clock
    this.#positions = positions
  }

  next(after: number): number | null {
    let period = this.#days.aligned(this.#days.periodOf(dayOf(after)), 1)
    for (let searched = 0; searched < daysSearchedMax; ) {
      const start = this.#days.startOf(period)
      if (start * dayMs >= horizonAt) return null
      const found = this.#timesOf(period).find((time) => time > after)
      if (found !== undefined) return found < horizonAt ? found : null
      searched += this.#days.startOf(period + 1) - start
      period = this.#days.aligned(period + 1, 1)
    }
    return null
  }

  latest(notAfter: number): number | null {
    let period = this.#days.aligned(this.#days.periodOf(dayOf(notAfter)), -1)
    for (let searched = 0; searched < daysSearchedMax; ) {
      const end = this.#days.startOf(period + 1)
      if (end * dayMs <= earliestWall) return null
      const found = this.#timesOf(period).findLast((time) => time <= notAfter)
      if (found !== undefined) return found
      searched += end - this.#days.startOf(period)
      period = this.#days.aligned(period - 1, -1)
    }
    return null
  }

  #timesOf(period: number): number[] {
    const days = this.#days.daysOf(period)
    const { total } = this.#clock
    const places = chosen(this.#positions, days.length * total)
    return places.map((place) => (days[Math.floor(place / total)] ?? 0) * dayMs + this.#clock.nth(place % total))
  }
}

/** Places from 0 that positions from 1, or from the end, choose out of `size`; ascending. */
export function chosen(positions: readonly number[], size: number): number[] {
  const places = positions.map((position) => (position > 0 ? position - 1 : size + position))
  return [...new Set(places)].filter((place) => place >= 0 && place < size).sort((left, right) => left - right)
}

/** Each of these is a limit on the units of a grid: 'hour', 'minute' or 'second' must be listed. */
export interface GridLimit {
  unitMs: number
  /** Units of this kind in the next larger one. */
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
  /** The larger first. */
  limits: readonly GridLimit[]
}

/** Every interval-th hour, minute or second that the limits leave. What they exclude is leapt over. */
export class UnitTimes extends SteppedTimes {
  readonly #grid: UnitGrid

  constructor(grid: UnitGrid) {
    super()
    this.#grid = grid
  }

  next(after: number): number | null {
    const { unitMs, interval, baseUnit, offsetsMs } = this.#grid
    let unit = Math.floor(after / unitMs)
    for (let searched = 0; searched < daysSearchedMax; searched++) {
      unit = baseUnit + Math.ceil((unit - baseUnit) / interval) * interval
      const start = unit * unitMs
      if (start >= horizonAt) return null
      const open = this.#openFrom(start)
      if (open === null) return null
      if (open > start) {
        unit = open / unitMs
        continue
      }
      const offsetMs = offsetsMs.find((offset) => start + offset > after)
      if (offsetMs !== undefined) return start + offsetMs
      unit++
    }
    return null
  }

  latest(notAfter: number): number | null {
    const { unitMs, interval, baseUnit, offsetsMs } = this.#grid
    let unit = Math.floor(notAfter / unitMs)
    for (let searched = 0; searched < daysSearchedMax; searched++) {
      unit = baseUnit + Math.floor((unit - baseUnit) / interval) * interval
      const start = unit * unitMs
      if (start < earliestWall) return null
      const end = this.#openUntil(start)
      if (end === null) return null
      if (end <= start) {
        unit = end / unitMs - 1
        continue
      }
      const offsetMs = offsetsMs.findLast((offset) => start + offset <= notAfter)
      if (offsetMs !== undefined) return start + offsetMs
      unit--
    }
    return null
  }

  /** The time itself if it is within all limits, else the earliest time behind it that may be; null when there is none. */
  #openFrom(at: number): number | null {
    const today = dayOf(at)
    const day = this.#grid.days.atOrAfter(today)
    if (day === null || day > today) return day === null ? null : day * dayMs
    for (const { unitMs, size, allowed } of this.#grid.limits) {
      const unit = Math.floor(at / unitMs)
      const place = unit % size
      const found = allowed.find((value) => value >= place) ?? size
      if (found > place) return (unit - place + found) * unitMs
    }
    return at
  }

  /** The end of the unit that begins at a time if it is within all limits, else the end of the latest before it that may be. */
  #openUntil(at: number): number | null {
    const today = dayOf(at)
    const day = this.#grid.days.atOrBefore(today)
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
