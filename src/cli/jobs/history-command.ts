/** `duelog history`: ended runs, and their number by time. */
import type { Command } from 'commander'
import type { HistoryCounts, HistoryRun } from '../../answers/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { type CommandFrame, pagesOf, type RemoteFlags, remoteCommand, remotely, type Shell } from '../remote/index.ts'
import {
  type Cell,
  choice,
  hasReader,
  integer,
  numberText,
  type Paint,
  painterOf,
  type RangeFlags,
  rangeOf,
  rangeOptions,
  statusCell,
  type TimeText,
  tableText,
  writeAsJson,
} from '../terminal/index.ts'

interface HistoryFlags extends RemoteFlags, RangeFlags {
  job?: string
  idPrefix?: string
  tag?: string
  handler?: string
  pool?: string
  outcome?: string
  errorType?: string
  errorText?: string
  minDurationMs?: number
  maxDurationMs?: number
  counts?: boolean
  bucketMs?: number
  limit?: number
}

const rowsDefault = 100
const rowsMax = 10_000_000
const msMax = Number.MAX_SAFE_INTEGER
const outcomes = ['SUCCEEDED', 'DEAD', 'EXPIRED', 'CANCELLED', 'DISPATCHED', 'SKIPPED']

export function historyCommand(frame: CommandFrame): Command {
  const command = remoteCommand('history', 'List ended runs, newest first, or count them by time and outcome.', [
    'history --outcome DEAD --from 2030-01-01T00:00:00Z',
    'history --job report-7 --limit 20',
    'history --since 1h --outcome DEAD',
    "history --error-text 'timed out' --json --limit 1000000 > timeouts.ndjson",
    'history --counts --handler send-mail --bucket-ms 86400000 --from 2030-01-01T00:00:00Z',
  ])
  for (const option of rangeOptions('only runs that ended')) command.addOption(option)
  return command
    .option('--job <id>', 'only runs of this job')
    .option('--id-prefix <text>', 'only runs of jobs whose ID begins with this text')
    .option('--tag <tag>', 'only runs whose job had this tag')
    .option('--handler <name>', 'only runs with this handler')
    .option('--pool <name>', 'only runs of this pool')
    .addOption(choice('--outcome <outcome>', 'only runs with this outcome', outcomes))
    .option('--error-type <type>', 'only runs whose last error has this type')
    .option('--error-text <text>', 'only runs whose last error message contains this text')
    .addOption(integer('--min-duration-ms <ms>', 'only runs that took at least this long', undefined, 0, msMax))
    .addOption(integer('--max-duration-ms <ms>', 'only runs that took at most this long', undefined, 0, msMax))
    .option('--counts', 'the number of runs by time and outcome, instead of the runs; by default of the last 24 h')
    .addOption(integer('--bucket-ms <ms>', 'with --counts: length of a bucket, default an hour', undefined, 60_000, msMax))
    .addOption(integer('--limit <n>', `maximum number of runs to show, default ${rowsDefault}`, undefined, 1, rowsMax))
    .action((flags: HistoryFlags) => remotely(frame, flags, (shell) => (flags.counts ? count : list)(shell, flags)))
}

const queryOf = ({ job, idPrefix, tag, handler, pool, outcome, ...flags }: HistoryFlags) => ({
  ...rangeOf(flags),
  ...{ jobId: job, idPrefix, tag, handler, pool, outcome },
  ...{ errorType: flags.errorType, errorText: flags.errorText },
  ...{ minDurationMs: flags.minDurationMs, maxDurationMs: flags.maxDurationMs },
})

async function list(shell: Shell, flags: HistoryFlags): Promise<void> {
  const { api, json, terminal, time } = shell
  if (flags.bucketMs !== undefined) throw new DuelogError('bad-usage', '--bucket-ms needs --counts.')
  const { limit = rowsDefault } = flags
  const rows: Cell[][] = []
  const paint = painterOf(terminal.stdout, terminal.env)
  const take = (run: HistoryRun): void => {
    if (json) writeAsJson(terminal.stdout, run)
    else rows.push(rowOf(run, paint, time))
  }
  const goOn = () => hasReader(terminal.stdout)
  const more = await pagesOf<HistoryRun>(api, '/v1/history', queryOf(flags), 'runs', limit, take, goOn)
  const head = ['RUN', 'OUTCOME', 'SCHEDULED FOR', 'FINISHED', 'MS', 'ATTEMPTS', 'TARGET', 'ERROR']
  if (!json) terminal.stdout.write(rows.length === 0 ? 'No runs.\n' : tableText(head, rows, paint))
  if (more) terminal.stderr.write(`There may be more than ${numberText(limit)}. Use --limit to see more.\n`)
}

function rowOf(run: HistoryRun, paint: Paint, time: TimeText): Cell[] {
  return [
    // Skipped occurrences have no run.
    run.runNo === 0 ? run.jobId : run.runId,
    statusCell(run.outcome, paint),
    time(run.scheduledFor),
    time(run.finishedAt),
    run.durationMs === null ? '' : String(run.durationMs),
    String(run.attempts),
    run.handler ?? run.topic ?? '',
    run.errorType === null
      ? [run.reason, run.note].filter((part) => part !== null).join(', ')
      : `${run.errorType}: ${run.errorMessage ?? ''}`,
  ]
}

async function count(shell: Shell, flags: HistoryFlags): Promise<void> {
  const { api, json, terminal, time } = shell
  if (flags.limit !== undefined) throw new DuelogError('bad-usage', '--limit is not possible with --counts.')
  const counts = await api.get<HistoryCounts>('/v1/history/counts', { ...queryOf(flags), bucketMs: flags.bucketMs })
  if (json) return writeAsJson(terminal.stdout, counts)
  const names = Object.keys(counts.total).sort()
  if (names.length === 0) terminal.stdout.write('No runs.\n')
  else {
    const line = (first: string, of: Record<string, number>): string[] => [
      first,
      ...names.map((name) => numberText(of[name] ?? 0)),
    ]
    const rows = [...counts.buckets.map(({ at, outcomes: of }) => line(time(at), of)), line('total', counts.total)]
    terminal.stdout.write(tableText(['FROM', ...names], rows, painterOf(terminal.stdout, terminal.env)))
  }
  if (counts.countedFrom !== null)
    terminal.stderr.write(`Runs that ended before ${time(counts.countedFrom, true)} were not counted. Give a later --from.\n`)
}
