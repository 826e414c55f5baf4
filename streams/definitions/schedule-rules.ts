/** The rules between the fields of a schedule, its window and its jitter. */
import type { JobDefinition, Schedule } from '../../schemas/index.ts'
import {
  cronProblem,
  cronRecurrence,
  namesEveryHour,
  neverFires,
  neverFiresFrom,
  rruleOf,
  rruleProblem,
  zoneOf,
} from '../schedules/index.ts'
import { contradiction, isoOf, oneOf, type Problem, quoted } from '../text/index.ts'

const kinds = ['at', 'delayMs', 'everyMs', 'cron', 'rrule'] as const

/** Fields that have a meaning only together with others, and their defaults. */
const companions = [
  { field: 'anchor', beside: ['everyMs'], unset: null },
  { field: 'from', beside: ['everyMs'], unset: 'START' },
  { field: 'timezone', beside: ['cron', 'rrule'], unset: 'UTC' },
  { field: 'dtstart', beside: ['rrule'], unset: null },
  { field: 'dstGap', beside: ['cron', 'rrule'], unset: 'NEXT_VALID' },
  { field: 'dstOverlap', beside: ['cron', 'rrule'], unset: 'FIRST' },
] as const

export function addScheduleProblems(definition: JobDefinition, problems: Problem[]): void {
  const { schedule } = definition
  const given = kinds.filter((kind) => schedule[kind] !== null)
  if (given.length !== 1) {
    const found = given.length === 0 ? 'none of them is set' : `${given.join(' and ')} are set`
    problems.push(oneOf('schedule', kinds, given, found))
    return
  }
  const before = problems.length
  addCompanionProblems(schedule, given[0] ?? '', problems)
  addZoneProblem(schedule, problems)
  if (problems.length > before) return
  if (schedule.everyMs === null) addExdatesProblems(schedule, problems)
  if (schedule.cron !== null) addCronProblems(schedule, schedule.cron, problems)
  if (schedule.rrule !== null) addRRuleProblems(schedule, schedule.rrule, problems)
  addWindowProblems(definition, problems)
  addJitterProblem(definition, problems)
  if (problems.length === before) addNeverProblem(definition, problems)
}

function addCompanionProblems(schedule: Schedule, kind: string, problems: Problem[]): void {
  for (const { field, beside, unset } of companions) {
    if (schedule[field] !== unset && !(beside as readonly string[]).includes(kind)) {
      problems.push(onlyWith(`schedule.${field}`, schedule[field], beside))
    }
  }
  if (schedule.exdates.length === 0) return
  const isGrid = kind === 'everyMs' && schedule.from === 'START'
  if (!isGrid && kind !== 'cron' && kind !== 'rrule')
    problems.push(onlyWith('schedule.exdates', schedule.exdates, ['cron', 'rrule', 'everyMs from START']))
}

function addZoneProblem({ timezone }: Schedule, problems: Problem[]): void {
  if (zoneOf(timezone).kind !== 'unknown') return
  const limit = 'names of the IANA time zone database, such as Europe/Paris'
  const message = `schedule.timezone is ${quoted(timezone)}, which is not a known time zone; allowed: ${limit}.`
  problems.push(contradiction('schedule.timezone', timezone, limit, message))
}

function addCronProblems({ dstOverlap }: Schedule, cron: string, problems: Problem[]): void {
  const reason = cronProblem(cron)
  if (reason !== undefined) {
    problems.push(unusable('schedule.cron', cron, reason, 'a cron expression of 5 fields, or of 6 with seconds first'))
  } else if (dstOverlap === 'LAST' && cronRecurrence(cron).everyHour) {
    problems.push(lastOfEveryHour())
  }
}

function addExdatesProblems({ exdates }: Schedule, problems: Problem[]): void {
  exdates.forEach((at, index) => {
    if (at % 1000 !== 0) problems.push(wholeSeconds(`schedule.exdates[${index}]`, at))
  })
}

function addRRuleProblems({ rrule, dtstart, dstOverlap }: Schedule, text: string, problems: Problem[]): void {
  const reason = rruleProblem(text)
  if (reason !== undefined) {
    const limit = 'one rule of RFC 5545, such as FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0'
    problems.push(unusable('schedule.rrule', rrule, reason, limit))
  } else if (dstOverlap === 'LAST' && namesEveryHour(rruleOf(text))) {
    problems.push(lastOfEveryHour())
  }
  if (dtstart !== null && dtstart % 1000 !== 0) problems.push(wholeSeconds('schedule.dtstart', dtstart))
}

const comesTrue = 'a rule that comes true at least once, and soon enough to be found'

/** The problem of a rule that begins when its definition is accepted and has no occurrence from then on. The definition alone does not show it. */
export function noOccurrenceProblem(
  definition: Pick<JobDefinition, 'schedule' | 'startAt'>,
  beginAt: number,
): Problem | undefined {
  const reason = neverFiresFrom(definition, beginAt)
  return reason === undefined ? undefined : unusable('schedule.rrule', definition.schedule.rrule, reason, comesTrue)
}

function addNeverProblem(definition: JobDefinition, problems: Problem[]): void {
  const reason = neverFires(definition)
  if (reason === undefined) return
  const { cron, rrule } = definition.schedule
  problems.push(
    cron === null ? unusable('schedule.rrule', rrule, reason, comesTrue) : unusable('schedule.cron', cron, reason, comesTrue),
  )
}

function addWindowProblems({ schedule, startAt, endAt }: JobDefinition, problems: Problem[]): void {
  if (startAt !== null && endAt !== null && endAt < startAt)
    problems.push(disorder('endAt', endAt, 'before startAt', startAt, 'at or after startAt'))
  if (schedule.at === null) return
  if (startAt !== null && schedule.at < startAt) {
    problems.push(disorder('schedule.at', schedule.at, 'before startAt', startAt, 'at or after startAt'))
  }
  if (endAt !== null && schedule.at > endAt) {
    problems.push(disorder('schedule.at', schedule.at, 'after endAt', endAt, 'at or before endAt'))
  }
}

/** With from END the interval is not known; with a calendar each distance is its own limit (streams/schedules/next-fire.ts). */
function addJitterProblem({ schedule: { everyMs, from }, jitterMs }: JobDefinition, problems: Problem[]): void {
  if (everyMs === null || from === 'END' || jitterMs < everyMs) return
  const limit = `less than schedule.everyMs, ${everyMs} ms`
  const message = `jitterMs is ${jitterMs} ms, so that a run might be due after the next one; allowed: ${limit}.`
  problems.push(contradiction('jitterMs', jitterMs, limit, message))
}

function unusable(field: string, value: unknown, reason: string, limit: string): Problem {
  return contradiction(field, value, limit, `${field} is ${quoted(value)}: ${reason}; allowed: ${limit}.`)
}

function wholeSeconds(field: string, at: number): Problem {
  const limit = 'whole seconds, as a rule has no smaller ones'
  return contradiction(field, at, limit, `${field} is ${isoOf(at)}; allowed: ${limit}.`)
}

function lastOfEveryHour(): Problem {
  const limit = 'a schedule that does not name every hour'
  const message = `schedule.dstOverlap is "LAST", which would lose an hour of a schedule that counts elapsed time; allowed: with ${limit}.`
  return contradiction('schedule.dstOverlap', 'LAST', limit, message)
}

function onlyWith(field: string, value: unknown, beside: readonly string[]): Problem {
  const limit = `only with ${beside.map((name) => `schedule.${name}`).join(' or ')}`
  return contradiction(field, value, limit, `${field} is ${quoted(value)}, but it is allowed ${limit}; leave it out.`)
}

function disorder(field: string, value: number, how: string, other: number, limit: string): Problem {
  return contradiction(field, value, limit, `${field} (${isoOf(value)}) is ${how} (${isoOf(other)}); allowed: ${limit}.`)
}
