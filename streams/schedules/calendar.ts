/** Schedules that follow the calendar of a zone: cron expressions and recurrence rules, with their bounds and exclusions. */

import type { Schedule } from '../../schemas/index.ts'
import { cronRecurrence } from './cron.ts'
import { rruleOf, rruleRecurrence } from './rrule.ts'
import type { RRule } from './rrule-text.ts'
import { dayMs, horizonAt } from './wall-times.ts'
import { cachePerRules, offsetOf, perRules } from './zone.ts'
import { countZoned, latestZoned, nextZoned, type ZonedRule } from './zoned-times.ts'

/**
 * The instants that exdates exclude from a schedule, and which of them it names. Each is looked up once, by itself. A search
 * for the next time of a rare rule after each instant would cover years for every instant that the rule never matches.
 */
export class Exclusions {
  readonly #isNamed: (at: number) => boolean
  readonly #all: ReadonlySet<number>
  #named: readonly number[] | undefined

  /** `isNamed`: whether an instant is one of the schedule. */
  constructor(instants: readonly number[], isNamed: (at: number) => boolean) {
    this.#isNamed = isNamed
    this.#all = new Set(instants)
  }

  get size(): number {
    return this.#all.size
  }

  has(at: number): boolean {
    return this.#all.has(at)
  }

  /** The number of excluded times of the schedule after `after` and not after `notAfter`. */
  countIn(after: number, notAfter: number): number {
    if (this.#all.size === 0) return 0
    return this.#below(notAfter + 1) - this.#below(after + 1)
  }

  /** The excluded instants that the schedule names, ascending. */
  get named(): readonly number[] {
    this.#named ??= [...this.#all].filter(this.#isNamed).sort((left, right) => left - right)
    return this.#named
  }

  #below(limit: number): number {
    const { named } = this
    let [low, high] = [0, named.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((named[middle] ?? limit) < limit) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** A frequent rule ends soon. So the first stretch is short, and each further one is twice as long. */
const firstStretchMs = 366 * dayMs

/**
 * The end that COUNT sets for a rule. It is searched only up to the time that a caller asks about. A search of the whole rule at
 * once would cover centuries of calendar for a monthly rule with a COUNT of 10,000. Counts are kept, so each stretch of time is
 * counted once.
 */
export class CountedEnd {
  readonly #rule: ZonedRule
  /** Occurrences are counted up to and including this time; `#left` are still to come. */
  #countedTo: number
  #left: number
  #end: number | undefined
  #stretchMs = firstStretchMs

  /** `count` occurrences from `from` on. */
  constructor(rule: ZonedRule, from: number, count: number) {
    this.#rule = rule
    this.#countedTo = from - 1
    this.#left = count
  }

  /** The last occurrence if it is at or before `at`, else infinity. */
  by(at: number): number {
    while (this.#end === undefined && this.#countedTo < at) {
      const to = Math.min(at, this.#countedTo + this.#stretchMs)
      const found = countZoned(this.#rule, this.#countedTo, to, this.#left)
      if (found >= this.#left) this.#end = this.#nth(this.#countedTo, to, this.#left)
      else {
        this.#countedTo = to
        this.#left -= found
        this.#stretchMs *= 2
      }
    }
    return this.#end !== undefined && this.#end <= at ? this.#end : Number.POSITIVE_INFINITY
  }

  /** The n-th occurrence of a stretch that has at least n. */
  #nth(after: number, notAfter: number, n: number): number {
    let [low, high, left] = [after, notAfter, n]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      const found = countZoned(this.#rule, low, middle, left)
      if (found >= left) high = middle
      else {
        low = middle
        left -= found
      }
    }
    return nextZoned(this.#rule, low) ?? high
  }
}

export interface Calendar {
  rule: ZonedRule
  /** Nothing is due before it: epoch ms. */
  from: number
  /** Nothing is due after it: epoch ms. */
  until: number
  /** With COUNT: the end that the count sets. */
  counted: CountedEnd | undefined
  excluded: Exclusions
}

/** Rules kept in memory, each with the occurrences that were counted. */
const calendarsMax = 4096

const nothing = new Exclusions([], () => false)

/** The last request. A caller that reads 1,000 times of one rule asks for its calendar 1,000 times, and a key may have 15 kB. */
interface Latest {
  schedule: Schedule
  startAt: number | null
  appendedAt: number
  calendar: Calendar
}
const latestOf = perRules<{ asked?: Latest }>(() => ({}))

const calendars = cachePerRules<Calendar>(calendarsMax, (key) => calendarOfKey(key))

function calendarOfKey(key: string): Calendar {
  const [cron, text, timezone, beginAt, from, dstGap, dstOverlap, exdates] = JSON.parse(key)
  if (cron !== null) {
    const calendar = cronCalendarOf({ cron, timezone, dstGap, dstOverlap })
    return { ...calendar, excluded: exclusionsOf(calendar.rule, exdates) }
  }
  const parsed = rruleOf(text)
  const recurrence = rruleRecurrence(parsed, beginAt, offsetOf(timezone, beginAt))
  const rule = { recurrence, timezone, dstGap, dstOverlap }
  const counted = parsed.count === undefined ? undefined : new CountedEnd(rule, from, parsed.count)
  return {
    rule,
    from,
    until: untilOf(parsed, timezone),
    counted,
    excluded: exclusionsOf(rule, exdates),
  }
}

function cronCalendarOf({ cron, ...zoned }: Omit<ZonedRule, 'recurrence'> & { cron: string }): Calendar {
  const rule = { recurrence: cronRecurrence(cron), ...zoned }
  return { rule, from: Number.NEGATIVE_INFINITY, until: horizonAt, counted: undefined, excluded: nothing }
}

const exclusionsOf = (rule: ZonedRule, exdates: readonly number[]): Exclusions =>
  exdates.length === 0 ? nothing : new Exclusions(exdates, (at) => countZoned(rule, at - 1, at, 1) > 0)

/**
 * The calendar of a schedule with cron or rrule; undefined for any other. A rule without dtstart begins at startAt, or else at the
 * append time. The append time itself is then no occurrence.
 */
export function calendarOf(schedule: Schedule, startAt: number | null, appendedAt: number): Calendar | undefined {
  const { cron, rrule, timezone, dstGap, dstOverlap, exdates } = schedule
  if (cron !== null && exdates.length === 0) return cronCalendarOf({ cron, timezone, dstGap, dstOverlap })
  return cron === null && rrule === null ? undefined : knownCalendarOf(schedule, startAt, appendedAt)
}

/** A schedule is never changed after it was read, so the same object is the same rule. */
function knownCalendarOf(schedule: Schedule, startAt: number | null, appendedAt: number): Calendar {
  const latest = latestOf()
  const { asked } = latest
  if (asked?.schedule === schedule && asked.startAt === startAt && asked.appendedAt === appendedAt) return asked.calendar
  const calendar = calendars.get(keyOf(schedule, startAt, appendedAt))
  latest.asked = { schedule, startAt, appendedAt, calendar }
  return calendar
}

/** The calendar of a rule without anything cached, so that the cost of a search follows from the schedule alone. */
export const freshCalendarOf = (schedule: Schedule, startAt: number | null, appendedAt: number): Calendar =>
  calendarOfKey(keyOf(schedule, startAt, appendedAt))

function keyOf(schedule: Schedule, startAt: number | null, appendedAt: number): string {
  const { cron, rrule, timezone, dtstart, exdates, dstGap, dstOverlap } = schedule
  if (cron !== null) return JSON.stringify([cron, null, timezone, null, null, dstGap, dstOverlap, exdates])
  const beginAt = dtstart ?? (startAt === null ? Math.floor(appendedAt / 1000) : Math.ceil(startAt / 1000)) * 1000
  const from = dtstart === null && startAt === null ? beginAt + 1 : beginAt
  return JSON.stringify([null, rrule, timezone, beginAt, from, dstGap, dstOverlap, exdates])
}

function untilOf({ until }: RRule, timezone: string): number {
  if (until === undefined) return horizonAt
  return Math.min(horizonAt, until.wall ? lastInstantOf(timezone, until.at) : until.at)
}

/** The last instant at which clocks do not yet show more than a wall-clock time. */
function lastInstantOf(timezone: string, wall: number): number {
  const [before, after] = [offsetOf(timezone, wall - dayMs), offsetOf(timezone, wall + dayMs)]
  return Math.max(...[before, after].map((offsetMs) => wall - offsetMs).filter((at) => at + offsetOf(timezone, at) <= wall))
}

/** The end of the calendar, correct for times up to `at`: nothing is due after it. */
const endBy = ({ until, counted }: Calendar, at: number): number => Math.min(until, counted?.by(Math.min(at, until)) ?? until)

export function nextInCalendar(calendar: Calendar, after: number): number | null {
  const { rule, from, until, excluded } = calendar
  let at = Math.max(after, from - 1)
  for (;;) {
    if (at >= until) return null
    const found = nextZoned(rule, at)
    if (found === null || found > endBy(calendar, found)) return null
    if (!excluded.has(found)) return found
    at = found
  }
}

export function latestInCalendar(calendar: Calendar, notAfter: number): number | null {
  const { rule, from, excluded } = calendar
  let at = Math.min(notAfter, endBy(calendar, notAfter))
  for (;;) {
    if (at < from || at < 0) return null
    const found = latestZoned(rule, at)
    if (found === null || found < from) return null
    if (!excluded.has(found)) return found
    at = found - 1
  }
}

/** Occurrences after `after` and not after `notAfter`, at most `max`. */
export function countInCalendar(calendar: Calendar, after: number, notAfter: number, max: number): number {
  const { rule, from, excluded } = calendar
  const [first, last] = [Math.max(after, from - 1), Math.min(notAfter, endBy(calendar, notAfter))]
  if (last <= first) return 0
  // With more than `max` occurrences, excluded ones may lie after the last one that was counted.
  const count = countZoned(rule, first, last, max + excluded.size)
  return Math.min(Math.max(0, count - excluded.countIn(first, last)), max)
}
