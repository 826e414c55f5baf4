/** Schedules in the words of other schedulers, in those of Duelog. What means otherwise here, or has no form, is refused with the reason. */
import { cronProblem } from '../../../../streams/schedules/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'

export const dialects = ['quartz', 'aws', 'spring', 'github'] as const
export type Dialect = (typeof dialects)[number]

export type ConvertedSchedule = { cron: string } | { everyMs: number } | { at: string }

interface Field {
  name: string
  min: number
  max: number
  /** Names of the values, from `min` on. */
  words?: readonly string[]
}

const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const
const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'] as const
const second: Field = { name: 'second', min: 0, max: 59 }
const minute: Field = { name: 'minute', min: 0, max: 59 }
const hour: Field = { name: 'hour', min: 0, max: 23 }
const day: Field = { name: 'day of the month', min: 1, max: 31 }
const month: Field = { name: 'month', min: 1, max: 12, words: months }
/** Quartz and AWS count them from 1, cron and Spring from 0; 7 is Sunday there too. */
const weekdayFrom1: Field = { name: 'weekday', min: 1, max: 7, words: weekdays }
const weekdayFrom0: Field = { name: 'weekday', min: 0, max: 6, words: weekdays }

/** No expression of these schedulers is longer. */
const charsMax = 256

/** Throws `bad-usage` with the reason why there is no such schedule here. */
export function convertedSchedule(dialect: Dialect, text: string): ConvertedSchedule {
  if (text.length > charsMax) throw refused(`the expression has ${text.length} characters; allowed: ${charsMax}`)
  const converted = (dialect === 'aws' ? ofAws : dialect === 'quartz' ? ofQuartz : dialect === 'spring' ? ofSpring : ofGithub)(
    text.trim().toUpperCase(),
  )
  const problem = 'cron' in converted ? cronProblem(converted.cron) : undefined
  if (problem !== undefined) throw refused(problem)
  return converted
}

function ofQuartz(text: string): ConvertedSchedule {
  const [seconds = '', minutes = '', hours = '', days = '', month = '', weekday = '', year] = fieldsOf(text, [6, 7], 'Quartz')
  checkYear(year)
  return cronOf([values(seconds, second), values(minutes, minute), values(hours, hour), ...oneDayField(days, month, weekday)])
}

const rateUnits: Readonly<Record<string, number>> = { MINUTE: 60_000, HOUR: 3_600_000, DAY: 86_400_000 }

function ofAws(text: string): ConvertedSchedule {
  const [, kind, inside] = /^(CRON|RATE|AT)\((.*)\)$/.exec(text) ?? [undefined, 'CRON', text]
  if (kind === 'RATE') {
    const [, count = '', unit = ''] = /^([1-9]\d{0,5}) +(MINUTE|HOUR|DAY)S?$/.exec((inside ?? '').trim()) ?? []
    if (count === '') throw refused('a rate is a number and minutes, hours or days, such as rate(5 minutes)')
    return { everyMs: Number(count) * (rateUnits[unit] ?? 0) }
  }
  if (kind === 'AT') {
    const time = `${(inside ?? '').trim()}Z`
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time) || Number.isNaN(Date.parse(time)))
      throw refused('at() has a time such as at(2030-01-31T09:00:00)')
    return { at: time }
  }
  const [minutes = '', hours = '', days = '', month = '', weekday = '', year] = fieldsOf(inside ?? '', [6], 'AWS')
  checkYear(year)
  return cronOf([values(minutes, minute), values(hours, hour), ...oneDayField(days, month, weekday)])
}

function ofSpring(text: string): ConvertedSchedule {
  if (/^@(YEARLY|ANNUALLY|MONTHLY|WEEKLY|DAILY|MIDNIGHT|HOURLY)$/.test(text)) return { cron: text.toLowerCase() }
  const [seconds = '', minutes = '', hours = '', days = '', monthText = '', weekday = ''] = fieldsOf(text, [6], 'Spring')
  const named = weekdaysOf(weekday, weekdayFrom0)
  // Both day fields must match in Spring; here one suffices without the +.
  const both = isOpen(days) || isOpen(weekday) ? named : `+${named}`
  return cronOf([
    ...[values(seconds, second), values(minutes, minute), values(hours, hour)],
    ...[daysOf(days), values(monthText, month), both],
  ])
}

function ofGithub(text: string): ConvertedSchedule {
  const [minutes = '', hours = '', days = '', monthText = '', weekday = ''] = fieldsOf(text, [5], 'GitHub')
  if (/[?LW#]/.test(days + weekday.replace('WED', ''))) throw refused('GitHub has no ?, L, W and #')
  // POSIX: either field suffices if both are restricted. Programs differ in whether */2 is restricted.
  if (weekday !== '*' && /^\*\//.test(days))
    throw refused(
      `programs differ in what a day of the month ${days} beside a weekday means: write + before the weekday if both must match, and ${days.replace('*', '1-31')} if one suffices`,
    )
  return cronOf([
    ...[values(minutes, minute), values(hours, hour), daysOf(days)],
    ...[values(monthText, month), weekdaysOf(weekday, weekdayFrom0)],
  ])
}

const cronOf = (fields: readonly string[]): ConvertedSchedule => ({ cron: fields.join(' ') })

const isOpen = (text: string): boolean => text === '*' || text === '?'

function fieldsOf(text: string, counts: readonly number[], name: string): string[] {
  const fields = text.split(/\s+/).filter((field) => field !== '')
  if (!counts.includes(fields.length))
    throw refused(`it has ${fields.length} fields; an expression of ${name} has ${counts.join(' or ')}`)
  return fields
}

function checkYear(year: string | undefined): void {
  if (year !== undefined && year !== '*')
    throw refused(`it names the year ${year}; there is no field for it here: use startAt and endAt`)
}

/** Day, month and weekday of Quartz and AWS, which take one day field only. */
function oneDayField(days: string, monthText: string, weekday: string): string[] {
  if ((days === '?') === (weekday === '?')) throw refused('one of the day of the month and the weekday, and not both, must be ?')
  return [daysOf(days), values(monthText, month), weekdaysOf(weekday, weekdayFrom1)]
}

function daysOf(text: string): string {
  if (isOpen(text)) return '*'
  const [, before] = /^L-(\d{1,2})$/.exec(text) ?? []
  if (before !== undefined)
    throw refused(
      `${text} has no form in cron here: use rrule, with FREQ=MONTHLY;BYMONTHDAY=-${Number(before) + 1} and the time of day`,
    )
  return text
    .split(',')
    .map((part) => (/^(L|LW|\d{1,2}W)$/.test(part) ? part : values(part, day)))
    .join()
}

/** Weekdays by their names, as their numbers mean others elsewhere. */
function weekdaysOf(text: string, field: Field): string {
  if (isOpen(text)) return '*'
  return text
    .split(',')
    .map((part) => {
      // Alone it is the last day of the week of Quartz and AWS. Spring has no such form.
      if (part === 'L' && field.min === 1) return 'SAT'
      const [, of = '', place = ''] = /^([A-Z]{3}|\d)(L|#[1-5])$/.exec(part) ?? []
      if (of === '') return weekdayPart(part, field)
      const at = numberOf(of, field) - field.min
      return place === 'L' ? `${at}L` : `${weekdays[at]}${place}`
    })
    .join()
}

function weekdayPart(part: string, field: Field): string {
  const { from, to, step, isAll } = rangeOf(part, field)
  if (isAll && step === 1) return '*'
  const names = expanded(from, to, step, field).map((value) => weekdays[value - field.min] ?? '')
  return step === 1 && from < to && names.length > 2 ? `${names[0]}-${names.at(-1)}` : names.join()
}

/** Values, ranges and steps of a field. A range that goes over the end begins again, and a step without a range goes to the end. */
function values(text: string, field: Field): string {
  return text
    .split(',')
    .map((part) => {
      const { from, to, step, isAll } = rangeOf(part, field)
      const by = step === 1 ? '' : `/${step}`
      if (isAll) return `*${by}`
      if (from === to) return String(from)
      return from < to ? `${from}-${to}${by}` : expanded(from, to, step, field).join()
    })
    .join()
}

function expanded(from: number, to: number, step: number, { min, max }: Field): number[] {
  const last = to < from ? to + (max - min + 1) : to
  const found: number[] = []
  for (let at = from; at <= last; at += step) found.push(at > max ? at - (max - min + 1) : at)
  return found
}

function rangeOf(part: string, field: Field): { from: number; to: number; step: number; isAll: boolean } {
  const [, first, last, by] = /^(\*|[A-Z]{3}|\d{1,2})(?:-([A-Z]{3}|\d{1,2}))?(?:\/(\d{1,2}))?$/.exec(part) ?? []
  const step = Number(by ?? 1)
  if (first === undefined || step === 0 || (first === '*' && last !== undefined))
    throw refused(`${part === '' ? 'an empty value' : part} is no value, range or step of the field ${field.name}`)
  if (first === '*') return { from: field.min, to: field.max, step, isAll: true }
  const from = numberOf(first, field)
  // With a step and no end it goes on to the last value.
  const to = last !== undefined ? numberOf(last, field) : by === undefined ? from : field.max
  return { from, to, step, isAll: from === field.min && to === field.max }
}

function numberOf(text: string, { name, min, max, words }: Field): number {
  const place = words?.indexOf(text) ?? -1
  if (place >= 0) return min + place
  const value = Number(text)
  // Sunday is 7 too where weekdays are counted from 0.
  if (words === weekdays && min === 0 && value === 7) return 0
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw refused(
    `${text} is no ${name}; allowed: ${min} to ${max}${words === undefined ? '' : `, or ${words[0]} to ${words.at(-1)}`}`,
  )
}

const refused = (reason: string): DuelogError => new DuelogError('bad-usage', `The expression cannot be converted: ${reason}.`)
