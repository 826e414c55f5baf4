/** A schedule as flags: of `jobs put` and `schedule preview`. */
import { Option } from 'commander'
import { DuelogError } from '../../errors/index.ts'
import { integer, timeOption } from '../terminal/index.ts'

const msMax = 315_360_000_000

export interface ScheduleFlags {
  cron?: string
  rrule?: string
  everyMs?: number
  at?: string
  delayMs?: number
  schedule?: string
  timezone?: string
}

export const scheduleOptions = (): Option[] => [
  new Option('--cron <expression>', 'a cron expression'),
  new Option('--rrule <rule>', 'a recurrence rule of RFC 5545'),
  integer('--every-ms <ms>', 'an interval', undefined, 1, msMax),
  timeOption('--at <time>', 'an instant: ISO 8601, epoch ms, or 1h for in an hour; without an offset it is local time', true),
  integer('--delay-ms <ms>', 'a delay', undefined, 0, msMax),
  new Option('--timezone <name>', 'with --cron or --rrule: an IANA time zone'),
  new Option('--schedule <json>', "a schedule as in a job's definition"),
]

/** Throws `bad-usage` unless exactly one kind is given. */
export function scheduleOf({ cron, rrule, everyMs, at, delayMs, timezone, schedule }: ScheduleFlags): unknown {
  const kinds = { cron, rrule, everyMs, at, delayMs }
  const given = Object.entries(kinds).filter(([, value]) => value !== undefined)
  if (given.length + (schedule === undefined ? 0 : 1) !== 1) {
    throw new DuelogError('bad-usage', 'Give one of --cron, --rrule, --every-ms, --at, --delay-ms and --schedule.')
  }
  if (schedule === undefined) return { ...Object.fromEntries(given), ...(timezone !== undefined && { timezone }) }
  if (timezone !== undefined)
    throw new DuelogError('bad-usage', 'With --schedule, set the time zone in the JSON, not with --timezone.')
  try {
    return JSON.parse(schedule)
  } catch (cause) {
    throw new DuelogError('bad-usage', `--schedule is not JSON: ${schedule.slice(0, 100)}`, { cause })
  }
}

/** What is wrong with a definition is from the command line, so it is a wrong command line. */
export function asUsageError(error: unknown): never {
  if (error instanceof DuelogError && error.code === 'bad-definition')
    throw new DuelogError('bad-usage', error.message, { cause: error })
  throw error
}
