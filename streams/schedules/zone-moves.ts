/** What the rules of a time zone do to an occurrence: daylight saving, and rules that have changed. */
import type { DecidedTime, Schedule } from '../../schemas/index.ts'
import { calendarOf } from './calendar.ts'
import { countFires, firstFire, nextFire, type ScheduleSource } from './next-fire.ts'
import { dayMs, type WallTimes } from './wall-times.ts'
import { type Era, eraAt, offsetOf, steadyOffset, zoneOf } from './zone.ts'

/**
 * The position of a job in its schedule (ADR 0040): the nominal time of the last decided occurrence, with the wall-clock time in the zone
 * at that moment. A wall-clock schedule identifies an occurrence by its wall-clock time: one at 02:30 that ran does not run again because
 * 02:30 now comes an hour later. A schedule that names every hour counts elapsed time, and identifies an occurrence by its instant.
 */
export interface Place {
  anchorAt: number
  /** The next occurrence as it was last computed, under the rules of that time. */
  nextFireAt: number | null
  decidedFor: DecidedTime | null
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
  if (decidedFor === null) return { nextFireAt: firstFire(definition, anchorAt), passed: 0 }
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

/** The instant of a wall-clock time; if it falls into a gap, the instant that the policy of the schedule gives. */
function instantOf({ schedule: { timezone, dstGap, dstOverlap } }: ScheduleSource, wall: number): number {
  const [before, after] = [offsetOf(timezone, wall - dayMs), offsetOf(timezone, wall + dayMs)]
  const shown = [before, after].map((offsetMs) => wall - offsetMs).filter((at) => at + offsetOf(timezone, at) === wall)
  if (shown.length > 0) return dstOverlap === 'LAST' ? Math.max(...shown) : Math.min(...shown)
  if (dstGap === 'SHIFT') return wall - before
  const zone = zoneOf(timezone)
  return zone.kind === 'zoned' ? eraAt(zone.name, wall - before).from : wall
}

/**
 * A sentence, or undefined if daylight saving changed nothing. `before` is the previous occurrence, or the start of the preview: a time
 * that was skipped since then is reported with the next occurrence.
 */
export function dstNote(definition: ScheduleSource, appendedAt: number, before: number, at: number): string | undefined {
  const { schedule, startAt } = definition
  const calendar = calendarOf(schedule, startAt, appendedAt)
  const zone = zoneOf(schedule.timezone)
  if (calendar === undefined || zone.kind !== 'zoned') return undefined
  const { recurrence } = calendar.rule
  const era = eraAt(zone.name, at)
  const walls = recurrence.wall(era.offsetMs)
  const wall = at + era.offsetMs
  if (walls.next(wall - 1) !== wall) return movedNote(schedule, era, walls, at)
  const policy = recurrence.everyHour
    ? 'each counts, because the schedule counts elapsed time'
    : `dstOverlap ${schedule.dstOverlap}`
  if (wall >= era.until + era.followingMs) return `${clockOf(wall)} comes twice; this is the first time (${policy}).`
  if (wall < era.from + era.previousMs) return `${clockOf(wall)} comes twice; this is the second time (${policy}).`
  if (era.from <= before || era.offsetMs <= era.previousMs) return undefined
  if (recurrence.everyHour)
    return `Clocks went from ${clockOf(era.from + era.previousMs)} to ${clockOf(era.from + era.offsetMs)}.`
  const lost = lostIn(era, walls)
  if (lost === undefined || schedule.dstGap !== 'SKIP') return undefined
  return `${dayOf(lost)} ${clockOf(lost)} does not exist and was left out (dstGap SKIP).`
}

/** A time that was moved because it fell into a gap. */
function movedNote({ dstGap }: Schedule, era: Era, walls: WallTimes, at: number): string | undefined {
  const lost = dstGap === 'SHIFT' ? at + era.previousMs : lostIn(era, walls)
  if (lost === undefined) return undefined
  return `${clockOf(lost)} does not exist on ${dayOf(lost)}; due at ${clockOf(at + era.offsetMs)} (dstGap ${dstGap}).`
}

/** The first time that falls into the gap at the beginning of an era. */
function lostIn({ from, offsetMs, previousMs }: Era, walls: WallTimes): number | undefined {
  const wall = walls.next(from + previousMs - 1)
  return wall !== null && wall < from + offsetMs ? wall : undefined
}

const clockOf = (wall: number): string => new Date(wall).toISOString().slice(11, 19).replace(/:00$/, '')
const dayOf = (wall: number): string => new Date(wall).toISOString().slice(0, 10)
