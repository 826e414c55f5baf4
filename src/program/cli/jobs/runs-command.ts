/** `duelog runs …`: lists, shows, retries and cancels runs; redrives and discards dead ones, by their IDs or all that match a filter. */
import { Option } from 'commander'
import { changeWords, counted } from '../../../../streams/text/index.ts'
import { runLinePages } from '../../../clients/remote/index.ts'
import type { DeadLetterPage, Given, RunLogLine, RunPage } from '../../../ground/answers/index.ts'
import { systemClock } from '../../../ground/clock/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import {
  type CommandPlan,
  filterOptions,
  forEach,
  groupOf,
  idempotencyOption,
  pageMax,
  type RemoteFlags,
  remoteCommand,
  type Shell,
  showItems,
  showPages,
  staleOption,
  takeItems,
} from '../remote/index.ts'
import {
  choice,
  hasReader,
  integer,
  jsonText,
  numberText,
  oneLine,
  pairsText,
  type RangeFlags,
  rangeOf,
  rangeOptions,
  timeForms,
  timeOption,
} from '../terminal/index.ts'
import { doneOf, runDoneOf } from './change-commands.ts'
import { type FilterFlags, filterOf, listedIdsMax, operate, operateByFlags } from './operate.ts'
import { runColumns, runOf, runPairs } from './texts.ts'

interface LogsFlags extends RemoteFlags {
  follow?: boolean
  limit: number
  from?: string
  to?: string
  stale?: boolean
}

const linesMax = 1_000_000

export const logsCommand = remoteCommand({
  name: 'logs',
  description: 'Show the lines that the handler of a run wrote with run.log, oldest first.',
  examples: [
    'runs logs report-7/12',
    'runs logs report-7/12 --follow',
    'runs logs report-7/3 --from 2030-01-01T00:00:00Z --json',
  ],
  options: [
    new Option('--follow', 'wait for further lines until the run has ended'),
    timeOption('--from <time>', `only lines from then on; for a run that is no longer kept: when it started. ${timeForms}`),
    timeOption('--to <time>', 'only lines before'),
    integer('--limit <n>', 'maximum number of lines to show', linesMax, 1, linesMax),
    staleOption(),
  ],
  args: { '<run>': 'ID of the run: job ID, slash, number' },
  run: show,
})

async function show(shell: Shell, name: string, flags: LogsFlags): Promise<void> {
  const { api, client, json, paint, terminal, time } = shell
  const { from, to, limit, follow = false, stale } = flags
  const { jobId: id, runNo } = runOf(name)
  const asked = { id, runNo, from, to, limit: Math.min(limit, pageMax), stale }
  const read = (cursor: string | undefined) => api.getRunLogs({ ...asked, cursor })
  const pages = runLinePages(read, { follow, clock: systemClock, signal: client.signal })
  let [shown, unreadable, isMore] = [0, 0, false]
  for await (const page of pages) {
    const lines = page.lines.slice(0, limit - shown)
    if (shown === 0 && lines.length > 0 && !json)
      terminal.stdout.write(`${paint('dim', headOf(time(lines[0]?.at, true).length))}\n`)
    for (const line of lines) terminal.stdout.write(json ? jsonText(line, terminal.stdout) : `${lineText(line, shell)}\n`)
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

function lineText({ at, attempt, level, text, fields }: RunLogLine, { paint, time }: Shell): string {
  const values = fields === null ? '' : `  ${paint('dim', oneLine(Object.entries(fields).map(fieldText).join(' ')))}`
  const shownLevel = level.padEnd(5)
  const color = ({ error: 'red', warn: 'yellow' } as const)[level as 'error' | 'warn']
  const painted = color === undefined ? shownLevel : paint(color, shownLevel)
  return `${oneLine(time(at, true))}  ${String(attempt).padEnd(7)}  ${painted}  ${oneLine(text)}${values}`
}

const fieldText = ([name, value]: [string, unknown]): string => `${name}=${JSON.stringify(value)}`

interface ListFlags extends RemoteFlags {
  dead?: boolean
  state?: Given<'listActiveRuns'>['state']
  tag?: string
  handler?: string
  limit: number
  stale?: boolean
}

const activeStates = ['DISPATCHED', 'RUNNING', 'RETRY_WAIT', 'WAITING']

const listCommand = remoteCommand({
  name: 'list',
  description:
    'List the active runs of all jobs. With a job ID: its active and last runs, newest first. With --dead: all dead runs.',
  examples: ['runs list --state RUNNING', 'runs list report-7', 'runs list --dead --tag reports'],
  options: [
    new Option('--dead', 'dead runs of all jobs, which can be redriven'),
    choice('--state <state>', 'without an ID: only active runs in this state', activeStates),
    ...filterOptions('without an ID: only runs of jobs', 'tag', 'handler'),
    integer('--limit <n>', 'without an ID: maximum number of runs to show', 100, 1, 100_000),
    staleOption(),
  ],
  args: { '[id]': 'ID of the job' },
  run: list,
})

async function list(shell: Shell, id: string | undefined, flags: ListFlags): Promise<void> {
  const { api, terminal } = shell
  const { tag, handler, limit, state, dead, stale } = flags
  const several = [id, dead, state].filter((given) => given !== undefined)
  if (several.length > 1) throw new DuelogError('bad-usage', 'Give only one of these: a job ID, --dead, --state.')
  if (id !== undefined)
    return showItems(shell, (await api.listRuns({ id, stale })).runs, { columns: runColumns, none: 'No runs.' })
  const query = { tag, handler, stale }
  let dropped = 0
  const read = async (page: { limit: number; cursor: string | undefined }): Promise<DeadLetterPage | RunPage> => {
    if (!dead) return api.listActiveRuns({ ...query, state, ...page })
    const found = await api.listDeadLetters({ ...query, ...page })
    dropped = found.dropped
    return found
  }
  const none = dead ? 'No dead runs.' : 'No active runs. `duelog history` lists ended ones.'
  await showPages(shell, limit, read, ({ runs }) => runs, { columns: runColumns, none })
  if (dropped > 0)
    terminal.stderr.write(`${counted(dropped, 'older dead run')} of these jobs cannot be redriven: a job keeps at most 1,000.\n`)
}

const getCommand = remoteCommand({
  name: 'get',
  description: 'Show a run: its attempts, worker, times, result and errors.',
  examples: ['runs get report-7/12'],
  options: [staleOption()],
  args: { '<run>': 'ID of the run: job ID, slash, number' },
  run: async (shell, name: string, { stale }: RemoteFlags & { stale?: boolean }) => {
    const { stdout } = shell.terminal
    const run = await shell.api.getRun({ ...runOf(name), stale })
    stdout.write(shell.json ? jsonText(run, stdout) : pairsText(runPairs(run, shell), shell.paint))
  },
})

const changeCommand = (name: 'retry' | 'cancel', description: string, done: string): CommandPlan =>
  remoteCommand({
    name: name,
    description: description,
    examples: [`runs ${name} report-7/12`],
    options: [idempotencyOption()],
    args: { '<runs...>': 'IDs of the runs' },
    run: (shell, runs: string[], { idempotencyKey }: RemoteFlags & { idempotencyKey?: string }) =>
      forEach(shell, 'runId', runs, async (run) =>
        doneOf(await shell.api[`${name}Run`]({ ...runOf(run), idempotencyKey }), done),
      ),
  })

const filterNames = ['tag', 'handler', 'idPrefix', 'errorType', 'from', 'to', 'since', 'first'] as const

const deadOptions = [
  ...rangeOptions('with --dead: only runs that died'),
  ...filterOptions('with --dead: only runs of jobs', 'tag', 'handler', 'idPrefix'),
  new Option('--error-type <type>', 'with --dead: only runs whose last error has this type'),
  integer('--first <n>', 'with --dead: only the newest of them, as one operation', undefined, 1, listedIdsMax),
]

interface RedriveFlags extends FilterFlags, RangeFlags {
  dead?: boolean
  first?: number
  idempotencyKey?: string
}

const redriveCommand = remoteCommand({
  name: 'redrive',
  description: 'Redrive dead runs: create new runs with the same payload and target.',
  examples: [
    'runs redrive report-7/12 report-8/3',
    'runs redrive --dead --handler send-report',
    'runs redrive --dead --error-type TimeoutError --since 1h --first 10',
  ],
  options: [
    new Option('--dead', 'redrive all dead runs that match the filters, each once, as one operation of the server'),
    new Option('--dry-run', 'with --dead: only count the runs'),
    new Option('--detach', 'with --dead: print the ID of the operation and do not wait for its end'),
    idempotencyOption(),
    ...deadOptions,
  ],
  args: { '[runs...]': 'IDs of the runs' },
  run: async (shell, names: string[], flags: RedriveFlags) => {
    checkChoice(names, flags, [...filterNames, 'dryRun', 'detach'])
    if (flags.dead) return changeDead(shell, 'REDRIVE', flags)
    await forEach(shell, 'runId', names, async (name) =>
      runDoneOf(await shell.api.redriveRun({ ...runOf(name), idempotencyKey: flags.idempotencyKey })),
    )
  },
})

const discardCommand = remoteCommand({
  name: 'discard',
  description: 'Discard dead runs: they keep their records, and no longer count as dead.',
  examples: ['runs discard report-7/12 report-8/3', 'runs discard --dead --tag trial'],
  options: [
    new Option('--dead', 'discard all dead runs that match the filters'),
    new Option('--dry-run', 'only count the runs'),
    new Option('--detach', 'print the ID of the operation and do not wait for its end'),
    ...deadOptions,
  ],
  args: { '[runs...]': 'IDs of the runs' },
  run: (shell, runIds: string[], flags: RedriveFlags) => {
    checkChoice(runIds, flags, filterNames)
    return flags.dead ? changeDead(shell, 'DISCARD', flags) : operate(shell, { action: 'DISCARD', runIds }, flags)
  },
})

/** `needDead`: options that would have no effect beside IDs. */
function checkChoice(runIds: readonly string[], flags: RedriveFlags, needDead: readonly (keyof RedriveFlags)[]): void {
  if (runIds.length > 0 === (flags.dead === true)) throw new DuelogError('bad-usage', 'Give the IDs of runs, or --dead.')
  const [without] = flags.dead ? [] : needDead.filter((name) => flags[name] !== undefined)
  if (without === undefined) return
  const option = without.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new DuelogError('bad-usage', `--${option} needs --dead; it has no effect on IDs of runs.`)
}

/** An operation on all dead runs that match, or on the newest of them. Then it has a list of them, so that its total is their number. */
async function changeDead(shell: Shell, action: 'REDRIVE' | 'DISCARD', given: RedriveFlags): Promise<void> {
  const { api, json, terminal } = shell
  const { dryRun, first } = given
  const flags = { ...given, ...rangeOf(given) }
  if (first === undefined) return operateByFlags(shell, action, flags)
  const runIds: string[] = []
  const more = await takeItems(
    (page) => api.listDeadLetters({ ...filterOf(flags), ...page }),
    ({ runs }) => runs,
    first,
    ({ runId }) => void runIds.push(runId),
  )
  if (runIds.length === 0) {
    const none = dryRun ? jsonText({ count: 0 }, terminal.stdout) : ''
    return void terminal.stdout.write(json ? none : 'No dead runs.\n')
  }
  const again =
    action === 'REDRIVE' ? ' With it, a repeat begins with the newest again, also with those that were redriven and failed.' : ''
  if (more) {
    terminal.stderr.write(
      `More than ${numberText(first)} dead runs match. Without --first all are ${changeWords(action).done}, each once.${again}\n`,
    )
  }
  await operate(shell, { action, runIds }, flags)
}

export const runsCommand = groupOf('runs', 'List, show, retry, redrive, discard and cancel runs, and show their lines.', [
  listCommand,
  getCommand,
  logsCommand,
  changeCommand('retry', 'Retry runs now that wait for their next attempt (RETRY_WAIT).', 'is retried now.'),
  redriveCommand,
  discardCommand,
  changeCommand('cancel', 'Cancel runs. Their handlers are notified through their AbortSignal.', 'is cancelled.'),
])
