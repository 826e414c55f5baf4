/**
 * The next occurrence of a job after the rules of its time zone have changed (ADR 0040).
 *
 * The state keeps the nominal time of the last decided occurrence, and the wall-clock time in the zone at that moment. A wall-clock
 * schedule identifies an occurrence by its wall-clock time: one at 02:30 that ran does not run again because 02:30 now comes an hour
 * later. A schedule that names every hour counts elapsed time, and identifies an occurrence by its instant.
 */
import type { DecidedTime } from '../../schemas/index.ts'
import { calendarOf } from './calendar.ts'
import { countFires, firstFire, latestFire, nextFire, type ScheduleSource } from './next-fire.ts'
import { dayMs } from './wall-times.ts'
import { eraAt, offsetOf, steadyOffset, zoneOf } from './zone.ts'

/** The largest shift of a time by a change of rules so far. */
const movedMsMax = 26 * 3_600_000

/** The position of a job in its schedule. */
export interface Place {
  anchorAt: number
  /** The next occurrence as it was last computed, under the rules of that time. */
  nextFireAt: number | null
  decidedFor: DecidedTime | null
  latestFiredFor: number | null
  skipped: number
}

/** Whether the times of a schedule depend on the rules of a time zone. */
export function followsZone({ schedule: { cron, rrule, timezone } }: ScheduleSource): boolean {
  return (cron !== null || rrule !== null) && zoneOf(timezone).kind === 'zoned'
}

/** The wall-clock time that a state keeps for a decided occurrence; null if no rules can change it. */
export function decidedTime(definition: ScheduleSource, at: number): DecidedTime | null {
  if (!followsZone(definition) || !Number.isFinite(at)) return null
  return { at, offsetMs: offsetAt(definition.schedule.timezone, at) }
}

function offsetAt(timezone: string, at: number): number {
  const zone = zoneOf(timezone)
  const steady = zone.kind === 'zoned' ? steadyOffset(zone.name, at) : Number.NaN
  return Number.isNaN(steady) ? offsetOf(timezone, at) : steady
}

export interface Move {
  /** The next occurrence under the rules in force. */
  nextFireAt: number | null
  /** Occurrences that, under these rules, were due before the last decided one. */
  passed: number
}

/** The next occurrence under the rules in force. It is unchanged if they agree with the rules that it was computed under. */
export function nextByRules(definition: ScheduleSource, place: Place, countMax: number): Move {
  const { anchorAt, nextFireAt, decidedFor } = place
  if (nextFireAt === null || !followsZone(definition)) return { nextFireAt, passed: 0 }
  if (decidedFor === null) return { nextFireAt: nextUndecided(definition, place, nextFireAt), passed: 0 }
  const { schedule, startAt } = definition
  const calendar = calendarOf(schedule, startAt, anchorAt)
  const offsetMs = offsetAt(schedule.timezone, decidedFor.at)
  const byInstant = { nextFireAt: nextFire(definition, anchorAt, decidedFor.at), passed: 0 }
  if (calendar === undefined || offsetMs === decidedFor.offsetMs || calendar.rule.recurrence.everyHour) return byInstant
  const wall = calendar.rule.recurrence.wall(offsetMs).next(decidedFor.at + decidedFor.offsetMs)
  if (wall === null) return { nextFireAt: null, passed: 0 }
  const from = instantOf(definition, wall) - 1
  // A job's nominal times ascend: times before the last decision are past, and are counted.
  if (from >= decidedFor.at) return { nextFireAt: nextFire(definition, anchorAt, from), passed: 0 }
  return { ...byInstant, passed: countFires(definition, anchorAt, from, decidedFor.at - 1, countMax) }
}

/** For a job without a decision, or with one by a version that kept only instants. */
function nextUndecided(definition: ScheduleSource, place: Place, nextFireAt: number): number | null {
  const { anchorAt, latestFiredFor, skipped } = place
  if (nextFire(definition, anchorAt, nextFireAt - 1) === nextFireAt && latestFiredFor !== null) return nextFireAt
  const first = firstFire(definition, anchorAt)
  if (latestFiredFor === null && skipped === 0 && (first === null || Math.abs(first - nextFireAt) <= movedMsMax)) return first
  // The time that is nearest to the old one; of two equally near ones the later, so that none fires twice.
  const later = nextFire(definition, anchorAt, nextFireAt - 1)
  const earlier = latestFire(definition, anchorAt, latestFiredFor ?? anchorAt, nextFireAt)
  if (earlier === null || nextFireAt - earlier > movedMsMax) return later
  return later === null || nextFireAt - earlier < later - nextFireAt ? earlier : later
}

/** The instant of a wall-clock time; if it falls into a gap, the instant that the policy of the schedule gives. */
function instantOf({ schedule: { timezone, dstGap, dstOverlap } }: ScheduleSource, wall: number): number {
  const [before, after] = [offsetOf(timezone, wall - dayMs), offsetOf(timezone, wall + dayMs)]
  const shown = [before, after].map((offsetMs) => wall - offsetMs).filter((at) => at + offsetOf(timezone, at) === wall)
  if (shown.length > 0) return dstOverlap === 'LAST' ? Math.max(...shown) : Math.min(...shown)
  if (dstGap === 'SHIFT') return wall - before
  const zone = zoneOf(timezone)
  return zone.kind === 'zoned' ? eraAt(zone.name, wall - before).from : wall
}
