/** Schedules that follow the calendar of a zone: cron expressions and recurrence rules, with what bounds and thins them out. */
import type { Schedule } from '../../schemas/generated.ts'
import { cronRecurrence } from './cron.ts'
import { rruleOf, rruleRecurrence } from './rrule.ts'
import type { RRule } from './rrule-text.ts'
import { dayMs, horizonAt } from './wall-times.ts'
import { offsetOf } from './zone.ts'
import { cachePerRules } from './zone-rules.ts'
import { countZoned, latestZoned, nextZoned, type ZonedRule } from './zoned-times.ts'

export interface Calendar {
  rule: ZonedRule
  /** Nothing is due before it: epoch ms. */
  from: number
  /** Nothing is due after it: epoch ms. */
  until: number
  excluded: ReadonlySet<number>
}

/** Rules kept in memory with their ends, which COUNT makes dear to find. */
const calendarsMax = 4096
const noDates: ReadonlySet<number> = new Set()

const rruleCalendars = cachePerRules<Calendar>(calendarsMax, (key) => {
  const [text, timezone, beginAt, from, dstGap, dstOverlap, exdates] = JSON.parse(key)
  const parsed = rruleOf(text)
  const recurrence = rruleRecurrence(parsed, beginAt, offsetOf(timezone, beginAt))
  const rule = { recurrence, timezone, dstGap, dstOverlap }
  return { rule, from, until: Math.min(horizonAt, endOf(parsed, rule, from)), excluded: new Set(exdates) }
})

/**
 * The calendar of a schedule by cron or rrule; undefined for another. A rule without dtstart begins at startAt, or else at the append
 * time, which is then itself past.
 */
export function calendarOf(schedule: Schedule, startAt: number | null, appendedAt: number): Calendar | undefined {
  const { cron, rrule, timezone, dtstart, exdates, dstGap, dstOverlap } = schedule
  if (cron !== null) {
    const rule = { recurrence: cronRecurrence(cron), timezone, dstGap, dstOverlap }
    return { rule, from: Number.NEGATIVE_INFINITY, until: horizonAt, excluded: noDates }
  }
  if (rrule === null) return undefined
  const beginAt = dtstart ?? (startAt === null ? Math.floor(appendedAt / 1000) : Math.ceil(startAt / 1000)) * 1000
  const from = dtstart === null && startAt === null ? beginAt + 1 : beginAt
  return rruleCalendars.get(JSON.stringify([rrule, timezone, beginAt, from, dstGap, dstOverlap, exdates]))
}

function endOf({ count, until }: RRule, rule: ZonedRule, from: number): number {
  if (until !== undefined) return until.wall ? lastInstantOf(rule.timezone, until.at) : until.at
  if (count === undefined) return horizonAt
  let at: number | null = from - 1
  let last = horizonAt
  for (let found = 0; found < count; found++) {
    at = nextZoned(rule, at)
    if (at === null) break
    last = at
  }
  return at === null ? horizonAt : last
}

/** The last instant at which clocks show no more than a wall-clock time. */
function lastInstantOf(timezone: string, wall: number): number {
  const [before, after] = [offsetOf(timezone, wall - dayMs), offsetOf(timezone, wall + dayMs)]
  return Math.max(...[before, after].map((offsetMs) => wall - offsetMs).filter((at) => at + offsetOf(timezone, at) <= wall))
}

export function nextInCalendar({ rule, from, until, excluded }: Calendar, after: number): number | null {
  let at = Math.max(after, from - 1)
  for (;;) {
    if (at >= until) return null
    const found = nextZoned(rule, at)
    if (found === null || found > until) return null
    if (!excluded.has(found)) return found
    at = found
  }
}

export function latestInCalendar({ rule, from, until, excluded }: Calendar, notAfter: number): number | null {
  let at = Math.min(notAfter, until)
  for (;;) {
    if (at < from || at < 0) return null
    const found = latestZoned(rule, at)
    if (found === null || found < from) return null
    if (!excluded.has(found)) return found
    at = found - 1
  }
}

/** Occurrences after `after` and not after `notAfter`, at most `max`. */
export function countInCalendar({ rule, from, until, excluded }: Calendar, after: number, notAfter: number, max: number): number {
  const [first, last] = [Math.max(after, from - 1), Math.min(notAfter, until)]
  if (last <= first) return 0
  const count = countZoned(rule, first, last, max + excluded.size)
  let left = count
  for (const at of excluded) if (at > first && at <= last && nextZoned(rule, at - 1) === at) left--
  return Math.min(left, max)
}
