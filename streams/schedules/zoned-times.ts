/**
 * The instants of wall-clock times in a zone.
 *
 * A zone is a sequence of eras, each with one offset. When clocks go forward, a gap of wall-clock times never occurs; when they go back,
 * some times occur twice. The policy of the schedule decides both cases. A schedule that names every hour counts elapsed time instead.
 * Occurrences that the policy would move to one instant are one occurrence.
 */
import type { DstGap, DstOverlap } from '../../schemas/index.ts'
import { eraStep } from './steps.ts'
import { dayMs, horizonAt, type Recurrence, type WallTimes } from './wall-times.ts'
import { type Era, eraAt as eraOf, isSteady, steadyOffset, zoneOf } from './zone.ts'

export interface ZonedRule {
  recurrence: Recurrence
  timezone: string
  dstGap: DstGap
  dstOverlap: DstOverlap
}

/** Times that SHIFT moves occur at most this long after the gap: the largest known change of an offset is 1 day. */
const shiftMsMax = dayMs

/** A rule with its zone and policies resolved. */
interface ZoneReading {
  recurrence: Recurrence
  zoneName: string
  gap: DstGap
  overlap: DstOverlap
}

/** First instant strictly after another; null when there is none. Throws RangeError for an unknown zone. */
export function nextZoned(rule: ZonedRule, after: number): number | null {
  const reading = readingOf(rule)
  if (reading === undefined) return rule.recurrence.wall(0).next(after)
  const { recurrence, zoneName } = reading
  const offsetMs = steadyOffset(zoneName, after)
  if (!Number.isNaN(offsetMs)) {
    const wall = recurrence.wall(offsetMs).next(after + offsetMs)
    if (wall !== null && isSteady(zoneName, offsetMs, after, wall - offsetMs)) return wall - offsetMs
  }
  let found: number | null = null
  let era = eraAt(zoneName, after - shiftMsMax)
  while (found === null || era.from <= found) {
    const here = nextInEra(reading, era, after)
    if (here !== null && (found === null || here < found)) found = here
    const start = found === null ? nextStart(reading, era, after) : era.until
    if (start === null) return null
    era = eraAt(zoneName, start)
  }
  return found
}

/** Last instant at or before another; null when there is none since 1970. Throws RangeError for an unknown zone. */
export function latestZoned(rule: ZonedRule, notAfter: number): number | null {
  const reading = readingOf(rule)
  if (reading === undefined) return rule.recurrence.wall(0).latest(notAfter)
  const { recurrence, zoneName } = reading
  const offsetMs = steadyOffset(zoneName, notAfter)
  if (!Number.isNaN(offsetMs)) {
    const wall = recurrence.wall(offsetMs).latest(notAfter + offsetMs)
    if (wall !== null && isSteady(zoneName, offsetMs, wall - offsetMs, notAfter)) return sinceEpoch(wall - offsetMs)
  }
  let found: number | null = null
  let era = eraAt(zoneName, notAfter)
  while (found === null || Math.max(era.until, era.from + shiftMsMax) > found) {
    const here = latestInEra(reading, era, notAfter)
    if (here !== null && (found === null || here > found)) found = here
    if (era.from <= 0) break
    // If an era has no occurrence, the times before it show how far back the next search may begin.
    const wall = found === null ? recurrence.wall(era.offsetMs).latest(era.from + dayMs) : era.from
    if (wall === null) break
    era = eraAt(zoneName, Math.min(era.from - 1, wall + 2 * dayMs))
  }
  return sinceEpoch(found)
}

/** Instants after `after` and not after `notAfter`, at most `max`. Throws RangeError for an unknown zone. */
export function countZoned(rule: ZonedRule, after: number, notAfter: number, max: number): number {
  const reading = readingOf(rule)
  if (reading === undefined) return rule.recurrence.wall(0).count(after, notAfter, max)
  let count = 0
  let start: number | null = after - shiftMsMax
  while (start !== null && start <= notAfter && count < max) {
    const era: Era = eraAt(reading.zoneName, start)
    count += countInEra(reading, era, after, notAfter, max - count)
    start = nextStart(reading, era, Math.max(after, era.until - 1), notAfter)
  }
  return Math.min(count, max)
}

function eraAt(zoneName: string, at: number): Era {
  eraStep()
  return eraOf(zoneName, at)
}

function readingOf({ recurrence, timezone, dstGap, dstOverlap }: ZonedRule): ZoneReading | undefined {
  const zone = zoneOf(timezone)
  if (zone.kind === 'unknown') throw new RangeError(`The time zone ${JSON.stringify(timezone)} is not known.`)
  if (zone.kind === 'utc') return undefined
  const { everyHour } = recurrence
  return { recurrence, zoneName: zone.name, gap: everyHour ? 'SKIP' : dstGap, overlap: everyHour ? 'BOTH' : dstOverlap }
}

function sinceEpoch(at: number | null): number | null {
  return at === null || at < 0 ? null : at
}

/** The start of the search after an era: its end, or later if the recurrence has no time there. */
function nextStart({ recurrence }: ZoneReading, era: Era, after: number, notAfter = horizonAt): number | null {
  const wall = recurrence
    .wall(era.offsetMs)
    .next(Math.max(after, era.until) - dayMs, Math.min(notAfter + 2 * dayMs, horizonAt - 1))
  return wall === null ? null : Math.max(era.until, wall - 2 * dayMs)
}

/** The range of wall-clock times that occur unchanged in an era: the first inclusive, the last exclusive. */
function ownWalls({ overlap }: ZoneReading, { from, until, offsetMs, previousMs, followingMs }: Era): [number, number] {
  const first = overlap === 'FIRST' && previousMs > offsetMs ? from + previousMs : from + offsetMs
  const last = overlap === 'LAST' && followingMs < offsetMs ? until + followingMs : until + offsetMs
  return [first, last]
}

/** The gap of wall-clock times at the beginning of an era. */
function gapWalls({ from, offsetMs, previousMs }: Era): [number, number] | undefined {
  return offsetMs > previousMs ? [from + previousMs, from + offsetMs] : undefined
}

function isWithin(wall: number | null, [first, last]: [number, number]): wall is number {
  return wall !== null && wall >= first && wall < last
}

function nextInEra(reading: ZoneReading, era: Era, after: number): number | null {
  const { recurrence, gap } = reading
  const own = ownWalls(reading, era)
  const walls = recurrence.wall(era.offsetMs)
  const wall = walls.next(Math.max(after + era.offsetMs, own[0] - 1), own[1] - 1)
  const found = isWithin(wall, own) ? wall - era.offsetMs : null
  const lost = gap === 'SKIP' ? undefined : gapWalls(era)
  if (lost === undefined) return found
  const moved = nextMoved(walls, gap, era, lost, after)
  return moved === null || (found !== null && found < moved) ? found : moved
}

function nextMoved(walls: WallTimes, gap: DstGap, era: Era, lost: [number, number], after: number): number | null {
  if (gap === 'NEXT_VALID') return after < era.from && isWithin(walls.next(lost[0] - 1, lost[1]), lost) ? era.from : null
  const wall = walls.next(Math.max(after, era.from - 1) + era.previousMs, lost[1])
  return isWithin(wall, lost) ? wall - era.previousMs : null
}

function latestInEra(reading: ZoneReading, era: Era, notAfter: number): number | null {
  const { recurrence, gap } = reading
  const own = ownWalls(reading, era)
  const walls = recurrence.wall(era.offsetMs)
  const wall = walls.latest(Math.min(notAfter + era.offsetMs, own[1] - 1), own[0])
  const found = isWithin(wall, own) ? wall - era.offsetMs : null
  const lost = gap === 'SKIP' || notAfter < era.from ? undefined : gapWalls(era)
  if (lost === undefined) return found
  const moved = latestMoved(walls, gap, era, lost, notAfter)
  return moved === null || (found !== null && found > moved) ? found : moved
}

function latestMoved(walls: WallTimes, gap: DstGap, era: Era, lost: [number, number], notAfter: number): number | null {
  if (gap === 'NEXT_VALID') return isWithin(walls.next(lost[0] - 1, lost[1]), lost) ? era.from : null
  const wall = walls.latest(Math.min(notAfter + era.previousMs, lost[1] - 1), lost[0])
  return isWithin(wall, lost) ? wall - era.previousMs : null
}

function countInEra(reading: ZoneReading, era: Era, after: number, notAfter: number, max: number): number {
  const { recurrence, gap } = reading
  const own = ownWalls(reading, era)
  const walls = recurrence.wall(era.offsetMs)
  const count = walls.count(Math.max(after + era.offsetMs, own[0] - 1), Math.min(notAfter + era.offsetMs, own[1] - 1), max)
  const lost = gap === 'SKIP' ? undefined : gapWalls(era)
  if (lost === undefined) return count
  let moved = 0
  let at = nextMoved(walls, gap, era, lost, after)
  while (at !== null && at <= notAfter && count + moved < max) {
    // A moved time that is also a time of the era itself was counted already.
    if (walls.next(at + era.offsetMs - 1, at + era.offsetMs) !== at + era.offsetMs) moved++
    at = nextMoved(walls, gap, era, lost, at)
  }
  return count + moved
}
