/**
 * Starts under a rateLimit: an exact sliding window. In any stretch of perMs, wherever it begins, no more than `limit` attempts of a key
 * have their start.
 *
 * The last starts that were given are kept, in order. The next one is the time that is wanted, but not before the last one (so no given
 * start ever gets a younger one beside it) and not before perMs have passed since the one `limit` places back. Starts are given by arrival
 * and for good: there is no queue.
 */
import {
  type ActiveRun,
  fieldOf,
  type JobDefinition,
  jobDefinitionSchema,
  type KeyStarts,
  type RateLimit,
} from '../../schemas/index.ts'
import { StartTimes } from './start-times.ts'

/** The last starts of a key, oldest first, and the largest limits that were asked with: jobs of one key may differ. */
export interface Starts {
  times: StartTimes
  limit: number
  perMs: number
  /** The owner's clock when it gave the last of them; null where a version before wrote them. */
  givenAt: number | null
}

/** Clocks of owners differ: what is forgotten must be out of date by any of them. */
const clocksApartMs = 3_600_000

/** Owners' clocks agree with the brokers' by less than this, unless that is not compared. */
const givenAheadMsMax = 60_000
/** No run is given a start later than its deadline. */
const startDeadlineMsMax = fieldOf(jobDefinitionSchema, 'startDeadlineMs').maximum ?? Number.POSITIVE_INFINITY

/**
 * The starts as they may be believed. A clock that was ahead gave them for a time that has not come, and no start is given before the last
 * one: the key would wait until then. Whoever got them was let go by now at the latest. Records of earlier versions do not say when they were
 * given; there only what no start deadline allows has no other cause.
 */
function believed(before: Starts | undefined, now: number): StartTimes {
  if (before === undefined) return StartTimes.of()
  const { times, givenAt } = before
  const isMisdated =
    givenAt === null ? (times.last ?? 0) - now > startDeadlineMsMax + clocksApartMs : givenAt - now > givenAheadMsMax
  return isMisdated ? StartTimes.of(Array.from(times, (at) => Math.min(at, now))) : times
}

/** `now` is no later than `wantedAt`. */
export function reserveStart(
  before: Starts | undefined,
  { limit, perMs }: Pick<RateLimit, 'limit' | 'perMs'>,
  wantedAt: number,
  now: number = wantedAt,
): { at: number; starts: Starts } {
  const times = believed(before, now)
  const last = times.last ?? Number.NEGATIVE_INFINITY
  const back = times.at(times.length - limit) ?? Number.NEGATIVE_INFINITY
  const at = Math.max(wantedAt, last, back + perMs)
  const kept = { limit: Math.max(limit, before?.limit ?? 0), perMs: Math.max(perMs, before?.perMs ?? 0), givenAt: now }
  let from = Math.max(0, times.length + 1 - kept.limit)
  // Nothing is given before `at` any more, so what is a window older has no say.
  while (from < times.length && (times.at(from) ?? 0) + kept.perMs <= at) from++
  return { at, starts: { times: times.followedBy(at, from), ...kept } }
}

/** Whether the starts can be forgotten. */
export const isOutdated = ({ lastAt, perMs }: Pick<KeyStarts, 'lastAt' | 'perMs'>, now: number): boolean =>
  lastAt + perMs + clocksApartMs <= now

/** The rate that holds for a run: that of the definition now in force, as long as it is for the same key. Null: none. */
export function rateOf(spec: JobDefinition | undefined, { limits }: ActiveRun): RateLimit | null {
  if (limits === null || limits.rateKey === null) return null
  const rate = spec?.rateLimit ?? null
  return rate?.key === limits.rateKey ? rate : { key: limits.rateKey, limit: limits.rateLimit, perMs: limits.ratePerMs }
}

export function startsEntry({ times, limit, perMs, givenAt }: Starts): KeyStarts {
  const gaps: number[] = []
  for (let at = times.length - 1; at > 0; at--) gaps.push((times.at(at) ?? 0) - (times.at(at - 1) ?? 0))
  return { lastAt: times.last ?? 0, gaps, limit, perMs, givenAt }
}

export function startsOf({ lastAt, gaps, limit, perMs, givenAt }: KeyStarts): Starts {
  const times = [lastAt]
  let at = lastAt
  for (const gap of gaps) {
    at -= gap
    times.push(at)
  }
  return { times: StartTimes.of(times.reverse()), limit, perMs, givenAt }
}
