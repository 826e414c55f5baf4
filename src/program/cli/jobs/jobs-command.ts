/** `duelog jobs …`; those that read are here: `get`, `list` and `why`. */
import { Option } from 'commander'
import { withoutDefaults } from '../../../../streams/definitions/index.ts'
import { counted, reasonGroups, stateWords } from '../../../../streams/text/index.ts'
import type { Job } from '../../../ground/answers/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import {
  filterOptions,
  groupOf,
  type List,
  type RemoteFlags,
  remoteCommand,
  type Shell,
  showPages,
  staleOption,
} from '../remote/index.ts'
import {
  type Cell,
  choice,
  inSentence,
  integer,
  jsonText,
  type Output,
  oneLine,
  type Paint,
  pairsText,
  statusCell,
  statusText,
  timeOption,
  writeAsJson,
} from '../terminal/index.ts'
import { applyCommand } from './apply-command.ts'
import { backfillCommand, removeCommand, skipCommand, triggerCommand, wordCommands } from './change-commands.ts'
import { jobStatuses } from './operate.ts'
import { planCommand } from './plan-command.ts'
import { putCommand } from './put-command.ts'
import { runPairs, scheduleText, targetText } from './texts.ts'

const rowsDefault = 100
const rowsMax = 1_000_000

interface GetFlags extends RemoteFlags {
  definition?: boolean
  all?: boolean
  stale?: boolean
}

const getCommand = remoteCommand({
  name: 'get',
  description: 'Show a job: its definition and its state.',
  examples: ['jobs get report-7', 'jobs get report-7 --definition > report-7.json'],
  options: [
    new Option('--definition', 'only its definition, in the format of apply, without fields that have their default'),
    new Option('--all', 'with --definition: all fields'),
    staleOption(),
  ],
  args: { '<id>': 'ID of the job' },
  run: async (shell, id: string, { definition, all, stale }: GetFlags) => {
    const { json, terminal } = shell
    const job = await shell.api.getJob({ id, stale })
    if (definition) terminal.stdout.write(definitionText(job, terminal.stdout, json, all === true))
    else if (json) writeAsJson(terminal.stdout, job)
    else terminal.stdout.write(jobText(job, shell))
  },
})

const whyCommand = remoteCommand({
  name: 'why',
  description: 'Explain why a job fired or did not: its current state, then the last decisions, newest first.',
  examples: ['jobs why report-7'],
  options: [staleOption()],
  args: { '<id>': 'ID of the job' },
  run: async ({ api, json, paint, terminal, time }, id: string, { stale }: GetFlags) => {
    const answer = await api.explainJob({ id, stale })
    if (json) return writeAsJson(terminal.stdout, answer)
    terminal.stdout.write(`${oneLine(id)} ${statusText(answer.status, paint, stateWords(answer.status))}.\n`)
    for (const { text, at, reasons } of reasonGroups(answer.why)) {
      terminal.stdout.write(`${at === null ? '' : `${oneLine(time(at))}  `}${oneLine(inSentence(text, time))}\n`)
      const oldest = reasons.at(-1)?.at
      const since = oldest == null ? '' : `, the first at ${oneLine(time(oldest))}`
      if (reasons.length > 1) terminal.stdout.write(`  and ${counted(reasons.length - 1, 'decision')} like it${since}\n`)
    }
  },
})

interface ListFlags extends RemoteFlags {
  status?: Job['status']
  tag?: string
  handler?: string
  idPrefix?: string
  idContains?: string
  dueBefore?: string
  limit: number
  stale?: boolean
}

const listCommand = remoteCommand({
  name: 'list',
  description: 'List jobs in the order of their IDs.',
  examples: [
    'jobs list --status INVALID',
    'jobs list --tag reports --due-before 2030-01-01T00:00:00Z --limit 20',
    'jobs list --json --limit 1000000 | wc -l',
  ],
  options: [
    choice('--status <status>', 'only jobs with this status', jobStatuses),
    ...filterOptions('only jobs', 'tag', 'handler', 'idPrefix', 'idContains'),
    timeOption('--due-before <time>', 'only jobs whose next occurrence is before this time, such as 1h for within an hour', true),
    integer('--limit <n>', 'maximum number of jobs to show', rowsDefault, 1, rowsMax),
    staleOption(),
  ],
  run: (shell, { status, tag, handler, idPrefix, idContains, dueBefore, limit, stale }: ListFlags) => {
    const query = { status, tag, handler, idPrefix, idContains, dueBefore, stale }
    const read = (page: object) => shell.api.listJobs({ ...query, ...page })
    return showPages(shell, limit, read, ({ jobs }) => jobs, jobList)
  },
})

const jobList: List<Job> = {
  none: 'No jobs.',
  columns: [
    ['ID', ({ id }) => id],
    ['STATUS', (job, { paint }) => stateCell(job, paint)],
    ['NEXT', ({ nextFireAt }, { time }) => time(nextFireAt)],
    ['SCHEDULE', ({ definition }) => scheduleText(definition)],
    ['TARGET', ({ definition }) => targetText(definition)],
    [
      'LAST RUN',
      ({ lastRun: last }, { paint, time }) =>
        last === null ? '' : { shown: `${statusText(last.status, paint)} ${oneLine(time(last.finishedAt))}` },
    ],
  ],
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

function jobText(job: Job, shell: Shell): string {
  const { paint, terminal, time } = shell
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
  const parts = [pairs, ...runs.map((run) => runPairs(run, shell))].map((part) => pairsText(part, paint))
  const definition = jsonText(job.definition === null ? null : withoutDefaults(job.definition), terminal.stdout, 2, true)
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

export const jobsCommand = groupOf('jobs', 'Create, show, change and delete jobs.', [
  putCommand,
  applyCommand,
  planCommand,
  getCommand,
  listCommand,
  whyCommand,
  triggerCommand,
  ...wordCommands,
  skipCommand,
  backfillCommand,
  removeCommand,
])
