/** `duelog jobs get`, `list` and `why`. */
import type { Command } from 'commander'
import { withoutDefaults } from '../../../streams/definitions/index.ts'
import { counted, reasonGroups, stateWords } from '../../../streams/text/index.ts'
import type { Job } from '../../answers/index.ts'
import { DuelogError } from '../../errors/index.ts'
import {
  type CommandFrame,
  pagesOf,
  path,
  type RemoteFlags,
  remoteCommand,
  remotely,
  type Shell,
  staleOption,
  staleQueryOf,
} from '../remote/index.ts'
import {
  type Cell,
  choice,
  hasReader,
  inSentence,
  integer,
  jsonText,
  numberText,
  type Output,
  oneLine,
  type Paint,
  painterOf,
  pairsText,
  statusCell,
  statusText,
  type Terminal,
  type TimeText,
  tableText,
  timeOption,
  writeAsJson,
} from '../terminal/index.ts'
import { scheduleText, targetText } from './job-text.ts'
import { jobStatuses } from './operate.ts'
import { runPairs } from './run-text.ts'

const rowsDefault = 100
const rowsMax = 1_000_000

export function getCommand(frame: CommandFrame): Command {
  return remoteCommand('get', 'Show a job: its definition and its state.', [
    'jobs get report-7',
    'jobs get report-7 --definition > report-7.json',
  ])
    .argument('<id>', 'ID of the job')
    .option('--definition', 'only its definition, in the format of apply, without fields that have their default')
    .option('--all', 'with --definition: all fields')
    .addOption(staleOption())
    .action((id: string, flags: RemoteFlags & { definition?: boolean; all?: boolean; stale?: boolean }) =>
      remotely(frame, flags, async ({ api, json, terminal, time }) => {
        const job = await api.get<Job>(path`/v1/jobs/${id}`, staleQueryOf(flags))
        if (flags.definition) terminal.stdout.write(definitionText(job, terminal.stdout, json, flags.all === true))
        else if (json) writeAsJson(terminal.stdout, job)
        else terminal.stdout.write(jobText(job, terminal, time))
      }),
    )
}

export function whyCommand(frame: CommandFrame): Command {
  return remoteCommand('why', 'Explain why a job fired or did not: its current state, then the last decisions, newest first.', [
    'jobs why report-7',
  ])
    .argument('<id>', 'ID of the job')
    .addOption(staleOption())
    .action((id: string, flags: RemoteFlags & { stale?: boolean }) =>
      remotely(frame, flags, async ({ api, json, terminal, time }) => {
        const answer = await api.get<{ status: string; why: { code: string; text: string; at: string | null }[] }>(
          path`/v1/jobs/${id}/why`,
          staleQueryOf(flags),
        )
        if (json) return writeAsJson(terminal.stdout, answer)
        const paint = painterOf(terminal.stdout, terminal.env)
        terminal.stdout.write(`${oneLine(id)} ${statusText(answer.status, paint, stateWords(answer.status))}.\n`)
        for (const { text, at, reasons } of reasonGroups(answer.why)) {
          terminal.stdout.write(`${at === null ? '' : `${oneLine(time(at))}  `}${oneLine(inSentence(text, time))}\n`)
          const oldest = reasons.at(-1)?.at
          const since = oldest == null ? '' : `, the first at ${oneLine(time(oldest))}`
          if (reasons.length > 1) terminal.stdout.write(`  and ${counted(reasons.length - 1, 'decision')} like it${since}\n`)
        }
      }),
    )
}

interface ListFlags extends RemoteFlags {
  status?: string
  tag?: string
  handler?: string
  idPrefix?: string
  idContains?: string
  dueBefore?: string
  limit: number
  stale?: boolean
}

export function listCommand(frame: CommandFrame): Command {
  return remoteCommand('list', 'List jobs in the order of their IDs.', [
    'jobs list --status INVALID',
    'jobs list --tag reports --due-before 2030-01-01T00:00:00Z --limit 20',
    'jobs list --json --limit 1000000 | wc -l',
  ])
    .addOption(choice('--status <status>', 'only jobs with this status', jobStatuses))
    .option('--tag <tag>', 'only jobs with this tag')
    .option('--handler <name>', 'only jobs with this handler')
    .option('--id-prefix <text>', 'only jobs whose ID begins with this text')
    .option('--id-contains <text>', 'only jobs whose ID contains this text')
    .addOption(
      timeOption(
        '--due-before <time>',
        'only jobs whose next occurrence is before this time, such as 1h for within an hour',
        true,
      ),
    )
    .addOption(integer('--limit <n>', 'maximum number of jobs to show', rowsDefault, 1, rowsMax))
    .addOption(staleOption())
    .action((flags: ListFlags) => remotely(frame, flags, (shell) => list(shell, flags)))
}

async function list(
  shell: Shell,
  { status, tag, handler, idPrefix, idContains, dueBefore, limit, ...flags }: ListFlags,
): Promise<void> {
  const { api, json, terminal, time } = shell
  const rows: Cell[][] = []
  const paint = painterOf(terminal.stdout, terminal.env)
  const take = (job: Job): void => {
    if (json) writeAsJson(terminal.stdout, job)
    else rows.push(rowOf(job, paint, time))
  }
  const goOn = () => hasReader(terminal.stdout)
  const query = { status, tag, handler, idPrefix, idContains, dueBefore, ...staleQueryOf(flags) }
  const more = await pagesOf<Job>(api, '/v1/jobs', query, 'jobs', limit, take, goOn)
  if (!json) {
    terminal.stdout.write(
      rows.length === 0 ? 'No jobs.\n' : tableText(['ID', 'STATUS', 'NEXT', 'SCHEDULE', 'TARGET', 'LAST RUN'], rows, paint),
    )
  }
  if (more) terminal.stderr.write(`There are more than ${numberText(limit)}. Use --limit to see more.\n`)
}

function rowOf(job: Job, paint: Paint, time: TimeText): Cell[] {
  const last =
    job.lastRun === null ? '' : { shown: `${statusText(job.lastRun.status, paint)} ${oneLine(time(job.lastRun.finishedAt))}` }
  return [job.id, stateCell(job, paint), time(job.nextFireAt), scheduleText(job.definition), targetText(job.definition), last]
}

/** A job that a command ended is COMPLETED too, and its reason says so. */
const stateCell = ({ status, reason }: Job, paint: Paint): Cell =>
  status === 'COMPLETED' && reason === 'cancelled'
    ? { shown: `${statusText(status, paint)} (cancelled)` }
    : statusCell(status, paint)

function definitionText({ id, definition, reason }: Job, output: Output, oneJsonLine: boolean, all: boolean): string {
  if (definition === null) throw new DuelogError('undecodable', `The definition of ${id} cannot be read: ${reason}`)
  return jsonText({ id, ...(all ? definition : withoutDefaults(definition)) }, output, oneJsonLine ? 0 : 2)
}

function jobText(job: Job, { stdout, env }: Terminal, time: TimeText): string {
  const paint = painterOf(stdout, env)
  const { succeeded, failed, skipped, cancelled } = job
  const pairs: [string, Cell][] = [
    ['id', job.id],
    ['status', stateCell(job, paint)],
    ['reason', job.reason ?? ''],
    ['schedule', scheduleText(job.definition)],
    ['target', targetText(job.definition)],
    ['next', time(job.nextFireAt)],
    [
      'runs',
      `${job.runNo}: ${succeeded} succeeded, ${failed} failed, ${cancelled} cancelled; ${counted(skipped, 'occurrence')} skipped`,
    ],
    ['can be redriven', redrivableText(job)],
    ['etag', job.etag],
  ]
  const runs = [...job.active, ...(job.lastRun === null ? [] : [job.lastRun])]
  const parts = [pairs, ...runs.map((run) => runPairs(run, paint, time))].map((part) => pairsText(part, paint))
  const definition = jsonText(job.definition === null ? null : withoutDefaults(job.definition), stdout, 2, true)
  return `${parts.join('\n')}\n${paint('dim', 'definition, without defaults')}\n${definition}`
}

/** Dead runs that are named. */
const deadRunsShown = 10

function redrivableText({ id, deadRuns, deadRunsDropped }: Job): string {
  const newest = deadRuns.slice(-deadRunsShown).map((runNo) => `${id}/${runNo}`)
  const others = deadRuns.length - newest.length
  return [
    newest.join(' '),
    ...(others > 0 ? [`and ${counted(others, 'older run')}: duelog runs redrive --dead --id-prefix ${id}`] : []),
    ...(deadRunsDropped > 0 ? [`${counted(deadRunsDropped, 'dead run')} before that cannot be redriven any more`] : []),
  ].join('; ')
}
