/** `duelog jobs put`: creates or replaces one job from flags, and a schedule as flags. Files of jobs go through `jobs apply`. */
import { Option } from 'commander'
import { kindsByWorkers, targetKinds } from '../../../../streams/targets/index.ts'
import { stateWords } from '../../../../streams/text/index.ts'
import type { JobDefinition, Schedule } from '../../../ground/answers/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { forEach, type RemoteFlags, remoteCommand } from '../remote/index.ts'
import { exitCodes, integer, oneLine, timeOption } from '../terminal/index.ts'
import { jsonOf, laterText } from './change-commands.ts'

interface PutFlags extends RemoteFlags, ScheduleFlags {
  pool?: string
  payload?: string
  tag?: string[]
  fields?: string
  ifAbsent?: boolean
}

/** A flag for each kind of target. */
const targetOptions = new Map(targetKinds.map(([name, { flag }]) => [name, new Option(flag.option, flag.description)]))
const flagsOf = (kinds: readonly string[]): string[] =>
  [...targetOptions].flatMap(([name, { long }]) => (kinds.includes(name) ? (long ?? []) : []))

/** The server judges it. */
function definitionOf(flags: PutFlags): JobDefinition {
  const { pool, payload, tag, fields } = flags
  const texts = flags as Record<string, unknown>
  const given = targetKinds.flatMap(([name, { flag }]) => {
    const text = texts[targetOptions.get(name)?.attributeName() ?? '']
    return typeof text === 'string' ? [[name, flag.value(text)] as const] : []
  })
  if (given.length !== 1)
    throw new DuelogError('bad-usage', `Give one of ${new Intl.ListFormat('en-GB').format(flagsOf([...targetOptions.keys()]))}.`)
  const more = fields === undefined ? {} : JSON.parse(jsonOf(fields, '--fields').text)
  if (typeof more !== 'object' || more === null || Array.isArray(more))
    throw new DuelogError('bad-usage', '--fields is not an object of JSON.')
  const own = {
    schedule: scheduleOf(flags),
    target: { ...Object.fromEntries(given), ...(pool !== undefined && { pool }) },
    ...(payload !== undefined && { payload: jsonOf(payload) }),
    ...(tag !== undefined && { tags: tag }),
  }
  const [twice] = Object.keys(own).filter((name) => name in more)
  if (twice !== undefined) throw new DuelogError('bad-usage', `--fields has ${twice}, which has a flag of its own.`)
  return { ...more, ...own }
}

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

export const putCommand = remoteCommand({
  name: 'put',
  description: 'Create or replace a job.',
  examples: [
    "jobs put report-7 --cron '0 9 * * MON-FRI' --timezone Europe/Paris --handler send-report",
    `jobs put hello --delay-ms 5000 --handler log --payload '{"text": "hello"}'`,
    'jobs put ping --every-ms 60000 --http-url https://example.org/ping --tag pings',
    `jobs put orders-tick --every-ms 1000 --topic orders --payload '{}' --fields '{"catchUp": "SKIP"}'`,
  ],
  options: [
    ...scheduleOptions(),
    ...targetOptions.values(),
    new Option('--pool <name>', `with ${flagsOf(kindsByWorkers).join(' or ')}: the pool of its workers`),
    new Option('--payload <json>', 'its payload'),
    new Option('--tag <tag...>', 'words by which it can be found'),
    new Option('--fields <json>', 'any other fields of its definition, such as {"retry": {"maxAttempts": 1}}'),
    new Option('--if-absent', 'only if there is no job with this ID'),
  ],
  args: { '<id>': 'ID of the job' },
  run: (shell, id: string, flags: PutFlags) => {
    const body = definitionOf(flags)
    const condition = flags.ifAbsent ? { ifNoneMatch: '*' } : {}
    return forEach(shell, 'id', [id], async () => {
      const facts = await shell.api.putJob({ id, wait: 'applied', ...condition, body }).catch(asUsageError)
      const { applied, status, reason, warnings = [] } = facts
      if (!shell.json) for (const warning of warnings) shell.terminal.stderr.write(`warning: ${oneLine(warning)}\n`)
      if (status === 'INVALID') shell.exit(exitCodes.failed.code)
      if (!applied) return { facts, text: laterText(facts.detail === undefined ? {} : { detail: facts.detail }) }
      return { facts, text: `${stateWords(status ?? 'ACTIVE')}${reason === undefined ? '.' : `: ${reason}`}` }
    })
  },
})

/** Throws `bad-usage` unless exactly one kind is given. */
export function scheduleOf({ cron, rrule, everyMs, at, delayMs, timezone, schedule }: ScheduleFlags): Schedule {
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

/** The definition comes from the command line, so its faults are faults of the command line. */
export function asUsageError(error: unknown): never {
  if (error instanceof DuelogError && error.code === 'bad-definition')
    throw new DuelogError('bad-usage', error.message, { cause: error })
  throw error
}
