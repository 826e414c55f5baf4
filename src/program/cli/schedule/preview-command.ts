/** `duelog schedule preview`: the times of a schedule, without a job. `schedule convert`: an expression of another scheduler. */
import { Option } from 'commander'
import { previewOf } from '../../../../streams/definitions/index.ts'
import { zoneOf } from '../../../../streams/schedules/index.ts'
import type { Preview } from '../../../ground/answers/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { asUsageError, type ScheduleFlags, scheduleOf, scheduleOptions } from '../jobs/index.ts'
import { type CommandPlan, groupOf, type RemoteFlags, remoteCommand, type Shell, showItems } from '../remote/index.ts'
import { exactTime, integer, oneLine, timeForms, timeOption, writeAsJson } from '../terminal/index.ts'
import { diffTzCommand } from './diff-tz-command.ts'
import { convertedSchedule, type Dialect, dialects } from './foreign-schedules.ts'

interface PreviewFlags extends RemoteFlags, ScheduleFlags {
  from?: string
  count: number
}

const previewCommand = remoteCommand({
  name: 'preview',
  description: 'Show the next times of a schedule and the effects of daylight saving.',
  examples: [
    "schedule preview --cron '0 9 * * MON-FRI' --timezone Europe/Paris",
    "schedule preview --rrule 'FREQ=MONTHLY;BYDAY=-1FR' --count 12",
    `schedule preview --schedule '{"cron": "30 2 * * *", "timezone": "Europe/Paris"}' --from 2030-03-30T00:00:00Z`,
  ],
  options: [
    ...scheduleOptions(),
    timeOption('--from <time>', `only times after this one, instead of after now: ${timeForms}`),
    integer('--count <n>', 'number of times to show', 10, 1, 1_000),
  ],
  run: preview,
})

async function preview(shell: Shell, flags: PreviewFlags): Promise<void> {
  const { api, json, terminal } = shell
  const { from, count } = flags
  const body = { schedule: scheduleOf(flags), count, ...(from !== undefined && { from }) }
  const { fires, warnings = [] } = await api.previewSchedule({ body }).catch((error: unknown) => {
    if (!(error instanceof DuelogError && error.code === 'unreachable')) return asUsageError(error)
    terminal.stderr.write('No Duelog answers, so the times are by the time zone rules of this machine.\n')
    return previewHere(body)
  })
  if (!json) for (const warning of warnings) terminal.stderr.write(`warning: ${oneLine(warning)}\n`)
  const zone = zoneIn(body.schedule)
  showItems<Preview['fires'][number]>(shell, fires, {
    none: 'No times.',
    columns: [
      ['AT', ({ at }, { time }) => exactTime(at, time)],
      ...(zone === undefined ? [] : [[`IN ${zone}`, ({ atMs }: { atMs: number }) => localTime(atMs, zone)] as const]),
      ['NOTE', ({ note = '' }) => note],
    ],
  })
}

function previewHere({ schedule, from, count }: { schedule: unknown; from?: string; count: number }): Preview {
  const fromMs = from === undefined ? Date.now() : Date.parse(from)
  const preview = previewOf(schedule as Record<string, unknown>, fromMs, count)
  if (preview.ok) return preview as Preview
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

const convertCommand: CommandPlan = {
  name: 'convert',
  description:
    'Print an expression of another scheduler as a schedule of Duelog, in JSON. What has no form here, or may mean otherwise, is refused with the reason.',
  examples: [
    "schedule convert --from quartz '0 0 12 ? * 2-6'",
    "schedule convert --from aws 'rate(5 minutes)'",
    "schedule convert --from spring '0 0/5 9-17 * * MON-FRI'",
  ],
  options: [new Option('--from <scheduler>', 'where the expression is from').choices(dialects).makeOptionMandatory()],
  args: { '<expression>': 'the expression, as it is there' },
  run: ({ terminal }, expression: string, { from }: { from: Dialect }) =>
    writeAsJson(terminal.stdout, convertedSchedule(from, expression)),
}

export const scheduleCommand = groupOf(
  'schedule',
  'Preview schedules, convert those of other schedulers, and show the effects of new time zone rules on jobs.',
  [previewCommand, convertCommand, diffTzCommand],
)
