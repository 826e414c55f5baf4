/** Jobs of a scope that are not in the files: `plan --prune` shows them, `apply --prune` deletes them. */
import { Option } from 'commander'
import type { Job } from '../../answers/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { pagesOf, type Shell } from '../remote/index.ts'
import { countText, jsonText, oneLine, painterOf } from '../terminal/index.ts'
import type { JobText } from './job-files.ts'
import { listedIdsMax, operate } from './operate.ts'

/** Bytes of ids in one operation, below the largest body. */
const idsBytesMax = 500_000
const shownMax = 20

export interface PruneFlags {
  prune?: boolean
  tag?: string
  idPrefix?: string
}

export function pruneOptions(): Option[] {
  return [
    new Option('--prune', 'also delete jobs of the scope that are not in the files; the scope is --tag or --id-prefix, or both'),
    new Option('--tag <tag>', 'with --prune: only jobs with this tag'),
    new Option('--id-prefix <text>', 'with --prune: only jobs whose ID begins with this text'),
  ]
}

/** The ids of jobs in files, noted while they are read; and the jobs of the scope that are not among them. */
export class Pruning {
  readonly #scope: { tag: string | undefined; idPrefix: string | undefined }
  readonly #ids = new Set<string>()

  /** Undefined without --prune. Throws for a scope without --prune, and for --prune without a scope, which would be all jobs. */
  static of({ prune, tag, idPrefix }: PruneFlags): Pruning | undefined {
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
    const take = ({ id }: Job): void => {
      if (!this.#ids.has(id)) surplus.push(id)
    }
    await pagesOf<Job>(api, '/v1/jobs', this.#scope, 'jobs', Number.MAX_SAFE_INTEGER, take, async () => true)
    return surplus
  }
}

/** Shows what is deleted: the first ids, and how many there are. With --json all of them. */
export function tellSurplus({ terminal, json }: Shell, ids: readonly string[], word: string): void {
  if (json) return void terminal.stdout.write(ids.map((id) => jsonText({ id, change: 'DELETE' }, terminal.stdout)).join(''))
  const paint = painterOf(terminal.stdout, terminal.env)
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
