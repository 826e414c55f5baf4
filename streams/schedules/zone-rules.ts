/**
 * The source of time zone offsets: Intl, with the data of this Node version. No other module asks Intl for offsets.
 *
 * Governments change these rules, and a newer Node has new data. Times that were computed under other rules may have to be computed again
 * (ADR 0040). Tests simulate such a change with other rules.
 */
import { BoundedCache } from './bounded-cache.ts'

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
