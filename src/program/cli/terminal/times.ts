/** Times in options: ISO 8601, epoch milliseconds, a duration before now, or a day; without an offset in the zone of this machine. */
import { InvalidArgumentError, Option } from 'commander'
import { isInSeconds, parseIsoTime } from '../../../../streams/text/index.ts'

/** The forms, for help. */
export const timeForms = 'ISO 8601, epoch ms, 1h (an hour ago), today or yesterday; without an offset it is local time'

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }

/** Its value is a time in ISO 8601 and UTC. Another text is refused with exit code 2. `isAhead`: a duration counts from now into the future. */
export function timeOption(flags: string, description: string, isAhead = false): Option {
  return new Option(flags, description).argParser((text) => {
    const ms = parseTime(text, Date.now(), isAhead)
    if (ms !== undefined && Math.abs(ms) <= 8.64e15) return new Date(ms).toISOString()
    throw new InvalidArgumentError(
      `Allowed: ${timeForms}; such as 2030-01-31T09:00:00+01:00, '2030-01-31 09:00', 90m or yesterday.`,
    )
  })
}

export interface RangeFlags {
  from?: string
  since?: string
  to?: string
}

/** --from, --since and --to of a command. `what`: what is in the range, such as `only runs that ended`. */
export const rangeOptions = (what: string): Option[] => [
  timeOption('--from <time>', `${what} at this time or later: ${timeForms}`),
  timeOption('--since <time>', 'the same as --from').conflicts('from'),
  timeOption('--to <time>', `${what} before this time`),
]

export const rangeOf = ({ since, from = since, to }: RangeFlags): Pick<RangeFlags, 'from' | 'to'> => ({
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
})

/** Epoch ms; undefined for a text that is no time. */
export function parseTime(given: string, nowMs: number, isAhead = false): number | undefined {
  const text = given.trim()
  if (/^\d{1,16}$/.test(text)) return isInSeconds(Number(text)) ? undefined : Number(text)
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  if (count !== undefined) return nowMs + (isAhead ? 1 : -1) * Number(count) * (unitMs[unit] ?? 0)
  const now = new Date(nowMs)
  const dayAt = (days: number): number => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).getTime()
  if (text === 'now') return nowMs
  if (text === 'today') return dayAt(0)
  if (text === 'yesterday') return dayAt(-1)
  if (text === 'tomorrow') return dayAt(1)
  return parseIsoTime(text) ?? localTime(text)
}

function localTime(text: string): number | undefined {
  const [, date = '', time = '00:00'] = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?))?$/.exec(text) ?? []
  // A day that does not exist is refused, as with an offset.
  if (parseIsoTime(`${date}T${time}Z`) === undefined) return undefined
  return new Date(`${date}T${time}`).getTime()
}

/** Shows a time of the server; nothing for none. `precise`: with milliseconds. */
export type TimeText = (at: string | number | null | undefined, precise?: boolean) => string

/** ISO 8601 with its offset: in the zone of this machine, or in UTC. Options take it as it is shown. */
export const timeTextOf =
  (utc: boolean): TimeText =>
  (at, precise = false) => {
    if (at == null) return ''
    const ms = new Date(at).getTime()
    if (Number.isNaN(ms)) return String(at)
    const offsetMinutes = utc ? 0 : -new Date(ms).getTimezoneOffset()
    const local = new Date(ms + offsetMinutes * 60_000).toISOString().slice(0, precise ? -1 : -5)
    return `${local}${offsetText(offsetMinutes)}`
  }

function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z'
  const size = Math.abs(minutes)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`
}

/** A time of a schedule: its milliseconds are shown if there are any. */
export const exactTime = (at: string | number, time: TimeText): string => time(at, new Date(at).getTime() % 1_000 !== 0)

/** A sentence of the server, with its times as the others are shown. */
export const inSentence = (text: string, time: TimeText): string =>
  text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z\b/g, (instant) => time(instant))
