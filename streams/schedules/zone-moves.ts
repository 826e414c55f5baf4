/**
 * The next occurrence of a job after the rules of its time zone have changed (ADR 0040).
 *
 * Of what is decided about, the last nominal time is known, and what the clock in the zone showed then. An occurrence of a schedule by
 * the clock is known by that clock: one at 02:30 that ran does not run again because 02:30 now comes an hour later. What names every
 * hour goes by elapsed time, and is known by its instant.
 */
import type { DecidedTime } from '../../schemas/index.ts'
import { calendarOf } from './calendar.ts'
import { countFires, firstFire, latestFire, nextFire, type ScheduleSource } from './next-fire.ts'
import { dayMs } from './wall-times.ts'
import { eraAt, offsetOf, steadyOffset, zoneOf } from './zone.ts'

/** No change of rules has moved a time by more. */
const movedMsMax = 26 * 3_600_000

/** What is known of a job's place in its schedule. */
export interface Place {
  anchorAt: number
  /** The next occurrence as it was computed last, by whatever rules. */
  nextFireAt: number | null
  decidedFor: DecidedTime | null
  latestFiredFor: number | null
  skipped: number
}

/** Whether the times of a schedule follow from the rules of a time zone. */
export function followsZone({ schedule: { cron, rrule, timezone } }: ScheduleSource): boolean {
  return (cron !== null || rrule !== null) && zoneOf(timezone).kind === 'zoned'
}

/** What a state keeps of an occurrence that was decided about; null where no rules can change. */
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
  /** The next occurrence by the rules in force. */
  nextFireAt: number | null
  /** Occurrences that by these rules had been due before the last one that was decided about. */
  passed: number
}

/** The next occurrence by the rules in force. The same as before wherever they say what those said by which it was computed. */
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
  // A job's nominal times ascend: what lies before the last decision is over, and is counted.
  if (from >= decidedFor.at) return { nextFireAt: nextFire(definition, anchorAt, from), passed: 0 }
  return { ...byInstant, passed: countFires(definition, anchorAt, from, decidedFor.at - 1, countMax) }
}

/** Nothing was decided about the job, or by a version that kept no more than the instants. */
function nextUndecided(definition: ScheduleSource, place: Place, nextFireAt: number): number | null {
  const { anchorAt, latestFiredFor, skipped } = place
  if (nextFire(definition, anchorAt, nextFireAt - 1) === nextFireAt && latestFiredFor !== null) return nextFireAt
  const first = firstFire(definition, anchorAt)
  if (latestFiredFor === null && skipped === 0 && (first === null || Math.abs(first - nextFireAt) <= movedMsMax)) return first
  // The one that is nearest to where it was; of two the later, so that none comes twice.
  const later = nextFire(definition, anchorAt, nextFireAt - 1)
  const earlier = latestFire(definition, anchorAt, latestFiredFor ?? anchorAt, nextFireAt)
  if (earlier === null || nextFireAt - earlier > movedMsMax) return later
  return later === null || nextFireAt - earlier < later - nextFireAt ? earlier : later
}

/** When a time on the clock comes true; where a gap leaves it out, when the policy of the schedule makes up for it. */
function instantOf({ schedule: { timezone, dstGap, dstOverlap } }: ScheduleSource, wall: number): number {
  const [before, after] = [offsetOf(timezone, wall - dayMs), offsetOf(timezone, wall + dayMs)]
  const shown = [before, after].map((offsetMs) => wall - offsetMs).filter((at) => at + offsetOf(timezone, at) === wall)
  if (shown.length > 0) return dstOverlap === 'LAST' ? Math.max(...shown) : Math.min(...shown)
  if (dstGap === 'SHIFT') return wall - before
  const zone = zoneOf(timezone)
  return zone.kind === 'zoned' ? eraAt(zone.name, wall - before).from : wall
}
