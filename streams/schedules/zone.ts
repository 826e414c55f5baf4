/** Time zones as Intl knows them: whether a name is one, and whether it is UTC by another name. */
import { BoundedCache } from './bounded-cache.ts'

/** Zones kept in memory; the IANA database has about 600 names. */
const zonesMax = 1024

type Zone = { kind: 'unknown' } | { kind: 'utc' } | { kind: 'zoned'; name: string }

const zones = new BoundedCache<Zone>(zonesMax, (name) => {
  try {
    const resolved = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
    return /^(Etc\/)?(UTC|GMT)$|^\+00:00$/.test(resolved) ? { kind: 'utc' } : { kind: 'zoned', name }
  } catch {
    return { kind: 'unknown' }
  }
})

/** What a name stands for. Fixed offsets such as +02:00 count as zones, because Intl takes them. */
export function zoneOf(name: string): Zone {
  return zones.get(name)
}
