/**
 * Nominal times of a schedule, written from docs/JOBS.md with other libraries than the program's: cron-parser and rrule-temporal.
 * Intervals are computed by hand.
 */
import { CronExpressionParser } from 'cron-parser'
import { RRuleTemporal } from 'rrule-temporal'
import type { JobDefinition } from '../../../schemas/generated.ts'

type Times = Pick<JobDefinition, 'schedule' | 'startAt' | 'endAt'>

/** First nominal time after an instant; null if there is none. `appendedAt`: when the broker appended the definition. */
export function occurrenceAfter(spec: Times, appendedAt: number, after: number): number | null {
  const { schedule, startAt, endAt } = spec
  const found = foundAfter(spec, appendedAt, after)
  if (found === null || found > (endAt ?? Number.MAX_SAFE_INTEGER)) return null
  return schedule.at !== null && found < (startAt ?? found) ? null : found
}

/** Nominal times after an instant and up to another, at most `most`. */
export function occurrencesBetween(spec: Times, appendedAt: number, after: number, upTo: number, most = 100_000): number[] {
  const times: number[] = []
  let at = occurrenceAfter(spec, appendedAt, after)
  while (at !== null && at <= upTo && times.length < most) {
    times.push(at)
    at = occurrenceAfter(spec, appendedAt, at)
  }
  return times
}

/** Nominal times of a range, whether or not the definition existed then. A backfill makes these. */
export function timesInRange(spec: Times, appendedAt: number, from: number, to: number): number[] {
  const since = Math.max(from, spec.startAt ?? from)
  const { schedule } = spec
  const origin = schedule.anchor ?? spec.startAt ?? appendedAt
  // Computes as if the definition had been written before the range. An interval keeps its grid.
  const early = { ...spec, schedule: { ...schedule, ...(schedule.everyMs !== null && { anchor: origin % schedule.everyMs }) } }
  return occurrencesBetween({ ...early, startAt: null }, 0, since - 1, to - 1)
}

function foundAfter({ schedule, startAt }: Times, appendedAt: number, after: number): number | null {
  const { at, delayMs, everyMs, anchor, cron, rrule } = schedule
  if (at !== null) return at > after ? at : null
  if (delayMs !== null) {
    const due = Math.max(appendedAt + delayMs, startAt ?? 0)
    return due > after ? due : null
  }
  // No time before startAt, and none that had passed when the definition came.
  const open = startAt !== null && startAt >= appendedAt ? startAt : appendedAt + 1
  if (everyMs !== null) {
    const origin = anchor ?? startAt ?? appendedAt
    const least = Math.max(after + 1, open, anchor !== null && anchor > appendedAt ? anchor : 0)
    return origin + Math.ceil((least - origin) / everyMs) * everyMs
  }
  const least = Math.max(after + 1, open)
  if (cron !== null) return cronFrom(cron, schedule.timezone, least)
  return rrule === null ? null : rruleFrom(schedule, startAt === null ? wholeSecond(appendedAt) : -wholeSecond(-startAt), least)
}

const wholeSecond = (at: number): number => Math.floor(at / 1_000) * 1_000

function cronFrom(cron: string, tz: string, least: number): number {
  return remembered(`${cron} ${tz}`, least, () =>
    CronExpressionParser.parse(cron, { currentDate: new Date(least - 1), tz })
      .next()
      .getTime(),
  )
}

function rruleFrom({ rrule, dtstart, timezone }: JobDefinition['schedule'], begin: number, least: number): number | null {
  const start = dtstart ?? begin
  return remembered(`${rrule} ${timezone} ${start}`, least, () => {
    // The library counts from the beginning. Rules of seconds and minutes without COUNT therefore start again after this many
    // periods.
    const [, period = '', interval = '1'] = /^FREQ=(SECOND|MINUTE)LY(?:;INTERVAL=(\d+))?/.exec(rrule ?? '') ?? []
    const stepMs = Number(interval) * (period === 'SECOND' ? 1_000 : period === 'MINUTE' ? 60_000 : 0)
    const nearer = stepMs > 0 && least > start ? start + Math.floor((least - start) / stepMs) * stepMs : start
    const rule = new RRuleTemporal({ rruleString: `DTSTART;TZID=${timezone}:${wallTime(nearer, timezone)}\nRRULE:${rrule}` })
    return rule.next(new Date(Math.max(least, nearer)), true)?.epochMilliseconds ?? null
  })
}

/** The last answers. The same question is asked for each run. */
const answers = new Map<string, number | null>()
function remembered<Answer extends number | null>(about: string, least: number, answer: () => Answer): Answer {
  const question = `${about} ${least}`
  const known = answers.get(question)
  if (known !== undefined) return known as Answer
  if (answers.size > 20_000) answers.clear()
  const found = answer()
  answers.set(question, found)
  return found
}

function wallTime(at: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(at)
  const part = (type: string): string => parts.find((each) => each.type === type)?.value ?? ''
  return `${part('year')}${part('month')}${part('day')}T${part('hour')}${part('minute')}${part('second')}`
}
