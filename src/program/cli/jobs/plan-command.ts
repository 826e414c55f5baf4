/** `duelog jobs plan`: shows what applying files would change. Nothing is written. */
import { JsonText } from '../../../../streams/text/index.ts'
import type { JobDefinition, PlannedJob } from '../../../ground/answers/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { remoteCommand, type Shell } from '../remote/index.ts'
import {
  countText,
  exactTime,
  exitCodes,
  inSentence,
  integer,
  jsonText,
  number,
  numberText,
  oneLine,
  type Progress,
  showProgress,
} from '../terminal/index.ts'
import { type FileFlags, fileOptions, jobsOf, tellSurplus } from './apply-command.ts'
import type { JobSource, JobText } from './job-files.ts'

/** Limits of one call of the API: definitions, their bytes, and times compared in total. */
const callJobsMax = 1_000
const callBytesMax = 900_000
const callTimesMax = 100_000
const dayMs = 86_400_000

interface PlanFlags extends FileFlags {
  days: number
  times: number
}

export const planCommand = remoteCommand({
  name: 'plan',
  description: 'Show what applying files would change: jobs and their fire times. Nothing is written.',
  examples: ['jobs plan jobs.yaml', 'jobs plan --days 30 --json jobs.ndjson', 'jobs plan jobs.yaml --prune --tag reports'],
  options: [
    ...fileOptions(),
    number('--days <n>', 'days ahead in which times are compared', 7, 0.001, 366),
    integer('--times <n>', 'maximum number of times compared for each job', 100, 1, 1_000),
  ],
  args: { '<files...>': 'files, as for apply' },
  run: async (shell, files: string[], flags: PlanFlags) => {
    const { source, pruning } = await jobsOf(shell, files, flags)
    await plan(shell, source, flags)
    if (pruning === undefined) return
    const surplus = await pruning.surplus(shell)
    tellSurplus(shell, surplus, 'delete')
    if (!flags.json) shell.terminal.stdout.write(`${countText(surplus.length, 'to delete')}.\n`)
  },
})

async function plan(shell: Shell, { jobs, bytes }: JobSource, { days, times }: PlanFlags): Promise<void> {
  const { api, json, terminal } = shell
  const totals: Record<string, number> = {}
  let progress: Progress | undefined
  let planned = 0
  try {
    for await (const call of callsOf(jobs, Math.floor(callTimesMax / times))) {
      const body = { jobs: call.definitions, horizonMs: Math.round(days * dayMs), maxFires: times }
      const answer = await api.planJobs({ body })
      const texts = answer.jobs.map((job, at) =>
        json ? jsonText({ ...call.places[at], ...job }, terminal.stdout) : planLines(call.places[at], job, shell),
      )
      progress?.stop()
      terminal.stdout.write(texts.join(''))
      for (const [name, count] of Object.entries(answer.totals)) totals[name] = (totals[name] ?? 0) + count
      planned += answer.jobs.length
      // A plan of one call needs no progress bar.
      progress = json || call.last ? undefined : showProgress(terminal, bytes)
      progress?.update(call.readBytes, `${numberText(planned)} planned`)
    }
  } finally {
    progress?.stop()
  }
  if (planned === 0) throw new DuelogError('bad-usage', 'The input has no jobs.')
  if (!json) terminal.stdout.write(totalsText(totals))
  if ((totals.invalid ?? 0) > 0) shell.exit(exitCodes.failed.code)
}

interface Call {
  definitions: JobDefinition[]
  places: Pick<JobText, 'file' | 'line'>[]
  readBytes: number
  last: boolean
}

async function* callsOf(jobs: AsyncIterable<JobText>, jobsMax: number): AsyncGenerator<Call> {
  let call: Call = { definitions: [], places: [], readBytes: 0, last: false }
  let bytes = 0
  for await (const { file, line, json, readBytes } of jobs) {
    const size = Buffer.byteLength(json)
    if (call.definitions.length >= Math.min(callJobsMax, jobsMax) || (bytes > 0 && bytes + size > callBytesMax)) {
      yield call
      call = { definitions: [], places: [], readBytes, last: false }
      bytes = 0
    }
    call.definitions.push(parse(file, line, json))
    call.places.push({ file, line })
    call.readBytes = readBytes
    bytes += size
  }
  if (call.definitions.length > 0) yield { ...call, last: true }
}

/** Checks only the JSON; the server validates the definition. */
function parse(file: string, line: number, json: string): JobDefinition {
  try {
    JSON.parse(json)
    return new JsonText(json) as unknown as JobDefinition
  } catch (cause) {
    throw new DuelogError('bad-usage', `${file}:${line} is not JSON.`, { cause })
  }
}

/** Maximum of times of each kind shown for a job; --json has all that were compared. */
const timesShownMax = 5

const colors = { CREATE: 'green', UPDATE: 'yellow', DROPPED: 'dim', INVALID: 'red' } as const

/** A line for a job that would change, followed by its added, removed and moved times. Empty for an unchanged job without warnings. */
export function planLines(
  place: { file: string; line: number } | undefined,
  job: PlannedJob,
  { paint, time }: Pick<Shell, 'paint' | 'time'>,
): string {
  const { id, action, changed = [], hidden = [], reason, fires, problems = [], warnings = [] } = job
  const unseen = `values of ${hidden.join(' and ')} that a viewer's token cannot see were not compared`
  const warned = [...warnings, ...(hidden.length > 0 ? [unseen] : [])]
    .map((text) => `  ${paint('yellow', 'warning')} ${oneLine(inSentence(text, time))}\n`)
    .join('')
  if (action === 'UNCHANGED') return warned === '' ? '' : `${paint('dim', 'same')}     ${oneLine(id ?? '')}\n${warned}`
  const what = [
    changed.length > 0 ? `(${changed.join(', ')})` : '',
    inSentence(reason ?? '', time),
    ...problems.map(({ message }) => inSentence(message, time)),
  ]
  const at = action === 'INVALID' && place !== undefined ? ` ${oneLine(place.file)}:${place.line}` : ''
  const head = `${paint(colors[action], action.toLowerCase().padEnd(8))}${at} ${oneLine([id ?? '(no id)', ...what].filter(Boolean).join(' '))}\n`
  if (fires === undefined) return `${head}${warned}`
  const shown = (at: string): string => exactTime(at, time)
  const moved = fires.moved.map(({ from, to }) => `${shown(from)} -> ${shown(to)}`)
  const [added, removed] = [fires.added.map(shown), fires.removed.map(shown)]
  return `${head}${warned}${timesText(added, paint('green', '+'))}${timesText(removed, paint('red', '-'))}${timesText(moved, paint('yellow', '~'))}`
}

function timesText(times: readonly string[], painted: string): string {
  const lines = times.slice(0, timesShownMax).map((time) => `  ${painted} ${oneLine(time)}\n`)
  const more = times.length - lines.length
  return `${lines.join('')}${more > 0 ? `  ${painted} and ${numberText(more)} more\n` : ''}`
}

export function totalsText(totals: Record<string, number>): string {
  const of = (name: string): string => numberText(totals[name] ?? 0)
  const jobs = `${of('create')} to create, ${of('update')} to update, ${of('unchanged')} unchanged, ${of('dropped')} dropped, ${of('invalid')} invalid`
  return `Jobs: ${jobs}.\nTimes: ${of('added')} added, ${of('removed')} removed, ${of('moved')} moved, ${of('kept')} kept.\n`
}
