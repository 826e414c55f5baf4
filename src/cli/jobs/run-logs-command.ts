/** `duelog runs logs`. */
import type { Command } from 'commander'
import { counted } from '../../../streams/text/index.ts'
import type { RunLogLine, RunLogPage } from '../../answers/index.ts'
import { systemClock } from '../../clock/index.ts'
import { runLinePages } from '../../remote/index.ts'
import {
  type CommandFrame,
  type RemoteFlags,
  remoteCommand,
  remotely,
  type Shell,
  staleOption,
  staleQueryOf,
} from '../remote/index.ts'
import {
  hasReader,
  integer,
  jsonText,
  numberText,
  oneLine,
  type Paint,
  painterOf,
  type TimeText,
  timeForms,
  timeOption,
} from '../terminal/index.ts'
import { logsRouteOf } from './run-text.ts'

interface LogsFlags extends RemoteFlags {
  follow?: boolean
  limit: number
  from?: string
  to?: string
  stale?: boolean
}

const linesMax = 1_000_000
/** Largest page of the API. */
const pageMax = 1_000

export function logsCommand(frame: CommandFrame): Command {
  return remoteCommand('logs', 'Show the lines that the handler of a run wrote with run.log, oldest first.', [
    'runs logs report-7/12',
    'runs logs report-7/12 --follow',
    'runs logs report-7/3 --from 2030-01-01T00:00:00Z --json',
  ])
    .argument('<run>', 'ID of the run: job ID, slash, number')
    .option('--follow', 'wait for further lines until the run has ended')
    .addOption(
      timeOption('--from <time>', `only lines from then on; for a run that is no longer kept: when it started. ${timeForms}`),
    )
    .addOption(timeOption('--to <time>', 'only lines before'))
    .addOption(integer('--limit <n>', 'maximum number of lines to show', linesMax, 1, linesMax))
    .addOption(staleOption())
    .action((name: string, flags: LogsFlags) => remotely(frame, flags, (shell) => show(shell, name, flags)))
}

async function show({ api, json, terminal, time }: Shell, name: string, flags: LogsFlags): Promise<void> {
  const { from, to, limit, follow = false } = flags
  const paint = painterOf(terminal.stdout, terminal.env)
  const route = logsRouteOf(name)
  const query = { from, to, limit: Math.min(limit, pageMax), ...staleQueryOf(flags) }
  const pages = runLinePages((of) => api.get<RunLogPage>(route, of), query, { follow, clock: systemClock, signal: api.signal })
  let [shown, unreadable, isMore] = [0, 0, false]
  for await (const page of pages) {
    const lines = page.lines.slice(0, limit - shown)
    if (shown === 0 && lines.length > 0 && !json)
      terminal.stdout.write(`${paint('dim', headOf(time(lines[0]?.at, true).length))}\n`)
    for (const line of lines) terminal.stdout.write(json ? jsonText(line, terminal.stdout) : `${lineText(line, paint, time)}\n`)
    shown += lines.length
    unreadable += page.unreadable
    isMore = shown >= limit && (lines.length < page.lines.length || !page.caughtUp)
    if (shown >= limit || !(await hasReader(terminal.stdout))) break
  }
  if (shown === 0 && !json) terminal.stdout.write('No lines.\n')
  if (isMore) terminal.stderr.write(`There are more than ${numberText(limit)}. Use --limit to see more.\n`)
  if (unreadable > 0) terminal.stderr.write(`${counted(unreadable, 'record')} could not be read and is left out.\n`)
}

const headOf = (timeChars: number): string => `${'TIME'.padEnd(timeChars)}  ATTEMPT  LEVEL  TEXT`

function lineText({ at, attempt, level, text, fields }: RunLogLine, paint: Paint, time: TimeText): string {
  const values = fields === null ? '' : `  ${paint('dim', oneLine(Object.entries(fields).map(fieldText).join(' ')))}`
  const shownLevel = level.padEnd(5)
  const color = ({ error: 'red', warn: 'yellow' } as const)[level as 'error' | 'warn']
  const painted = color === undefined ? shownLevel : paint(color, shownLevel)
  return `${oneLine(time(at, true))}  ${String(attempt).padEnd(7)}  ${painted}  ${oneLine(text)}${values}`
}

const fieldText = ([name, value]: [string, unknown]): string => `${name}=${JSON.stringify(value)}`
