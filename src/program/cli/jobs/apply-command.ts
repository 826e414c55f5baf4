/** `duelog jobs apply`: creates or replaces jobs from files. With --prune it deletes jobs of a scope that are not in the files; `plan --prune` shows them. */
import { Option } from 'commander'
import { type Applied, type LineResult, uploadLines } from '../../../clients/remote/index.ts'
import { pagesOf } from '../../../ground/answers/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { filterOptions, pageMax, type RemoteFlags, remoteCommand, type Shell } from '../remote/index.ts'
import { countText, exitCodes, inputOf, oneLine, type Progress, painterOf, showProgress, writeAsJson } from '../terminal/index.ts'
import { type Format, type JobSource, type JobText, openJobs } from './job-files.ts'
import { listedIdsMax, operate } from './operate.ts'

/** Maximum of refusals and of jobs to delete that are shown; --json prints all of them. */
const shownMax = 20
/** Bytes of ids in one operation, below the largest body. */
const idsBytesMax = 500_000

/** Flags of commands that read files of jobs. */
export interface FileFlags extends RemoteFlags {
  format?: Format
  prune?: boolean
  tag?: string
  idPrefix?: string
}

export const fileOptions = (): Option[] => [
  new Option('--prune', 'also delete jobs of the scope that are not in the files; the scope is --tag or --id-prefix, or both'),
  ...filterOptions('with --prune: only jobs', 'tag', 'idPrefix'),
  new Option('--format <format>', 'format of all files, whatever their names say').choices(['ndjson', 'yaml']),
]

export const applyCommand = remoteCommand({
  name: 'apply',
  description: 'Create or replace jobs from files.',
  examples: [
    'jobs apply jobs.yaml',
    'jobs apply jobs.yaml --prune --tag reports',
    'jobs apply --json nightly.ndjson hourly.ndjson > results.ndjson',
    'generate-jobs | duelog jobs apply -',
  ],
  options: fileOptions(),
  args: { '<files...>': 'YAML, JSON or NDJSON files; - reads NDJSON from standard input' },
  run: async (shell, files: string[], flags: FileFlags) => {
    const { source, pruning } = await jobsOf(shell, files, flags)
    const isWhole = await apply(shell, source)
    if (pruning === undefined) return
    if (isWhole) await prune(shell, await pruning.surplus(shell))
    else shell.terminal.stderr.write('Nothing was deleted, because not all jobs of the files were accepted.\n')
  },
})

/** The jobs of the files; with --prune, `pruning` knows after them what is surplus. */
export async function jobsOf(
  { terminal }: Shell,
  files: readonly string[],
  flags: FileFlags,
): Promise<{ source: JobSource; pruning: Pruning | undefined }> {
  const pruning = Pruning.of(flags)
  const source = await openJobs(files, flags.format, inputOf(terminal))
  return { source: pruning === undefined ? source : { ...source, jobs: pruning.noting(source.jobs) }, pruning }
}

/** Resolves with whether all jobs were accepted. */
async function apply(shell: Shell, { jobs, bytes }: JobSource): Promise<boolean> {
  const { terminal, json } = shell
  const progress = json ? showProgress({ stderr: { write: () => {} } }, undefined) : showProgress(terminal, bytes)
  const report = new Report(shell, progress)
  try {
    const first = await firstOf(jobs)
    if (first === undefined) throw new DuelogError('bad-usage', 'The input has no jobs.')
    report.applied = await uploadLines(shell.client, report.noting(first), (result) => report.add(result))
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
    const { terminal, json, exit, client } = this.#shell
    if (client.signal.aborted && this.#waiting.size > 0) {
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
    for (const { id, reason } of invalid.slice(0, shownMax))
      terminal.stderr.write(`${paint('red', 'invalid')} ${oneLine(id)}: ${oneLine(reason)}\n`)
    if (invalid.length > shownMax)
      terminal.stderr.write(
        `and ${countText(invalid.length - shownMax, 'more')}; run "duelog jobs list --status INVALID" to see them.\n`,
      )
    terminal.stdout.write(`${this.#counts()}\n`)
    if (this.applied?.applied === false && this.#accepted > 0) {
      const { detail = 'They are durable, but not all of them are applied yet. Their owners will apply them.' } = this.applied
      terminal.stderr.write(`${oneLine(detail)}\n`)
    }
  }

  #refuse(text: string): void {
    this.#refused++
    if (this.#refusals.length < shownMax) this.#refusals.push(text)
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

/** The ids of jobs in files, noted while they are read; and the jobs of the scope that are not among them. */
class Pruning {
  readonly #scope: { tag: string | undefined; idPrefix: string | undefined }
  readonly #ids = new Set<string>()

  /** Undefined without --prune. Throws for a scope without --prune, and for --prune without a scope, which would be all jobs. */
  static of({ prune, tag, idPrefix }: FileFlags): Pruning | undefined {
    const isScoped = tag !== undefined || (idPrefix !== undefined && idPrefix !== '')
    if (prune !== true && (tag !== undefined || idPrefix !== undefined))
      throw new DuelogError('bad-usage', '--tag and --id-prefix need --prune.')
    if (prune === true && !isScoped) throw new DuelogError('bad-usage', '--prune needs a scope: --tag or --id-prefix, or both.')
    return prune === true ? new Pruning({ tag, idPrefix }) : undefined
  }

  private constructor(scope: { tag: string | undefined; idPrefix: string | undefined }) {
    this.#scope = scope
  }

  async *noting(jobs: AsyncIterable<JobText>): AsyncGenerator<JobText> {
    for await (const job of jobs) {
      if (job.id !== undefined) this.#ids.add(job.id)
      yield job
    }
  }

  /** Ids of the jobs of the scope that no file has. */
  async surplus({ api }: Shell): Promise<string[]> {
    const surplus: string[] = []
    for await (const { jobs } of pagesOf((cursor) => api.listJobs({ ...this.#scope, limit: pageMax, cursor })))
      for (const { id } of jobs) if (!this.#ids.has(id)) surplus.push(id)
    return surplus
  }
}

/** Shows what is deleted: the first ids, and how many there are. With --json all of them. */
export function tellSurplus({ terminal, json, paint }: Shell, ids: readonly string[], word: string): void {
  for (const id of json ? ids : []) writeAsJson(terminal.stdout, { id, change: 'DELETE' })
  if (json) return
  for (const id of ids.slice(0, shownMax)) terminal.stdout.write(`${paint('red', word)} ${oneLine(id)}\n`)
  if (ids.length > shownMax) terminal.stdout.write(`and ${countText(ids.length - shownMax, 'more')}; use --json to see all.\n`)
}

/** Deletes them, each only as it is now. */
export async function prune(shell: Shell, ids: readonly string[]): Promise<void> {
  tellSurplus(shell, ids, 'deletes')
  for (let at = 0; at < ids.length; ) {
    const jobIds: string[] = []
    let bytes = 0
    for (const id of ids.slice(at, at + listedIdsMax)) {
      bytes += Buffer.byteLength(JSON.stringify(id)) + 1
      if (jobIds.length > 0 && bytes > idsBytesMax) break
      jobIds.push(id)
    }
    at += jobIds.length
    await operate(shell, { action: 'DELETE', jobIds })
  }
}
