/** Times in JSON: input is ISO 8601 with an offset, output is ISO 8601 in UTC. */
import type { Problem } from './problem.ts'

const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:(Z)|([+-])(\d\d):?(\d\d))$/i

/** The accepted forms of a time in JSON, for messages. */
export const timeLimit = 'a time in ISO 8601 with an offset, such as 2030-01-31T09:00:00Z, or epoch milliseconds'

/** Whether epoch ms are rather epoch seconds: 2001 to 2286 in seconds, and January to April 1970 in ms. */
export const isInSeconds = (ms: number): boolean => ms >= 1_000_000_000 && ms < 10_000_000_000

/** The problem of such a time. Who means 1970 writes it in ISO 8601. */
export function secondsProblem(field: string, ms: number): Problem {
  const message = `${field} is ${ms}, which is ${isoTime(ms)} in epoch milliseconds. In seconds it is ${isoTime(ms * 1_000)}: multiply it by 1000, or write it in ISO 8601.`
  return { field, value: ms, limit: timeLimit, message }
}

/** Epoch ms of a text such as 2030-01-31T09:00:00+01:00, truncated to whole ms; undefined for any other text, or a day that does not exist. */
export function parseIsoTime(text: string): number | undefined {
  const match = form.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second = '0', fraction = '0', , sign, offsetHours = '0', offsetMinutes = '0'] = match
  const ms = Math.trunc(Number(`0.${fraction}`) * 1000 + 1e-6)
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  date.setUTCHours(Number(hour), Number(minute), Number(second), ms)
  // Date rolls over a day that does not exist, such as 30 February; ISO 8601 does not.
  const kept =
    date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) && date.getUTCHours() === Number(hour)
  if (!kept || Number(minute) > 59 || Number(second) > 59 || Number(offsetHours) > 23 || Number(offsetMinutes) > 59)
    return undefined
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000
  return date.getTime() - (sign === '-' ? -offsetMs : offsetMs)
}

/** From the year 10000 on ISO 8601 needs a sign and 6 digits, which few readers accept. */
const isoEndAt = Date.UTC(10_000, 0, 1)

/** A time as JSON shows it, such as 2030-01-31T09:00:00.000Z; outside the years 0 to 9999 the number itself. */
export function isoTime(ms: number): string | number {
  return Number.isInteger(ms) && ms >= -62_167_219_200_000 && ms < isoEndAt ? new Date(ms).toISOString() : ms
}
