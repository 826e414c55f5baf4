/**
 * Time zones as Intl knows them: whether a name is one, whether it is UTC by another name, and between which instants its offset
 * does not change. The last lets most cron arithmetic run on plain numbers, because calls into Intl are what makes zones slow.
 */
import { BoundedCache } from './bounded-cache.ts'

/** Zones kept in memory; the IANA database has about 600 names. */
const zonesMax = 1024
/** Stretches of time whose offset is kept in memory. */
const windowsMax = 2048
/** Most windows that one question may span. */
const windowsAskedMax = 4
const dayMs = 86_400_000
const windowMs = 16 * dayMs
/** A change of offset so long before a window may still repeat wall-clock times in it. The largest known change is one day. */
const settlingMs = 2 * dayMs

type Zone = { kind: 'unknown' } | { kind: 'utc' } | { kind: 'zoned'; name: string; offsetAt: (ms: number) => number }

const zones = new BoundedCache<Zone>(zonesMax, (name) => {
  try {
    const fields = {
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    } as const
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, calendar: 'gregory', hourCycle: 'h23', ...fields })
    const resolved = format.resolvedOptions().timeZone
    if (/^(Etc\/)?(UTC|GMT|Greenwich|Universal|Zulu)$|^\+00:00$/.test(resolved)) return { kind: 'utc' }
    return { kind: 'zoned', name: resolved, offsetAt: (ms) => offsetIn(format, ms) }
  } catch {
    return { kind: 'unknown' }
  }
})

/** What a name stands for; `name` is its one spelling. Fixed offsets such as +02:00 count as zones, because Intl takes them. */
export function zoneOf(name: string): Zone {
  return zones.get(name)
}

function offsetIn(format: Intl.DateTimeFormat, ms: number): number {
  const wall = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 }
  for (const { type, value } of format.formatToParts(ms)) if (type in wall) wall[type as keyof typeof wall] = Number(value)
  return Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second) - Math.floor(ms / 1000) * 1000
}

/** Offset of a window, or NaN where it changes in it or shortly before. Looks once a day: no zone changes and changes back within one. */
const windows = new BoundedCache<number>(windowsMax, (key) => {
  const separator = key.indexOf('\n')
  const zone = zoneOf(key.slice(separator + 1))
  if (zone.kind !== 'zoned') return Number.NaN
  const start = Number(key.slice(0, separator)) * windowMs
  const offsetMs = zone.offsetAt(start - settlingMs)
  for (let at = start - settlingMs + dayMs; at <= start + windowMs; at += dayMs) {
    if (zone.offsetAt(at) !== offsetMs) return Number.NaN
  }
  return offsetMs
})

/** Local time minus UTC at an instant, in ms, if it is the same all around it; NaN near a change. */
export function steadyOffset(zoneName: string, at: number): number {
  return windows.get(`${Math.floor(at / windowMs)}\n${zoneName}`)
}

/** Whether the zone has this offset from one instant to another and all around them; false also where that would cost too much to know. */
export function isSteady(zoneName: string, offsetMs: number, from: number, to: number): boolean {
  const first = Math.floor(from / windowMs)
  const last = Math.floor(to / windowMs)
  if (last - first >= windowsAskedMax) return false
  for (let index = first; index <= last; index++) if (windows.get(`${index}\n${zoneName}`) !== offsetMs) return false
  return true
}
