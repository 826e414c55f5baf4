/** A sentence about the effect of daylight saving on an occurrence, for previews. */
import type { Schedule } from '../../schemas/index.ts'
import { calendarOf } from './calendar.ts'
import type { ScheduleSource } from './next-fire.ts'
import type { WallTimes } from './wall-times.ts'
import { type Era, eraAt, zoneOf } from './zone.ts'

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
