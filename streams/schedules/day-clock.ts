/** The times of one day, in ms of the day, from sets of hours, minutes and seconds. They are counted without visiting each. */
import { step } from './steps.ts'
import { dayMs, dayOf, earliestWall, horizonAt, type WallTimes } from './wall-times.ts'

const hourMs = 3_600_000
const minuteMs = 60_000
const secondMs = 1_000

export interface ClockSets {
  /** Each list is ascending, without repeats and not empty. */
  hours: readonly number[]
  minutes: readonly number[]
  seconds: readonly number[]
}

export class DayClock {
  readonly #sets: ClockSets
  /** Times of a whole day. */
  readonly total: number
  readonly first: number
  readonly last: number

  constructor(sets: ClockSets) {
    this.#sets = sets
    this.total = sets.hours.length * sets.minutes.length * sets.seconds.length
    this.first = msOf(sets.hours[0], sets.minutes[0], sets.seconds[0])
    this.last = msOf(sets.hours.at(-1), sets.minutes.at(-1), sets.seconds.at(-1))
  }

  /** The n-th time of the day, n from 0 to total − 1. */
  nth(n: number): number {
    const { hours, minutes, seconds } = this.#sets
    const inHour = minutes.length * seconds.length
    return msOf(hours[Math.floor(n / inHour)], minutes[Math.floor((n % inHour) / seconds.length)], seconds[n % seconds.length])
  }

  /** Times of the day at or before one of it. */
  countUntil(timeOfDay: number): number {
    const { hours, minutes, seconds } = this.#sets
    const [hour, minute, second] = [
      Math.floor(timeOfDay / hourMs),
      Math.floor(timeOfDay / minuteMs) % 60,
      Math.floor(timeOfDay / secondMs) % 60,
    ]
    let count = below(hours, hour) * minutes.length * seconds.length
    if (!hours.includes(hour)) return count
    count += below(minutes, minute) * seconds.length
    return minutes.includes(minute) ? count + below(seconds, second + 1) : count
  }
}

function msOf(hour = 0, minute = 0, second = 0): number {
  return hour * hourMs + minute * minuteMs + second * secondMs
}

function below(values: readonly number[], limit: number): number {
  let count = 0
  while (count < values.length && (values[count] ?? limit) < limit) count++
  return count
}

/** Days that a clock runs on. */
export interface Days {
  /** First such day at or after another and not after `last`, by default without end; null when there is none. */
  atOrAfter(day: number, last?: number): number | null
  atOrBefore(day: number, first?: number): number | null
}

/** Every time of a clock on every day of a set. Counting takes one step for each day. */
export class DailyTimes implements WallTimes {
  readonly #days: Days
  readonly #clock: DayClock

  constructor(days: Days, clock: DayClock) {
    this.#days = days
    this.#clock = clock
  }

  next(after: number, notAfter = horizonAt - 1): number | null {
    const found = this.#next(after, dayOf(notAfter))
    return found === null || found > notAfter ? null : found
  }

  #next(after: number, lastDay: number): number | null {
    const today = dayOf(after)
    let day = this.#days.atOrAfter(today, lastDay)
    if (day === today) {
      const passed = this.#clock.countUntil(after - today * dayMs)
      if (passed < this.#clock.total) return today * dayMs + this.#clock.nth(passed)
      day = this.#days.atOrAfter(today + 1, lastDay)
    }
    return day === null ? null : day * dayMs + this.#clock.first
  }

  latest(notAfter: number, notBefore = earliestWall): number | null {
    const found = this.#latest(notAfter, dayOf(notBefore))
    return found === null || found < notBefore ? null : found
  }

  #latest(notAfter: number, firstDay: number): number | null {
    const today = dayOf(notAfter)
    let day = this.#days.atOrBefore(today, firstDay)
    if (day === today) {
      const passed = this.#clock.countUntil(notAfter - today * dayMs)
      if (passed > 0) return today * dayMs + this.#clock.nth(passed - 1)
      day = this.#days.atOrBefore(today - 1, firstDay)
    }
    return day === null ? null : day * dayMs + this.#clock.last
  }

  count(after: number, notAfter: number, max: number): number {
    if (notAfter <= after || max <= 0) return 0
    const first = dayOf(after)
    const last = dayOf(notAfter)
    let count = 0
    for (
      let day = this.#days.atOrAfter(first, last);
      day !== null && day <= last && count < max;
      day = this.#days.atOrAfter(day + 1, last)
    ) {
      step()
      count += day === last ? this.#clock.countUntil(notAfter - day * dayMs) : this.#clock.total
      if (day === first) count -= this.#clock.countUntil(after - day * dayMs)
    }
    return Math.min(count, max)
  }
}
