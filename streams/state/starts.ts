/**
 * Starts under a rateLimit: an exact sliding window. In any interval of length perMs at most `limit` attempts of a key start.
 *
 * The last given starts are kept, in order. The next start is the wanted time, but not before the last start (so starts are given in
 * ascending order) and not before perMs have passed since the start `limit` places back. Starts are given by arrival and never taken
 * back: there is no queue.
 */
import type { ActiveRun, JobDefinition, KeyStarts, RateLimit } from '../../schemas/index.ts'

/** The last starts of a key, oldest first, and the largest limits of its jobs, because jobs with the same key may differ. */
export interface Starts {
  times: StartTimes
  limit: number
  perMs: number
  /** The owner's clock when it gave the last start. */
  givenAt: number
}

/** Most that clocks of owners may differ: a forgotten start must be outdated by each of them. */
const clocksApartMs = 3_600_000

/** Clocks of owners differ from the brokers' by less than this, unless the comparison is switched off. */
const givenAheadMsMax = 60_000

/**
 * The starts, corrected if a clock that was ahead has given them for the future. No start is given before the last one, so the key would
 * wait until then. Each such start counts as given now at the latest.
 */
function believed(before: Starts | undefined, now: number): StartTimes {
  if (before === undefined) return StartTimes.of()
  const { times, givenAt } = before
  return givenAt - now > givenAheadMsMax ? StartTimes.of(Array.from(times, (at) => Math.min(at, now))) : times
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
  // No later start is given before `at`, so starts older than one window before it do not matter.
  while (from < times.length && (times.at(from) ?? 0) + kept.perMs <= at) from++
  return { at, starts: { times: times.followedBy(at, from), ...kept } }
}

/** Whether the starts can be forgotten. */
export const isOutdated = ({ lastAt, perMs }: Pick<KeyStarts, 'lastAt' | 'perMs'>, now: number): boolean =>
  lastAt + perMs + clocksApartMs <= now

/** How much of a rate is in use, for people. */
export interface RateUse {
  /** Starts that were given within the last `perMs`. */
  started: number
  /** Starts that were given for a later time. */
  ahead: number
  /** Epoch ms: the earliest start that would be given now. */
  nextAt: number
}

export function rateUse(starts: Starts, now: number): RateUse {
  let [started, ahead] = [0, 0]
  for (const at of believed(starts, now)) {
    if (at > now) ahead++
    else if (at > now - starts.perMs) started++
  }
  return { started, ahead, nextAt: reserveStart(starts, starts, now).at }
}

/** The rate for a run: that of the definition in force if it has the same key, else that of the run. Null: none. */
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

/**
 * Given starts of a rate limit, oldest first. Adding one has constant cost: a commit cycle may give hundreds of starts, and a rate may have
 * ten thousand. The object is immutable, so a caller can continue from an earlier one. Consecutive objects share one array.
 */
export class StartTimes {
  /** Shared with earlier and later objects. Their other elements are outside of `from` and `to`. */
  readonly #shared: number[]
  readonly #from: number
  readonly #to: number

  private constructor(shared: number[], from: number, to: number) {
    this.#shared = shared
    this.#from = from
    this.#to = to
  }

  static of(times: readonly number[] = []): StartTimes {
    return new StartTimes([...times], 0, times.length)
  }

  get length(): number {
    return this.#to - this.#from
  }

  /** Start by its index, 0 is the oldest; undefined if there is none. */
  at(place: number): number | undefined {
    return place >= 0 && place < this.length ? this.#shared[this.#from + place] : undefined
  }

  get last(): number | undefined {
    return this.at(this.length - 1)
  }

  /** A copy without the `forgotten` oldest starts and with a new one. */
  followedBy(at: number, forgotten: number): StartTimes {
    const from = this.#from + forgotten
    // Another object has already extended the array, or most of the array is no longer used.
    if (this.#shared.length !== this.#to || from > 2 * (this.#to - from) + 1_000) {
      const own = this.#shared.slice(from, this.#to)
      own.push(at)
      return new StartTimes(own, 0, own.length)
    }
    this.#shared.push(at)
    return new StartTimes(this.#shared, from, this.#to + 1)
  }

  *[Symbol.iterator](): Generator<number, void, undefined> {
    for (let place = this.#from; place < this.#to; place++) yield this.#shared[place] ?? 0
  }
}
