/**
 * Occurrences of cron expressions, computed by croner. Nothing here asks for the time: every call names its reference.
 *
 * Daylight saving, as croner does it (the convention of Vixie cron):
 * - An expression with a single second, minute and hour is a fixed time. Where that wall-clock time does not exist, it fires once
 *   at the first instant after the gap; where it exists twice, it fires at the first of the two only.
 * - Any other expression is an interval. Times inside a gap are left out, times that exist twice fire twice.
 *
 * Away from a change of offset a zone is UTC moved by a constant. There the expression is read in UTC, some ten times faster,
 * and croner's zoned reading is asked only near a change; tests hold the two against each other.
 */
import { Cron } from 'croner'
import { BoundedCache } from './bounded-cache.ts'
import { isSteady, steadyOffset, zoneOf } from './zone.ts'

/** Parsed expressions kept in memory, at about 80 KB each; a further one costs some 30 µs to parse again. */
const parsedCronsMax = 256
/** The same for readings in a zone, needed near a change of its offset. */
const zonedCronsMax = 64

/** From the year 3000 on there are no occurrences: croner searches no further. */
export const cronHorizonAt = Date.UTC(3000, 0, 1)

/** Where the search for "does this ever fire" starts; the calendar repeats every 400 years. */
const searchFrom = new Date(Date.UTC(2000, 0, 1))

/** Five fields have no seconds; six have them first. A seventh, the year, is refused. */
const mode = '5-or-6-parts'

type Parsed = { cron: Cron } | { problem: string }

const parsedCrons = new BoundedCache<Parsed>(parsedCronsMax, (expression) => {
  // The parser would read anything with a colon as a date.
  if (expression.includes(':')) return { problem: 'a cron expression has no colon; for one instant use schedule.at' }
  try {
    const cron = new Cron(expression, { utcOffset: 0, mode, paused: true })
    return cron.nextRun(searchFrom) === null ? { problem: 'it never comes true, because no such day exists' } : { cron }
  } catch (thrown) {
    return { problem: readable(thrown instanceof Error ? thrown.message : String(thrown)) }
  }
})

const zonedCrons = new BoundedCache<Cron>(zonedCronsMax, (key) => {
  const separator = key.indexOf('\n')
  return new Cron(key.slice(separator + 1), { timezone: key.slice(0, separator), mode, paused: true })
})

/** The parser's message without its own class names and field numbers. */
function readable(message: string): string {
  const fields = ['second', 'minute', 'hour', 'day of month', 'month', 'day of week']
  if (/parts are required|requires exactly/.test(message)) {
    return 'it must have 5 fields (minute hour day month weekday), or 6 with seconds first, or be one of @yearly @monthly @weekly @daily @hourly'
  }
  if (message.includes('@reboot')) return '@reboot has no meaning here; use schedule.delayMs for one run after the definition'
  return message
    .replace(/^Cron(Pattern|Options|Date)?: (Syntax error, )?/, '')
    .replace(
      /configuration entry (\d) \((.*)\)/s,
      (_, index: string, text: string) => `the field ${fields[Number(index)]} (${text})`,
    )
    .replace('dayOfWeek', 'day of week')
    .replace(/\.$/, '')
}

/** Why an expression cannot be used, or undefined when it can. Never throws. */
export function cronProblem(expression: string): string | undefined {
  const entry = parsedCrons.get(expression)
  return 'problem' in entry ? entry.problem : undefined
}

/** First occurrence strictly after an instant, in epoch ms; null when there is none. Throws RangeError for an unusable expression or zone. */
export function nextCron(expression: string, timezone: string, after: number): number | null {
  const { flat, zoneName } = reading(expression, timezone)
  if (after >= cronHorizonAt) return null
  const from = Math.max(after, -1)
  if (zoneName === undefined) return nextOf(flat, from)
  const offsetMs = steadyOffset(zoneName, from)
  if (!Number.isNaN(offsetMs)) {
    const local = nextOf(flat, from + offsetMs)
    if (local !== null && isSteady(zoneName, offsetMs, from, local - offsetMs)) return local - offsetMs
  }
  return nextOf(zonedCrons.get(`${zoneName}\n${expression}`), from)
}

/** Last occurrence at or before an instant, in epoch ms; null when there is none since 1970. Throws RangeError for an unusable expression or zone. */
export function latestCron(expression: string, timezone: string, notAfter: number): number | null {
  const { flat, zoneName } = reading(expression, timezone)
  if (notAfter < 0) return null
  const until = Math.min(notAfter, cronHorizonAt - 1)
  if (zoneName === undefined) return latestOf(flat, until, 0)
  const offsetMs = steadyOffset(zoneName, until)
  if (!Number.isNaN(offsetMs)) {
    const found = latestOf(flat, until, offsetMs)
    if (found !== null && isSteady(zoneName, offsetMs, found, until)) return found
  }
  return latestOf(zonedCrons.get(`${zoneName}\n${expression}`), until, 0)
}

function reading(expression: string, timezone: string): { flat: Cron; zoneName: string | undefined } {
  const entry = parsedCrons.get(expression)
  if ('problem' in entry)
    throw new RangeError(`The cron expression ${JSON.stringify(expression)} is not usable: ${entry.problem}.`)
  const zone = zoneOf(timezone)
  if (zone.kind === 'unknown') throw new RangeError(`The time zone ${JSON.stringify(timezone)} is not known.`)
  return { flat: entry.cron, zoneName: zone.kind === 'zoned' ? zone.name : undefined }
}

function nextOf(cron: Cron, after: number): number | null {
  return cron.nextRun(new Date(after))?.getTime() ?? null
}

function latestOf(cron: Cron, notAfter: number, offsetMs: number): number | null {
  // croner looks strictly before its reference.
  const found = cron.previousRuns(1, new Date(notAfter + offsetMs + 1))[0]
  const at = found === undefined ? -1 : found.getTime() - offsetMs
  return at < 0 ? null : at
}
