/** `duelog jobs apply`: creates or replaces jobs from files. */
import { type Command, Option } from 'commander'
import { DuelogError } from '../../errors/index.ts'
import {
  type Applied,
  type CommandFrame,
  type LineResult,
  type RemoteFlags,
  remoteCommand,
  remotely,
  type Shell,
  uploadLines,
} from '../remote/index.ts'
import { countText, exitCodes, inputOf, oneLine, type Progress, painterOf, showProgress, writeAsJson } from '../terminal/index.ts'
import { type Format, type JobSource, type JobText, openJobs } from './job-files.ts'
import { type PruneFlags, Pruning, prune, pruneOptions } from './prune.ts'

/** Maximum of refusals shown; --json prints all of them. */
const refusalsShownMax = 20

export function applyCommand(frame: CommandFrame): Command {
  const command = remoteCommand('apply', 'Create or replace jobs from files.', [
    'jobs apply jobs.yaml',
    'jobs apply jobs.yaml --prune --tag reports',
    'jobs apply --json nightly.ndjson hourly.ndjson > results.ndjson',
    'generate-jobs | duelog jobs apply -',
  ])
  for (const option of pruneOptions()) command.addOption(option)
  return command
    .argument('<files...>', 'YAML, JSON or NDJSON files; - reads NDJSON from standard input')
    .addOption(formatOption())
    .action((files: string[], flags: RemoteFlags & PruneFlags & { format?: Format }) => {
      const pruning = Pruning.of(flags)
      return remotely(frame, flags, async (shell) => {
        const source = await openJobs(files, flags.format, inputOf(frame.terminal))
        const isWhole = await apply(shell, pruning === undefined ? source : { ...source, jobs: pruning.noting(source.jobs) })
        if (pruning === undefined) return
        if (isWhole) await prune(shell, await pruning.surplus(shell))
        else shell.terminal.stderr.write('Nothing was deleted, because not all jobs of the files were accepted.\n')
      })
    })
}

export function formatOption(): Option {
  return new Option('--format <format>', 'format of all files, whatever their names say').choices(['ndjson', 'yaml'])
}

/** Resolves with whether all jobs were accepted. */
async function apply(shell: Shell, { jobs, bytes }: JobSource): Promise<boolean> {
  const { terminal, json } = shell
  const progress = json ? showProgress({ stderr: { write: () => {} } }, undefined) : showProgress(terminal, bytes)
  const report = new Report(shell, progress)
  try {
    const first = await firstOf(jobs)
    if (first === undefined) throw new DuelogError('bad-usage', 'The input has no jobs.')
    report.applied = await uploadLines(shell.api, report.noting(first), (result) => report.add(result))
  } finally {
    progress.stop()
    report.end()
  }
  return report.isWhole
}

/** Remembers the origin of each line until its result arrives, and counts the results. */
class Report {
  readonly #shell: Shell
  readonly #progress: Progress
  /** Lines without a result yet, by the order of sending. */
  readonly #waiting = new Map<number, Pick<JobText, 'file' | 'line'>>()
  #sent = 0
  #accepted = 0
  #refusals: string[] = []
  #refused = 0
  /** Undefined when the upload was interrupted. */
  applied: Applied | undefined

  constructor(shell: Shell, progress: Progress) {
    this.#shell = shell
    this.#progress = progress
  }

  /** The first line is read before the request begins, because the server refuses a request without lines. */
  async *noting({ value, rest }: { value: JobText; rest: AsyncIterator<JobText> }): AsyncGenerator<string> {
    let job: JobText | undefined = value
    while (job !== undefined) {
      this.#waiting.set(++this.#sent, { file: job.file, line: job.line })
      this.#progress.update(job.readBytes, this.#counts())
      yield job.json
      const next: IteratorResult<JobText> = await rest.next()
      job = next.done === true ? undefined : next.value
    }
  }

  add({ line: sentAs, ...result }: LineResult): void {
    const place = this.#waiting.get(sentAs) ?? { file: '?', line: sentAs }
    this.#waiting.delete(sentAs)
    if (result.ok) this.#accepted++
    else this.#refuse(`${oneLine(place.file)}:${place.line} ${oneLine(result.id ?? '(no id)')}: ${oneLine(result.detail ?? '')}`)
    if (this.#shell.json) writeAsJson(this.#shell.terminal.stdout, { ...place, ...result })
  }

  /** Whether each job has been accepted. */
  get isWhole(): boolean {
    return this.#refused === 0 && this.#waiting.size === 0 && this.applied !== undefined
  }

  end(): void {
    const { terminal, json, exit, api } = this.#shell
    if (api.signal.aborted && this.#waiting.size > 0) {
      const open = countText(this.#waiting.size, this.#waiting.size === 1 ? 'job was' : 'jobs were')
      terminal.stderr.write(`${open} sent without an answer and may or may not be applied. Apply the files again to be sure.\n`)
    }
    const invalid = this.applied?.invalid ?? []
    if (this.#refused + invalid.length > 0) exit(exitCodes.failed.code)
    if (json) for (const job of invalid) writeAsJson(terminal.stdout, { ...job, status: 'INVALID' })
    if (json || this.#accepted + this.#refused === 0) return
    const paint = painterOf(terminal.stderr, terminal.env)
    for (const refusal of this.#refusals) terminal.stderr.write(`${paint('red', 'refused')} ${refusal}\n`)
    const more = this.#refused - this.#refusals.length
    if (more > 0) terminal.stderr.write(`and ${countText(more, 'more')}; use --json to see all.\n`)
    for (const { id, reason } of invalid.slice(0, refusalsShownMax))
      terminal.stderr.write(`${paint('red', 'invalid')} ${oneLine(id)}: ${oneLine(reason)}\n`)
    if (invalid.length > refusalsShownMax)
      terminal.stderr.write(
        `and ${countText(invalid.length - refusalsShownMax, 'more')}; run "duelog jobs list --status INVALID" to see them.\n`,
      )
    terminal.stdout.write(`${this.#counts()}\n`)
    if (this.applied?.applied === false && this.#accepted > 0) {
      const { detail = 'They are durable, but not all of them are applied yet. Their owners will apply them.' } = this.applied
      terminal.stderr.write(`${oneLine(detail)}\n`)
    }
  }

  #refuse(text: string): void {
    this.#refused++
    if (this.#refusals.length < refusalsShownMax) this.#refusals.push(text)
  }

  #counts(): string {
    const refused = this.#refused === 0 ? '' : `, ${countText(this.#refused, 'refused')}`
    return `${countText(this.#accepted, this.#accepted === 1 ? 'job applied' : 'jobs applied')}${refused}`
  }
}

async function firstOf(jobs: AsyncIterable<JobText>): Promise<{ value: JobText; rest: AsyncIterator<JobText> } | undefined> {
  const rest = jobs[Symbol.asyncIterator]()
  const { done, value } = await rest.next()
  return done === true ? undefined : { value, rest }
}
