/**
 * Occurrences of cron expressions, computed by croner. Nothing here asks for the time: every call names its reference.
 *
 * Daylight saving, as croner does it (the convention of Vixie cron):
 * - An expression with a single second, minute and hour is a fixed time. Where that wall-clock time does not exist, it fires once
 *   at the first instant after the gap; where it exists twice, it fires at the first of the two only.
 * - Any other expression is an interval. Times inside a gap are left out, times that exist twice fire twice.
 */
import { Cron } from 'croner'
import { BoundedCache } from './bounded-cache.ts'
import { zoneOf } from './zone.ts'

/** Parsed expressions kept in memory, at about 80 KB each; a further one costs some 30 µs to parse again. */
const parsedCronsMax = 256

/** From the year 3000 on there are no occurrences: croner searches no further. */
export const cronHorizonAt = Date.UTC(3000, 0, 1)

/** Where the search for "does this ever fire" starts; the calendar repeats every 400 years. */
const searchFrom = new Date(Date.UTC(2000, 0, 1))

type Parsed = { cron: Cron } | { problem: string }

const parsedCrons = new BoundedCache<Parsed>(parsedCronsMax, (key) => {
  const separator = key.indexOf('\n')
  return parse(key.slice(separator + 1), key.slice(0, separator))
})

function parse(expression: string, timezone: string): Parsed {
  // The parser would read anything with a colon as a date.
  if (expression.includes(':')) return { problem: 'a cron expression has no colon; for one instant use schedule.at' }
  const zone = zoneOf(timezone)
  if (zone.kind === 'unknown') return { problem: `the time zone ${JSON.stringify(timezone)} is not known` }
  try {
    // In UTC a fixed offset spares every call into Intl, which is ten times faster.
    const place = zone.kind === 'utc' ? { utcOffset: 0 } : { timezone: zone.name }
    const cron = new Cron(expression, { ...place, mode: '5-or-6-parts', paused: true })
    if (cron.nextRun(searchFrom) === null) return { problem: 'it never comes true: no such day exists' }
    return { cron }
  } catch (thrown) {
    return { problem: readable(thrown instanceof Error ? thrown.message : String(thrown)) }
  }
}

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
}

function parsed(expression: string, timezone: string): Cron {
  const entry = parsedCrons.get(`${timezone}\n${expression}`)
  if ('problem' in entry)
    throw new RangeError(`The cron expression ${JSON.stringify(expression)} is not usable: ${entry.problem}.`)
  return entry.cron
}

/** Why an expression cannot be used, or undefined when it can. Never throws. */
export function cronProblem(expression: string, timezone: string): string | undefined {
  const entry = parsedCrons.get(`${timezone}\n${expression}`)
  return 'problem' in entry ? entry.problem : undefined
}

/** First occurrence strictly after an instant, in epoch ms; null when there is none. Throws RangeError for an unusable expression. */
export function nextCron(expression: string, timezone: string, after: number): number | null {
  const cron = parsed(expression, timezone)
  if (after >= cronHorizonAt) return null
  return cron.nextRun(new Date(Math.max(after, 0) - (after < 0 ? 1 : 0)))?.getTime() ?? null
}

/** Last occurrence at or before an instant, in epoch ms; null when there is none since 1970. Throws RangeError for an unusable expression. */
export function latestCron(expression: string, timezone: string, notAfter: number): number | null {
  const cron = parsed(expression, timezone)
  if (notAfter < 0) return null
  const found = cron.previousRuns(1, new Date(Math.min(notAfter, cronHorizonAt) + 1))[0]?.getTime()
  return found === undefined || found < 0 ? null : found
}
