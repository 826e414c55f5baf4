/** `duelog history`: ended runs, and their number by time. `duelog handlers`: the ended runs of each handler. */
import { Option } from 'commander'
import { duration, shareText } from '../../../../streams/text/index.ts'
import type { HandlerList, HistoryRun } from '../../../ground/answers/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { filterOptions, type List, type RemoteFlags, remoteCommand, type Shell, showItems, showPages } from '../remote/index.ts'
import {
  choice,
  integer,
  numberText,
  type RangeFlags,
  rangeOf,
  rangeOptions,
  statusCell,
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
const outcomes = ['SUCCEEDED', 'DEAD', 'EXPIRED', 'CANCELLED', 'SKIPPED']

export const historyCommand = remoteCommand({
  name: 'history',
  description: 'List ended runs, newest first, or count them by time and outcome.',
  examples: [
    'history --outcome DEAD --from 2030-01-01T00:00:00Z',
    'history --job report-7 --limit 20',
    'history --since 1h --outcome DEAD',
    "history --error-text 'timed out' --json --limit 1000000 > timeouts.ndjson",
    'history --counts --handler send-mail --bucket-ms 86400000 --from 2030-01-01T00:00:00Z',
  ],
  options: [
    ...rangeOptions('only runs that ended'),
    new Option('--job <id>', 'only runs of this job'),
    ...filterOptions('only runs of jobs', 'idPrefix'),
    new Option('--tag <tag>', 'only runs whose job had this tag'),
    ...filterOptions('only runs', 'handler'),
    new Option('--pool <name>', 'only runs of this pool'),
    choice('--outcome <outcome>', 'only runs with this outcome', outcomes),
    new Option('--error-type <type>', 'only runs whose last error has this type'),
    new Option('--error-text <text>', 'only runs whose last error message contains this text'),
    integer('--min-duration-ms <ms>', 'only runs that took at least this long', undefined, 0, msMax),
    integer('--max-duration-ms <ms>', 'only runs that took at most this long', undefined, 0, msMax),
    new Option('--counts', 'the number of runs by time and outcome, instead of the runs; by default of the last 24 h'),
    integer('--bucket-ms <ms>', 'with --counts: length of a bucket, default an hour', undefined, 60_000, msMax),
    integer('--limit <n>', `maximum number of runs to show, default ${rowsDefault}`, undefined, 1, rowsMax),
  ],
  run: (shell, flags: HistoryFlags) => (flags.counts ? count : list)(shell, flags),
})

const queryOf = ({ job, idPrefix, tag, handler, pool, outcome, ...flags }: HistoryFlags) => ({
  ...rangeOf(flags),
  ...{ jobId: job, idPrefix, tag, handler, pool, outcome },
  ...{ errorType: flags.errorType, errorText: flags.errorText },
  ...{ minDurationMs: flags.minDurationMs, maxDurationMs: flags.maxDurationMs },
})

function list(shell: Shell, flags: HistoryFlags): Promise<void> {
  if (flags.bucketMs !== undefined) throw new DuelogError('bad-usage', '--bucket-ms needs --counts.')
  const read = (page: object) => shell.api.listHistory({ ...queryOf(flags), ...page })
  return showPages(shell, flags.limit ?? rowsDefault, read, ({ runs }) => runs, historyList)
}

const historyList: List<HistoryRun> & { more: string } = {
  none: 'No runs.',
  more: 'may be',
  columns: [
    // Skipped occurrences have no run.
    ['RUN', ({ runNo, jobId, runId }) => (runNo === 0 ? jobId : runId)],
    ['OUTCOME', ({ outcome }, { paint }) => statusCell(outcome, paint)],
    ['SCHEDULED FOR', ({ scheduledFor }, { time }) => time(scheduledFor)],
    ['FINISHED', ({ finishedAt }, { time }) => time(finishedAt)],
    ['MS', ({ durationMs }) => (durationMs === null ? '' : String(durationMs))],
    ['ATTEMPTS', ({ attempts }) => String(attempts)],
    ['TARGET', ({ handler, topic }) => handler ?? topic ?? ''],
    [
      'ERROR',
      ({ errorType, errorMessage, reason, note }) =>
        errorType === null ? [reason, note].filter((part) => part !== null).join(', ') : `${errorType}: ${errorMessage ?? ''}`,
    ],
  ],
}

async function count(shell: Shell, flags: HistoryFlags): Promise<void> {
  const { api, json, paint, terminal, time } = shell
  if (flags.limit !== undefined) throw new DuelogError('bad-usage', '--limit is not possible with --counts.')
  const counts = await api.countHistory({ ...queryOf(flags), bucketMs: flags.bucketMs })
  if (json) return writeAsJson(terminal.stdout, counts)
  const names = Object.keys(counts.total).sort()
  if (names.length === 0) terminal.stdout.write('No runs.\n')
  else {
    const line = (first: string, of: Record<string, number>): string[] => [
      first,
      ...names.map((name) => numberText(of[name] ?? 0)),
    ]
    const rows = [...counts.buckets.map(({ at, outcomes: of }) => line(time(at), of)), line('total', counts.total)]
    terminal.stdout.write(tableText(['FROM', ...names], rows, paint))
  }
  if (counts.countedFrom !== null)
    terminal.stderr.write(`Runs that ended before ${time(counts.countedFrom, true)} were not counted. Give a later --from.\n`)
}

type Handler = HandlerList['handlers'][number]

const timeText = (ms: number | undefined): string => (ms === undefined ? '' : duration(ms))

const handlerList: List<Handler> = {
  none: 'No runs.',
  columns: [
    ['HANDLER', ({ handler }) => handler],
    ['RUNS', ({ runs }) => numberText(runs)],
    ['FAILED', ({ failed }) => numberText(failed)],
    ['SHARE', ({ runs, failed }) => (failed === 0 ? '' : shareText(failed / runs))],
    ['DURATION P50', ({ duration: took }) => timeText(took?.p50Ms)],
    ['P95', ({ duration: took }) => timeText(took?.p95Ms)],
    ['LATENESS P50', ({ lateness }) => timeText(lateness?.p50Ms)],
    ['P95', ({ lateness }) => timeText(lateness?.p95Ms)],
  ],
}

export const handlersCommand = remoteCommand({
  name: 'handlers',
  description:
    'Show the ended runs of each handler, those with most runs first: how many, how many failed, how long they took and how late they started. By default those of the last 24 h; the range is widened to whole hours.',
  examples: ['handlers', 'handlers --since 1h', 'handlers --from yesterday --to today --json'],
  options: rangeOptions('only runs that ended'),
  run: async (shell, flags: RemoteFlags & RangeFlags) =>
    showItems(shell, (await shell.api.listHandlers(rangeOf(flags))).handlers, handlerList),
})
