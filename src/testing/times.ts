/** Times as tests write them. */
import { zoneOf } from '../../streams/schedules/index.ts'
import { parseIsoTime } from '../../streams/text/index.ts'
import { DuelogError } from '../ground/errors/index.ts'

const localForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d{1,9})?)?$/

/**
 * Epoch ms of an ISO time, of epoch ms or of a Date. A time without an offset is local time of `zone`. Throws `bad-request`, also for a local
 * time that the zone skips or has twice.
 */
export function timeOf(time: unknown, zone: string | undefined, what: string): number {
  if (typeof time === 'number' && Number.isInteger(time)) return checked(time, what)
  if (time instanceof Date && Number.isFinite(time.getTime())) return checked(time.getTime(), what)
  const parsed = typeof time === 'string' ? parseIsoTime(time) : undefined
  if (parsed !== undefined) return checked(parsed, what)
  const asUtc = typeof time === 'string' && localForm.test(time) ? parseIsoTime(`${time}Z`) : undefined
  if (asUtc === undefined) throw refusal(time, what, 'give ISO 8601 such as 2027-03-28T03:00+02:00, epoch ms or a Date')
  if (zone === undefined) throw refusal(time, what, 'it has no offset; add one such as +02:00 or Z, or give testSystem a zone')
  const instants = instantsOf(asUtc, zone)
  if (instants[0] === undefined) throw refusal(time, what, `the clocks of ${zone} skip that time; give an offset`)
  if (instants.length > 1) throw refusal(time, what, `the clocks of ${zone} show that time twice; give an offset`)
  return checked(instants[0], what)
}

/** Instants at which clocks of the zone show this local time. */
function instantsOf(localAsUtcMs: number, zoneName: string): number[] {
  const zone = zoneOf(zoneName)
  if (zone.kind !== 'zoned') return [localAsUtcMs]
  const dayMs = 86_400_000
  const offsets = new Set([-dayMs, 0, dayMs].map((aside) => zone.offsetAt(localAsUtcMs + aside)))
  return [...offsets].map((offsetMs) => localAsUtcMs - offsetMs).filter((at) => zone.offsetAt(at) === localAsUtcMs - at)
}

/** Years 1970 to 9999. */
const timeMsMax = 253_402_300_799_999

function checked(ms: number, what: string): number {
  if (ms >= 0 && ms <= timeMsMax) return ms
  throw refusal(ms, what, 'give a time from 1970 to 9999')
}

function refusal(time: unknown, what: string, instead: string): DuelogError {
  return new DuelogError(
    'bad-request',
    `${what} is ${typeof time === 'string' ? JSON.stringify(time) : String(time)}; ${instead}`,
  )
}

/** Throws `bad-config` for a name that is no zone. */
export function checkZone(zone: string | undefined): void {
  if (zone === undefined || (typeof zone === 'string' && zoneOf(zone).kind !== 'unknown')) return
  throw new DuelogError('bad-config', `zone of testSystem is ${JSON.stringify(zone)}; give an IANA name such as Europe/Paris`)
}
