/**
 * The parser of RRULE texts (RFC 5545, section 3.3.10). It also checks the rules between the parts. A contradictory text is refused
 * with a reason; nothing is guessed.
 */
export const frequencies = ['SECONDLY', 'MINUTELY', 'HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const
export type Frequency = (typeof frequencies)[number]

export const intervalMax = 100_000
export const countMax = 10_000
const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** A weekday, 0 for Sunday. With an ordinal only the n-th of its period, from the end if negative; ordinal 0: each. */
export interface ByDay {
  ordinal: number
  weekday: number
}

export interface RRule {
  freq: Frequency
  interval: number
  count: number | undefined
  /** An instant if the text ends in Z, else a wall-clock time; both in ms. A date includes its whole day. */
  until: { at: number; wall: boolean } | undefined
  byMonth: number[]
  byWeekNo: number[]
  byYearDay: number[]
  byMonthDay: number[]
  byDay: ByDay[]
  byHour: number[]
  byMinute: number[]
  bySecond: number[]
  bySetPos: number[]
  /** The day that weeks begin with, 0 for Sunday. */
  weekStart: number
}

/** Parts that are lists of numbers: their bounds, and whether negative numbers may count from the end. */
const lists = {
  BYMONTH: { field: 'byMonth', minimum: 1, maximum: 12, signed: false },
  BYWEEKNO: { field: 'byWeekNo', minimum: 1, maximum: 53, signed: true },
  BYYEARDAY: { field: 'byYearDay', minimum: 1, maximum: 366, signed: true },
  BYMONTHDAY: { field: 'byMonthDay', minimum: 1, maximum: 31, signed: true },
  BYHOUR: { field: 'byHour', minimum: 0, maximum: 23, signed: false },
  BYMINUTE: { field: 'byMinute', minimum: 0, maximum: 59, signed: false },
  BYSECOND: { field: 'bySecond', minimum: 0, maximum: 59, signed: false },
  BYSETPOS: { field: 'bySetPos', minimum: 1, maximum: 366, signed: true },
} as const

const partNames = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'WKST', 'BYDAY', ...Object.keys(lists)]

class Refusal extends Error {}

function refuse(reason: string): never {
  throw new Refusal(reason)
}

/** The rule of a text, or the reason why the text is no rule. Never throws. */
export function parseRRule(text: string): RRule | { problem: string } {
  try {
    const rule = readParts(partsOf(text))
    checkParts(rule)
    return rule
  } catch (thrown) {
    if (thrown instanceof Refusal) return { problem: thrown.message }
    throw thrown
  }
}

function partsOf(text: string): Map<string, string> {
  const upper = text.trim().toUpperCase()
  if (/DTSTART|EXDATE|RDATE|[\r\n]/.test(upper)) {
    refuse('it must be one RRULE; the begin goes to schedule.dtstart, exceptions to schedule.exdates')
  }
  const parts = new Map<string, string>()
  // Google Calendar ends its rules with a semicolon.
  for (const part of upper
    .replace(/^RRULE:/, '')
    .replace(/;$/, '')
    .split(';')) {
    const [, name, value] = /^([A-Z-]+)=([^=]+)$/.exec(part) ?? refuse(`${shown(part)} is not of the form NAME=VALUE`)
    if (name === undefined || value === undefined) continue
    if (!partNames.includes(name)) refuse(`${shown(name)} is not a part it can have; those are ${partNames.join(', ')}`)
    if (parts.has(name)) refuse(`${name} stands there twice`)
    parts.set(name, value)
  }
  return parts
}

function readParts(parts: Map<string, string>): RRule {
  const freq = frequencies.find((name) => name === parts.get('FREQ'))
  if (freq === undefined) refuse(`FREQ must be one of ${frequencies.join(', ')}`)
  const count = parts.get('COUNT')
  const until = parts.get('UNTIL')
  if (count !== undefined && until !== undefined) refuse('COUNT and UNTIL exclude one another')
  const rule: RRule = {
    freq,
    interval: wholeOf('INTERVAL', parts.get('INTERVAL') ?? '1', 1, intervalMax),
    count: count === undefined ? undefined : wholeOf('COUNT', count, 1, countMax),
    until: until === undefined ? undefined : untilOf(until),
    byMonth: [],
    byWeekNo: [],
    byYearDay: [],
    byMonthDay: [],
    byDay: byDayOf(parts.get('BYDAY')),
    byHour: [],
    byMinute: [],
    bySecond: [],
    bySetPos: [],
    weekStart: weekdayOf('WKST', parts.get('WKST') ?? 'MO'),
  }
  for (const [name, list] of Object.entries(lists)) {
    const given = parts.get(name)?.split(',') ?? []
    const values = given.map((value) => listed(name, value, list))
    rule[list.field] = [...new Set(values)].sort((left, right) => left - right)
  }
  return rule
}

function listed(name: string, value: string, { minimum, maximum, signed }: (typeof lists)[keyof typeof lists]): number {
  if (!signed) return wholeOf(name, value, minimum, maximum)
  const sign = value.startsWith('-') ? -1 : 1
  return sign * wholeOf(name, value.replace(/^[+-]/, ''), minimum, maximum, value)
}

function wholeOf(name: string, text: string, minimum: number, maximum: number, given = text): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= minimum && value <= maximum)) refuse(`${name} has ${shown(given)}; allowed: ${minimum} to ${maximum}`)
  return value
}

function byDayOf(text: string | undefined): ByDay[] {
  const days = (text?.split(',') ?? []).map((part) => {
    const [, sign, digits, name] = /^([+-]?)(\d{0,2})([A-Z]{2})$/.exec(part) ?? refuse(`BYDAY has ${shown(part)}`)
    const weekday = weekdayOf('BYDAY', name ?? '')
    if (!digits) return sign ? refuse(`BYDAY has ${shown(part)}`) : { ordinal: 0, weekday }
    const ordinal = wholeOf('BYDAY', digits, 1, 53, part)
    return { ordinal: sign === '-' ? -ordinal : ordinal, weekday }
  })
  return days
}

function weekdayOf(part: string, name: string): number {
  const weekday = weekdays.indexOf(name)
  return weekday >= 0 ? weekday : refuse(`${part} has ${shown(name)}; allowed: ${weekdays.join(', ')}`)
}

function untilOf(text: string): { at: number; wall: boolean } {
  const match = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/.exec(text)
  if (match === null) refuse(`UNTIL has ${shown(text)}; allowed: 20301231, 20301231T235959 or 20301231T235959Z`)
  const [, year, month, day, hour = '23', minute = '59', second = '59', zulu = ''] = match
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  const back = Number.isNaN(at) ? '' : new Date(at).toISOString().replace(/[-:]/g, '')
  if (!back.startsWith(`${year}${month}${day}T${hour}${minute}${second}`))
    refuse(`UNTIL has ${shown(text)}, which does not exist`)
  return { at, wall: zulu === '' }
}

/** Checks which parts may be combined, after the notes below the table of RFC 5545, section 3.3.10. */
function checkParts(rule: RRule): void {
  const { freq } = rule
  const only = (given: boolean, part: string, allowed: readonly Frequency[]): void => {
    if (given && !allowed.includes(freq)) refuse(`${part} has no meaning with FREQ=${freq}; allowed: ${allowed.join(', ')}`)
  }
  only(rule.byWeekNo.length > 0, 'BYWEEKNO', ['YEARLY'])
  only(rule.byYearDay.length > 0, 'BYYEARDAY', ['SECONDLY', 'MINUTELY', 'HOURLY', 'YEARLY'])
  only(
    rule.byMonthDay.length > 0,
    'BYMONTHDAY',
    frequencies.filter((name) => name !== 'WEEKLY'),
  )
  const ordinal = rule.byDay.some((day) => day.ordinal !== 0)
  only(ordinal, 'BYDAY with a number', ['MONTHLY', 'YEARLY'])
  if (ordinal && rule.byWeekNo.length > 0) refuse('BYDAY with a number has no meaning with BYWEEKNO')
  if (ordinal && inMonth(rule) && rule.byDay.some((day) => Math.abs(day.ordinal) > 5)) refuse('no month has a sixth of a weekday')
  const { byMonth, byWeekNo, byYearDay, byMonthDay, byDay, byHour, byMinute, bySecond } = rule
  const others = [byMonth, byWeekNo, byYearDay, byMonthDay, byDay, byHour, byMinute, bySecond]
  if (rule.bySetPos.length > 0 && others.every((list) => list.length === 0))
    refuse('BYSETPOS needs another BY part to choose from')
}

/** Whether the n-th weekday is counted in a month, not in a year. */
export const inMonth = ({ freq, byMonth }: RRule): boolean => freq === 'MONTHLY' || byMonth.length > 0

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
