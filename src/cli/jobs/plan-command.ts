/** `duelog jobs plan`: shows what applying files would change. Nothing is written. */
import type { Command } from 'commander'
import { JsonText } from '../../../streams/text/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { type CommandFrame, type RemoteFlags, remoteCommand, remotely, type Shell } from '../remote/index.ts'
import {
  countText,
  exitCodes,
  inputOf,
  integer,
  jsonText,
  number,
  numberText,
  type Progress,
  painterOf,
  showProgress,
} from '../terminal/index.ts'
import { formatOption } from './apply-command.ts'
import { type Format, type JobSource, type JobText, openJobs } from './job-files.ts'
import { type PlanAnswer, planLines, totalsText } from './plan-text.ts'
import { type PruneFlags, Pruning, pruneOptions, tellSurplus } from './prune.ts'

/** Limits of one call of the API: definitions, their bytes, and times compared in total. */
const callJobsMax = 1_000
const callBytesMax = 900_000
const callTimesMax = 100_000
const dayMs = 86_400_000

interface PlanFlags extends RemoteFlags, PruneFlags {
  format?: Format
  days: number
  times: number
}

export function planCommand(frame: CommandFrame): Command {
  const command = remoteCommand('plan', 'Show what applying files would change: jobs and their fire times. Nothing is written.', [
    'jobs plan jobs.yaml',
    'jobs plan --days 30 --json jobs.ndjson',
    'jobs plan jobs.yaml --prune --tag reports',
  ])
  for (const option of pruneOptions()) command.addOption(option)
  return command
    .argument('<files...>', 'files, as for apply')
    .addOption(formatOption())
    .addOption(number('--days <n>', 'days ahead in which times are compared', 7, 0.001, 366))
    .addOption(integer('--times <n>', 'maximum number of times compared for each job', 100, 1, 1_000))
    .action((files: string[], flags: PlanFlags) => {
      const pruning = Pruning.of(flags)
      return remotely(frame, flags, async (shell) => {
        const source = await openJobs(files, flags.format, inputOf(frame.terminal))
        await plan(shell, pruning === undefined ? source : { ...source, jobs: pruning.noting(source.jobs) }, flags)
        if (pruning === undefined) return
        const surplus = await pruning.surplus(shell)
        tellSurplus(shell, surplus, 'delete')
        if (!flags.json) shell.terminal.stdout.write(`${countText(surplus.length, 'to delete')}.\n`)
      })
    })
}

async function plan(shell: Shell, { jobs, bytes }: JobSource, { days, times }: PlanFlags): Promise<void> {
  const { api, json, terminal, time } = shell
  const paint = painterOf(terminal.stdout, terminal.env)
  const totals: Record<string, number> = {}
  let progress: Progress | undefined
  let planned = 0
  try {
    for await (const call of callsOf(jobs, Math.floor(callTimesMax / times))) {
      const body = { jobs: call.definitions, horizonMs: Math.round(days * dayMs), maxFires: times }
      const answer = await api.post<PlanAnswer>('/v1/jobs/plan', body)
      const texts = answer.jobs.map((job, at) =>
        json ? jsonText({ ...call.places[at], ...job }, terminal.stdout) : planLines(call.places[at], job, paint, time),
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
  definitions: unknown[]
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
function parse(file: string, line: number, json: string): unknown {
  try {
    JSON.parse(json)
    return new JsonText(json)
  } catch (cause) {
    throw new DuelogError('bad-usage', `${file}:${line} is not JSON.`, { cause })
  }
}
