/** `duelog schedule preview`: the times of a schedule, without a job. */
import { Command } from 'commander'
import { previewOf, type ScheduleFire } from '../../../streams/definitions/index.ts'
import { zoneOf } from '../../../streams/schedules/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { asUsageError, type ScheduleFlags, scheduleOf, scheduleOptions } from '../jobs/index.ts'
import { type CommandFrame, type RemoteFlags, remoteCommand, remotely } from '../remote/index.ts'
import { exactTime, integer, oneLine, painterOf, tableText, timeForms, timeOption, writeAsJson } from '../terminal/index.ts'
import { convertCommand } from './convert-command.ts'
import { diffTzCommand } from './diff-tz-command.ts'

interface PreviewFlags extends RemoteFlags, ScheduleFlags {
  from?: string
  count: number
}

interface Previewed {
  fires: ScheduleFire[]
  warnings?: string[]
}

export function scheduleCommand(frame: CommandFrame): Command {
  return new Command('schedule')
    .description('Preview schedules, convert those of other schedulers, and show the effects of new time zone rules on jobs.')
    .addCommand(previewCommand(frame))
    .addCommand(convertCommand(frame))
    .addCommand(diffTzCommand(frame))
}

function previewCommand(frame: CommandFrame): Command {
  const command = remoteCommand('preview', 'Show the next times of a schedule and the effects of daylight saving.', [
    "schedule preview --cron '0 9 * * MON-FRI' --timezone Europe/Paris",
    "schedule preview --rrule 'FREQ=MONTHLY;BYDAY=-1FR' --count 12",
    `schedule preview --schedule '{"cron": "30 2 * * *", "timezone": "Europe/Paris"}' --from 2030-03-30T00:00:00Z`,
  ])
  for (const option of scheduleOptions()) command.addOption(option)
  return command
    .addOption(timeOption('--from <time>', `only times after this one, instead of after now: ${timeForms}`))
    .addOption(integer('--count <n>', 'number of times to show', 10, 1, 1_000))
    .action((flags: PreviewFlags) =>
      remotely(frame, flags, async ({ api, json, terminal, time }) => {
        const body = {
          schedule: scheduleOf(flags),
          count: flags.count,
          ...(flags.from !== undefined && { from: flags.from }),
        }
        const { fires, warnings = [] } = await api.post<Previewed>('/v1/schedules/preview', body).catch((error: unknown) => {
          if (!(error instanceof DuelogError && error.code === 'unreachable')) return asUsageError(error)
          terminal.stderr.write('No Duelog answers, so the times are by the time zone rules of this machine.\n')
          return previewHere(body)
        })
        if (!json) for (const warning of warnings) terminal.stderr.write(`warning: ${oneLine(warning)}\n`)
        if (json) for (const fire of fires) writeAsJson(terminal.stdout, fire)
        else if (fires.length === 0) terminal.stdout.write('No times.\n')
        else {
          const zone = zoneIn(body.schedule)
          const rows = fires.map(({ at, atMs, note = '' }) => [
            exactTime(at, time),
            ...(zone === undefined ? [] : [localTime(atMs, zone)]),
            note,
          ])
          const head = ['AT', ...(zone === undefined ? [] : [`IN ${zone}`]), 'NOTE']
          terminal.stdout.write(tableText(head, rows, painterOf(terminal.stdout, terminal.env)))
        }
      }),
    )
}

function previewHere({ schedule, from, count }: { schedule: unknown; from?: string; count: number }): Previewed {
  const fromMs = from === undefined ? Date.now() : Date.parse(from)
  const preview = previewOf(schedule as Record<string, unknown>, fromMs, count)
  if (preview.ok) return preview
  throw new DuelogError('bad-usage', preview.problems.map(({ message }) => message).join(' '))
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
