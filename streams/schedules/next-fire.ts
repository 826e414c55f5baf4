/**
 * The nominal times of a job. They follow from the definition and its append time at the broker; no clock is read.
 *
 * Nominal times of one definition, ascending:
 * - at: that instant, also in the past. delayMs: this duration after the append time.
 * - everyMs: from an anchor, the grid anchor + k × everyMs after the append time, a future anchor itself being the first.
 *   Without an anchor the grid counts from startAt, which is then the first, or else from the append time, one interval later.
 * - cron: strictly after the append time.
 * - rrule: strictly after the append time, from dtstart on. dtstart itself is an occurrence if the rule matches it.
 * exdates take times out of everyMs, cron and rrule. No occurrence is before startAt or after endAt; an occurrence exactly at either counts.
 *
 * streams/schedules/zoned-times.ts applies daylight saving to cron and rrule; the end of this file has the delay after the nominal time. maxRuns is not known here. All functions throw RangeError for what streams/definitions/validate.ts refuses.
 */
import type { JobDefinition } from '../../schemas/index.ts'
import { hashFraction } from '../text/index.ts'
import { calendarOf, countInCalendar, latestInCalendar, nextInCalendar } from './calendar.ts'
import { countOnGrid, type Grid, latestOnGrid, nextOnGrid } from './interval.ts'
import { perRules } from './zone.ts'

/** The fields of a definition that nominal times are computed from. */
export type ScheduleSource = Pick<JobDefinition, 'schedule' | 'startAt' | 'endAt'>

/** Largest time that a Date can hold, and so the largest time in Duelog. */
const timeMax = 8_640_000_000_000_000

/** First times that were searched for, kept while the definition is referenced. Decisions and every timer of the job ask for them. */
const firstTimes = perRules(() => new WeakMap<ScheduleSource, { appendedAt: number; at: number | null }>())

/** First nominal time; null when there is none. appendedAt: broker append time of the definition, epoch ms. */
export function firstFire(definition: ScheduleSource, appendedAt: number): number | null {
  const { rrule, exdates } = definition.schedule
  if (rrule === null && exdates.length === 0) return nextFire(definition, appendedAt, Number.NEGATIVE_INFINITY)
  const known = firstTimes().get(definition)
  if (known?.appendedAt === appendedAt) return known.at
  const at = nextFire(definition, appendedAt, Number.NEGATIVE_INFINITY)
  firstTimes().set(definition, { appendedAt, at })
  return at
}

/** First nominal time strictly after `after`; null when there is none. */
export function nextFire(definition: ScheduleSource, appendedAt: number, after: number): number | null {
  const { schedule } = definition
  const last = lastAllowed(definition)
  const once = onceAt(definition, appendedAt)
  if (once !== null) return once > after && once >= (definition.startAt ?? once) && once <= last ? once : null
  const from = Math.max(after, firstAllowed(definition, appendedAt) - 1)
  const calendar = calendarOf(schedule, definition.startAt, appendedAt)
  const found =
    schedule.everyMs !== null
      ? nextOnGrid(gridOf(definition, schedule.everyMs, appendedAt), from)
      : calendar === undefined
        ? null
        : nextInCalendar(calendar, from)
  return found !== null && found <= last ? found : null
}

/**
 * As nextFire of a recurring schedule, as if it had always been in force. Neither the append time nor an anchor bounds it: its grid, and
 * the beginning that a rule takes from the append time, extend backwards without limit. startAt, endAt, dtstart and UNTIL hold, and COUNT
 * ends it at the same time.
 */
export function nextFireUnbounded(definition: ScheduleSource, appendedAt: number, after: number): number | null {
  const { schedule, startAt } = definition
  const from = Math.max(after, (startAt ?? 0) - 1)
  const calendar = calendarOf(schedule, startAt, appendedAt)
  const isBounded = schedule.dtstart !== null || startAt !== null
  const found =
    schedule.everyMs !== null
      ? nextOnGrid(gridOf(definition, schedule.everyMs, appendedAt), from)
      : calendar === undefined
        ? null
        : nextInCalendar(isBounded ? calendar : { ...calendar, from: 0 }, from)
  return found !== null && found <= lastAllowed(definition) ? found : null
}

/** With from END: the nominal time that follows a run which ended at `endedAt`; null when there is none. */
export function nextFireAfterEnd(definition: ScheduleSource, endedAt: number): number | null {
  if (definition.schedule.everyMs === null) return null
  const found = Math.max(endedAt + definition.schedule.everyMs, definition.startAt ?? 0)
  return found <= lastAllowed(definition) ? found : null
}

/** Last nominal time after `after` and not after `notAfter`; null when there is none. The cost does not depend on the range. */
export function latestFire(definition: ScheduleSource, appendedAt: number, after: number, notAfter: number): number | null {
  const { schedule } = definition
  const until = Math.min(notAfter, lastAllowed(definition))
  if (onceAt(definition, appendedAt) !== null) {
    const once = nextFire(definition, appendedAt, after)
    return once !== null && once <= until ? once : null
  }
  const from = Math.max(after, firstAllowed(definition, appendedAt) - 1)
  if (until <= from) return null
  const calendar = calendarOf(schedule, definition.startAt, appendedAt)
  const found =
    schedule.everyMs !== null
      ? latestOnGrid(gridOf(definition, schedule.everyMs, appendedAt), until)
      : calendar === undefined
        ? null
        : latestInCalendar(calendar, until)
  return found !== null && found > from ? found : null
}

/** Number of nominal times after `after` and not after `notAfter`, at most `max`. Arithmetic for everyMs; a calendar usually takes one step for each day. */
export function countFires(
  definition: ScheduleSource,
  appendedAt: number,
  after: number,
  notAfter: number,
  max: number = Number.POSITIVE_INFINITY,
): number {
  const { schedule, startAt } = definition
  const { everyMs } = schedule
  if (onceAt(definition, appendedAt) !== null) {
    return max >= 1 && latestFire(definition, appendedAt, after, notAfter) !== null ? 1 : 0
  }
  const from = Math.max(after, firstAllowed(definition, appendedAt) - 1)
  const until = Math.min(notAfter, lastAllowed(definition))
  if (until <= from) return 0
  if (everyMs !== null) return Math.min(max, countOnGrid(gridOf(definition, everyMs, appendedAt), from, until))
  const calendar = calendarOf(schedule, startAt, appendedAt)
  return calendar === undefined ? 0 : countInCalendar(calendar, from, until, max)
}

export interface OccurrenceRange {
  /** Epoch ms, inclusive. Default: from the first occurrence. */
  from?: number
  /** Epoch ms, exclusive, so that adjacent ranges share no occurrence. Default: without end. */
  to?: number
  /** Maximum number of returned occurrences. Default: no limit. */
  max?: number
}

/** Nominal times of a range, ascending. Lazy, so the reader may stop within an endless schedule. */
export function* occurrences(
  definition: ScheduleSource,
  appendedAt: number,
  { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, max = Number.POSITIVE_INFINITY }: OccurrenceRange = {},
): Generator<number, void, undefined> {
  let at = nextFire(definition, appendedAt, from - 1)
  for (let given = 0; given < max && at !== null && at < to; given++) {
    yield at
    at = nextFire(definition, appendedAt, at)
  }
}

function onceAt({ schedule, startAt }: ScheduleSource, appendedAt: number): number | null {
  if (schedule.at !== null) return schedule.at
  // A delay that ends before startAt waits for startAt, because a writer cannot know the append time in advance.
  return schedule.delayMs === null ? null : Math.max(appendedAt + schedule.delayMs, startAt ?? 0)
}

function lastAllowed({ endAt }: ScheduleSource): number {
  return endAt === null ? timeMax : Math.min(endAt, timeMax)
}

/** Earliest instant at which a repeated schedule may be due. */
function firstAllowed({ schedule, startAt }: ScheduleSource, appendedAt: number): number {
  let earliest = appendedAt + 1
  if (startAt !== null && startAt >= appendedAt) earliest = startAt
  if (schedule.everyMs !== null && schedule.anchor !== null && schedule.anchor > appendedAt) {
    earliest = Math.max(earliest, schedule.anchor)
  }
  return earliest
}

function gridOf({ schedule, startAt }: ScheduleSource, everyMs: number, appendedAt: number): Grid {
  return { base: schedule.anchor ?? startAt ?? appendedAt, everyMs, exdates: schedule.exdates }
}

export type JitteredSource = ScheduleSource & { jitterMs: number }

/**
 * The due time of an occurrence: its nominal time without jitter, else up to jitterMs later and before the next nominal time, so the
 * occurrences of a job keep their order. The delay follows from job id and nominal time alone, so a replay decides the same, and jobs
 * with one schedule are spread evenly.
 */
export function dueAtOf(definition: JitteredSource, anchorAt: number, jobId: string, nominal: number): number {
  if (definition.jitterMs === 0) return nominal
  // With from END the next time is not known until the run has ended.
  const next = definition.schedule.from === 'END' ? null : nextFire(definition, anchorAt, nominal)
  const rangeMs = next === null ? definition.jitterMs : Math.min(definition.jitterMs, next - nominal - 1)
  return nominal + Math.floor(hashFraction(`${jobId}/${nominal}`) * (rangeMs + 1))
}

/** The last occurrence after `after` that is due at `now`, jitter included; null when there is none. */
export function latestDue(
  definition: JitteredSource,
  anchorAt: number,
  jobId: string,
  after: number,
  now: number,
): number | null {
  const latest = latestFire(definition, anchorAt, after, now)
  if (latest === null || dueAtOf(definition, anchorAt, jobId, latest) <= now) return latest
  // The previous occurrence was due before the nominal time of this one.
  return latestFire(definition, anchorAt, after, latest - 1)
}

/** Up to this number of occurrences are visited one by one, which costs less than another count. */
const walkedMax = 50
/** The range of the first search; each further search covers twice as much. */
const firstSpanMs = 3_600_000

/**
 * The n-th last nominal time after `after` and not after `notAfter`; null when there are fewer than n. It is found by counting, without a
 * visit of the n − 1 after it: arithmetic for an interval and one step per day for a calendar. The last 100,000 occurrences of a cron that
 * fires every second are in two days.
 */
export function nthLatestFire(
  definition: ScheduleSource,
  appendedAt: number,
  after: number,
  notAfter: number,
  n: number,
): number | null {
  const countAfter = (at: number, max?: number): number => countFires(definition, appendedAt, at, notAfter, max)
  if (countAfter(after, n) < n) return null
  let high = { at: notAfter, count: 0 }
  let low = high
  for (let spanMs = firstSpanMs; low.count < n; spanMs *= 2) {
    high = low
    const at = Math.max(after, notAfter - spanMs)
    low = { at, count: countAfter(at) }
  }
  // n or more occurrences are after `low` and fewer are after `high`, so the result is between them.
  for (let guess = 0; low.count - high.count > walkedMax; guess++) {
    const widthMs = high.at - low.at
    // Alternately: the estimate for evenly spread occurrences, and the middle, which halves the rest for any distribution.
    const share = guess % 2 === 0 ? (low.count - n) / (low.count - high.count) : 0.5
    const at = low.at + Math.min(Math.max(1, Math.round(share * widthMs)), widthMs - 1)
    const found = { at, count: countAfter(at) }
    if (found.count < n) high = found
    else low = found
  }
  let at = latestFire(definition, appendedAt, after, high.at)
  for (let left = n - high.count; left > 1 && at !== null; left--) at = latestFire(definition, appendedAt, after, at - 1)
  return at
}
