/** `duelog schedule preview`: the times of a schedule, without a job. */
import { Command } from 'commander'
import { zoneOf } from '../../../streams/schedules/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { timeOf } from '../jobs/index.ts'
import { type CommandFrame, type RemoteFlags, remoteCommand, remotely } from '../remote/index.ts'
import { integer, painterOf, tableText, writeAsJson } from '../terminal/index.ts'
import { diffTzCommand } from './diff-tz-command.ts'

interface PreviewFlags extends RemoteFlags {
  cron?: string
  rrule?: string
  everyMs?: number
  at?: string
  delayMs?: number
  schedule?: string
  timezone?: string
  from?: string
  count: number
}

const msMax = 315_360_000_000

export function scheduleCommand(frame: CommandFrame): Command {
  return new Command('schedule')
    .description('Preview schedules, and show the effects of new time zone rules on jobs.')
    .addCommand(previewCommand(frame))
    .addCommand(diffTzCommand(frame))
}

function previewCommand(frame: CommandFrame): Command {
  return remoteCommand('preview', 'Show the next times of a schedule and the effects of daylight saving.', [
    "schedule preview --cron '0 9 * * MON-FRI' --timezone Europe/Paris",
    "schedule preview --rrule 'FREQ=MONTHLY;BYDAY=-1FR' --count 12",
    `schedule preview --schedule '{"cron": "30 2 * * *", "timezone": "Europe/Paris"}' --from 2030-03-30T00:00:00Z`,
  ])
    .option('--cron <expression>', 'a cron expression')
    .option('--rrule <rule>', 'a recurrence rule of RFC 5545')
    .addOption(integer('--every-ms <ms>', 'an interval', undefined, 1, msMax))
    .option('--at <time>', 'an instant: ISO 8601 with an offset, or epoch ms')
    .addOption(integer('--delay-ms <ms>', 'a delay', undefined, 0, msMax))
    .option('--timezone <name>', 'with --cron or --rrule: an IANA time zone')
    .option('--schedule <json>', "a schedule as in a job's definition")
    .option('--from <time>', 'only times after this one, instead of after now: ISO 8601 with an offset, or epoch ms')
    .addOption(integer('--count <n>', 'number of times to show', 10, 1, 1_000))
    .action((flags: PreviewFlags) =>
      remotely(frame, flags, async ({ api, json, terminal }) => {
        const body = {
          schedule: scheduleOf(flags),
          count: flags.count,
          ...(flags.from !== undefined && { from: timeOf(flags.from) }),
        }
        const { fires } = await api
          .post<{ fires: { at: string; atMs: number; note?: string }[] }>('/v1/schedules/preview', body)
          .catch(asUsageError)
        if (json) for (const fire of fires) writeAsJson(terminal.stdout, fire)
        else if (fires.length === 0) terminal.stdout.write('No times.\n')
        else {
          const zone = zoneIn(body.schedule)
          const rows = fires.map(({ at, atMs, note = '' }) => [at, ...(zone === undefined ? [] : [localTime(atMs, zone)]), note])
          const head = ['AT', ...(zone === undefined ? [] : [`IN ${zone}`]), 'NOTE']
          terminal.stdout.write(tableText(head, rows, painterOf(terminal.stdout, terminal.env)))
        }
      }),
    )
}

/** The time zone of a schedule, unless it is UTC. The server has accepted it. */
function zoneIn(schedule: unknown): string | undefined {
  const { timezone } = schedule as { timezone?: unknown }
  return typeof timezone === 'string' && zoneOf(timezone).kind === 'zoned' ? timezone : undefined
}

/** Wall-clock time with its offset, such as 2030-03-31T03:30:00+02:00. */
function localTime(atMs: number, timezone: string): string {
  const zone = zoneOf(timezone)
  const offsetMs = zone.kind === 'zoned' ? zone.offsetAt(atMs) : 0
  const minutes = Math.round(Math.abs(offsetMs) / 60_000)
  const pair = (value: number): string => String(value).padStart(2, '0')
  const offset = `${offsetMs < 0 ? '-' : '+'}${pair(Math.floor(minutes / 60))}:${pair(minutes % 60)}`
  return `${new Date(atMs + offsetMs).toISOString().replace(/(\.000)?Z$/, '')}${offset}`
}

/** The schedule is from the command line, so a wrong one is a wrong command line. */
function asUsageError(error: unknown): never {
  if (error instanceof DuelogError && error.code === 'bad-definition')
    throw new DuelogError('bad-usage', error.message, { cause: error })
  throw error
}

function scheduleOf({ cron, rrule, everyMs, at, delayMs, timezone, schedule }: PreviewFlags): unknown {
  const kinds = { cron, rrule, everyMs, at: at === undefined ? undefined : timeOf(at), delayMs }
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
