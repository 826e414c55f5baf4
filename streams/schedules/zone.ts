/**
 * Time zones and the rules in force: where offsets come from, whether a name is a zone or an alias of UTC, when its offset changes, and between
 * which instants it is steady. Steady offsets let most cron arithmetic run on plain numbers, because calls to Intl are slow.
 */
import { BoundedCache } from './bounded-cache.ts'
import { stretchStep, stretchSteps, windowStep } from './steps.ts'

/**
 * The source of time zone offsets: Intl, with the data of this Node version. No other module asks Intl for offsets.
 *
 * Governments change these rules, and a newer Node has new data. Times that were computed under other rules may have to be computed again
 * (ADR 0040). Tests simulate such a change with other rules.
 */

export type ZoneOffsets =
  | { kind: 'unknown' }
  | { kind: 'utc' }
  /** `name` is the one spelling of the zone; `offsetAt` gives local time minus UTC in ms. */
  | { kind: 'zoned'; name: string; offsetAt: (ms: number) => number }

export interface ZoneRules {
  /** The zone of a name. Always the same for one set of rules. */
  zone(name: string): ZoneOffsets
}

const fields = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const

/** The rules of this Node. */
export const intlRules: ZoneRules = {
  zone(name) {
    try {
      const format = new Intl.DateTimeFormat('en-US', { timeZone: name, calendar: 'gregory', hourCycle: 'h23', ...fields })
      const resolved = format.resolvedOptions().timeZone
      if (/^(Etc\/)?(UTC|GMT|Greenwich|Universal|Zulu)$|^\+00:00$/.test(resolved)) return { kind: 'utc' }
      return { kind: 'zoned', name: resolved, offsetAt: (ms) => offsetIn(format, ms) }
    } catch {
      return { kind: 'unknown' }
    }
  },
}

function offsetIn(format: Intl.DateTimeFormat, ms: number): number {
  // In en-US: month, day, year, hour, minute, second. format() takes a third of the time of formatToParts().
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (format.format(ms).match(/\d+/g) ?? []).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
}

let inForce: () => ZoneRules = () => intlRules

/** Sets other rules, for tests only; undefined restores the rules of this Node. Read at each computation, so two simulated processes may differ. */
export function putZoneRules(rules: (() => ZoneRules) | undefined): void {
  inForce = rules ?? (() => intlRules)
}

/** One value for each set of rules, created on first use. */
export function perRules<Value>(make: (rules: ZoneRules) => Value): () => Value {
  const made = new WeakMap<ZoneRules, Value>()
  let last: { rules: ZoneRules; value: Value } | undefined
  return () => {
    const rules = inForce()
    if (last?.rules === rules) return last.value
    const value = made.get(rules) ?? make(rules)
    made.set(rules, value)
    last = { rules, value }
    return value
  }
}

/** A cache of values that follow from the rules and a key. */
export function cachePerRules<Value>(
  entriesMax: number,
  compute: (key: string, rules: ZoneRules) => Value,
): Pick<BoundedCache<Value>, 'get' | 'peek'> {
  const cache = perRules((rules) => new BoundedCache<Value>(entriesMax, (key) => compute(key, rules)))
  return { get: (key) => cache().get(key), peek: (key) => cache().peek(key) }
}

/** Zones kept in memory; the IANA database has about 600 names. */
const zonesMax = 1024
/** Stretches of time whose offset is kept in memory. */
const windowsMax = 2048
/** Most windows that one query may span. */
const windowsAskedMax = 4
const dayMs = 86_400_000
const windowMs = 16 * dayMs
/** Stretches of a zone whose changes are kept in memory, and their length. */
const stretchesMax = 8192
const stretchMs = 8 * windowMs
/** A change of offset within this time before or after a window may repeat wall-clock times in it. The largest known change is 1 day. */
const settlingMs = 2 * dayMs

const zones = cachePerRules<ZoneOffsets>(zonesMax, (name, rules) => rules.zone(name))

/** The zone of a name; its `name` is the canonical spelling. Fixed offsets such as +02:00 count as zones, because Intl accepts them. */
export function zoneOf(name: string): ZoneOffsets {
  return zones.get(name)
}

/** Local time minus UTC at an instant, in ms. Throws RangeError for an unknown zone. */
export function offsetOf(name: string, at: number): number {
  const zone = zones.get(name)
  if (zone.kind === 'unknown') throw new RangeError(`The time zone ${JSON.stringify(name)} is not known.`)
  return zone.kind === 'zoned' ? zone.offsetAt(at) : 0
}

/** Distance between two probes of a zone's offset. No zone has changed its offset and changed it back within this time. */
const probeMs = 2 * dayMs

/** Offset of a window, or NaN if it changes in the window, or shortly before or after it. */
const windows = cachePerRules<number>(windowsMax, (key) => {
  const separator = key.indexOf('\n')
  const start = Number(key.slice(0, separator)) * windowMs
  const known = knownOffset(key.slice(separator + 1), start - settlingMs, start + windowMs + settlingMs)
  if (known !== undefined) return known
  windowStep()
  const zone = zoneOf(key.slice(separator + 1))
  if (zone.kind !== 'zoned') return Number.NaN
  const offsetMs = zone.offsetAt(start - settlingMs)
  for (let at = start - settlingMs + probeMs; at <= start + windowMs + settlingMs; at += probeMs) {
    if (zone.offsetAt(at) !== offsetMs) return Number.NaN
  }
  return offsetMs
})

/** The offset between two instants if the stretch around them is cached and has one offset there. */
function knownOffset(zoneName: string, from: number, to: number): number | undefined {
  const eras = stretches.peek(`${Math.floor(from / stretchMs)}\n${zoneName}`)
  return eras?.find((era) => era.from <= from && to < era.until)?.offsetMs
}

/** Local time minus UTC at an instant, in ms; NaN near a change. */
export function steadyOffset(zoneName: string, at: number): number {
  return windows.get(`${Math.floor(at / windowMs)}\n${zoneName}`)
}

/** Whether the zone has this offset from one instant to another and around both; false also if the check would cost too much. */
export function isSteady(zoneName: string, offsetMs: number, from: number, to: number): boolean {
  const first = Math.floor(from / windowMs)
  const last = Math.floor(to / windowMs)
  if (last - first >= windowsAskedMax) return false
  for (let index = first; index <= last; index++) if (windows.get(`${index}\n${zoneName}`) !== offsetMs) return false
  return true
}

/** A time in which a zone has one offset. The offsets before and after it differ, unless the era was cut at the end of a stretch. */
export interface Era {
  from: number
  until: number
  offsetMs: number
  previousMs: number
  followingMs: number
}

const stretches = cachePerRules<Era[]>(stretchesMax, (key) => {
  stretchStep()
  const separator = key.indexOf('\n')
  const zone = zoneOf(key.slice(separator + 1))
  const offsetAt = zone.kind === 'zoned' ? zone.offsetAt : () => 0
  const start = Number(key.slice(0, separator)) * stretchMs
  const changes = changesIn(offsetAt, start - settlingMs, start + stretchMs + settlingMs)
  // A cut close to a change would separate times that occur twice, so the cut is moved to the change.
  const cutNear = (at: number): number => changes.findLast((change) => Math.abs(change - at) <= settlingMs) ?? at
  const cuts = [cutNear(start), cutNear(start + stretchMs)] as const
  const froms = [cuts[0], ...changes.filter((change) => change > cuts[0] && change < cuts[1])]
  return froms.map((from, index) => {
    const until = froms[index + 1] ?? cuts[1]
    return { from, until, offsetMs: offsetAt(from), previousMs: offsetAt(from - 1000), followingMs: offsetAt(until) }
  })
})

/** Steps to load the stretches of the zone that these instants are in, counted as if none were cached. */
export function learningSteps(name: string, instants: readonly number[]): number {
  if (zoneOf(name).kind !== 'zoned') return 0
  return new Set(instants.map((at) => Math.floor(at / stretchMs))).size * stretchSteps
}

/** Instants at which the offset changes, after one and not after another. */
function changesIn(offsetAt: (ms: number) => number, after: number, notAfter: number): number[] {
  const changes: number[] = []
  let offsetMs = offsetAt(after)
  for (let at = after; at < notAfter; at += probeMs) {
    const followingMs = offsetAt(at + probeMs)
    if (followingMs !== offsetMs) changes.push(changeBetween(offsetAt, at, at + probeMs, offsetMs))
    offsetMs = followingMs
  }
  return changes
}

/** The first instant with another offset, to the second. */
function changeBetween(offsetAt: (ms: number) => number, from: number, to: number, offsetMs: number): number {
  let [same, changed] = [from, to]
  while (changed - same > 1000) {
    const middle = Math.floor((same + changed) / 2000) * 1000
    if (offsetAt(middle) === offsetMs) same = middle
    else changed = middle
  }
  return changed
}

/** The era of a zone that an instant is in. It may be a part of a longer one. */
export function eraAt(zoneName: string, at: number): Era {
  const index = Math.floor(at / stretchMs)
  for (const near of [0, 1, -1]) {
    const eras = stretches.get(`${index + near}\n${zoneName}`)
    for (const era of eras) if (at >= era.from && at < era.until) return era
  }
  throw new RangeError(`The time ${at} is in no era of ${zoneName}.`)
}
