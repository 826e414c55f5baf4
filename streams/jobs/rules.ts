/** What a definition's fields owe one another. These rules run on definitions whose every field is within its own limits. */
import type { JobDefinition } from '../../schemas/generated.ts'
import { cronProblem } from '../schedules/cron.ts'
import { zoneOf } from '../schedules/zone.ts'
import { contradiction, type Problem, quoted } from './problem.ts'
import { addTargetProblems } from './target-rules.ts'

const kinds = ['at', 'delayMs', 'everyMs', 'cron'] as const
const backoffs = ['list', 'fixed', 'linear', 'exponential'] as const

export function addRuleProblems(definition: JobDefinition, problems: Problem[]): void {
  addScheduleProblems(definition, problems)
  addTargetProblems(definition, problems)
  addWindowProblems(definition, problems)
  addBackoffProblems(definition, problems)
}

function addScheduleProblems({ schedule }: JobDefinition, problems: Problem[]): void {
  let set = 0
  for (const kind of kinds) if (schedule[kind] !== null) set++
  if (set !== 1) {
    const given = kinds.filter((kind) => schedule[kind] !== null)
    const found = given.length === 0 ? 'none of them is set' : `${given.join(' and ')} are set`
    problems.push(oneOf('schedule', kinds, given, found))
    return
  }
  if (schedule.everyMs === null) {
    if (schedule.anchor !== null) problems.push(onlyWith('schedule.anchor', schedule.anchor, 'everyMs'))
    if (schedule.from !== 'START') problems.push(onlyWith('schedule.from', schedule.from, 'everyMs'))
  }
  if (zoneOf(schedule.timezone).kind === 'unknown') {
    const limit = 'names of the IANA time zone database, such as Europe/Paris'
    const message = `schedule.timezone is ${quoted(schedule.timezone)}, which is not a known time zone; allowed: ${limit}.`
    problems.push(contradiction('schedule.timezone', schedule.timezone, limit, message))
  } else if (schedule.cron !== null) {
    const reason = cronProblem(schedule.cron)
    if (reason !== undefined) {
      const limit = 'a cron expression of 5 fields, or of 6 with seconds first'
      problems.push(
        contradiction(
          'schedule.cron',
          schedule.cron,
          limit,
          `schedule.cron is ${quoted(schedule.cron)}: ${reason}; allowed: ${limit}.`,
        ),
      )
    }
  } else if (schedule.timezone !== 'UTC') {
    problems.push(onlyWith('schedule.timezone', schedule.timezone, 'cron'))
  }
}

function addWindowProblems({ schedule, startAt, endAt }: JobDefinition, problems: Problem[]): void {
  if (startAt !== null && endAt !== null && endAt < startAt)
    problems.push(disorder('endAt', endAt, 'before startAt', startAt, 'at or after startAt'))
  if (schedule.at !== null) {
    if (startAt !== null && schedule.at < startAt) {
      problems.push(disorder('schedule.at', schedule.at, 'before startAt', startAt, 'at or after startAt'))
    }
    if (endAt !== null && schedule.at > endAt) {
      problems.push(disorder('schedule.at', schedule.at, 'after endAt', endAt, 'at or before endAt'))
    }
  }
}

function addBackoffProblems({ retry: { backoff } }: JobDefinition, problems: Problem[]): void {
  const listed = backoff.list.length > 0
  const set = (listed ? 1 : 0) + (backoff.fixed ? 1 : 0) + (backoff.linear ? 1 : 0) + (backoff.exponential ? 1 : 0)
  if (set === 1) return
  const given = backoffs.filter((name) => (name === 'list' ? listed : backoff[name] !== null))
  const found = set === 0 ? 'none of them is set' : `${given.join(' and ')} are set`
  problems.push(oneOf('retry.backoff', backoffs, given, found))
}

function oneOf(field: string, names: readonly string[], given: readonly string[], found: string): Problem {
  const limit = `exactly one of ${names.join(', ')}`
  return contradiction(field, given.join(', '), limit, `${field} must have ${limit}; ${found}.`)
}

function onlyWith(field: string, value: unknown, companion: string): Problem {
  const limit = `only with schedule.${companion}`
  return contradiction(field, value, limit, `${field} is ${quoted(value)}, but has a meaning ${limit}; leave it out.`)
}

function disorder(field: string, value: number, how: string, other: number, limit: string): Problem {
  return contradiction(field, value, limit, `${field} (${isoOf(value)}) is ${how} (${isoOf(other)}); allowed: ${limit}.`)
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
