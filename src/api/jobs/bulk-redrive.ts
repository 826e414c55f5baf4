/**
 * Redrives the dead runs of a filter, if they are few; an operation redrives any number. A job has room for as many runs as its
 * maxConcurrentRuns allows. Further ones would be refused, so they are not sent, and are reported as left.
 */
import { DuelogError } from '../../errors/index.ts'
import { runIdOf } from '../http/index.ts'
import type { OwnerDirectory } from '../owners/index.ts'
import { redriveMax, redrivesLeftMax } from '../schemas/index.ts'
import type { JobPage } from './job-list.ts'
import type { JobWrites } from './job-writes.ts'

/** A dead run that was not redriven, and why. */
export interface LeftRun {
  runId: string
  detail: string
}

/** A job with dead runs. */
interface DeadJob {
  id: string
  deadRuns: readonly number[]
  /** Number of runs that may be added to the active ones. */
  room: number
}

interface Asked {
  id: string
  partition: number
  runNo: number
  commandId: string
}

const noRoom = 'The job has as many active runs as its maxConcurrentRuns allows; redrive it again when one of them has ended.'

/** Rejects with `command-refused` if more dead runs match than one request redrives. A repeat could not reach the rest: it would begin with those that failed again. */
export async function deadJobs(pageAfter: (cursor: string | undefined) => Promise<JobPage>, filter: object): Promise<DeadJob[]> {
  const found: DeadJob[] = []
  let count = 0
  let cursor: string | undefined
  do {
    const page = await pageAfter(cursor)
    for (const { id, deadRuns, active, definition } of page.jobs) {
      count += deadRuns.length
      found.push({ id, deadRuns, room: Math.max((definition?.maxConcurrentRuns ?? 0) - active.length, 0) })
    }
    if (count > redriveMax) throw new DuelogError('command-refused', tooManyText(filter))
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

function tooManyText(filter: object): string {
  const operation = JSON.stringify({ action: 'REDRIVE', filter })
  const max = redriveMax.toLocaleString('en-US')
  return `More than ${max} dead runs match, so none was redriven. An operation redrives any number, each once: POST ${operation} to /v1/operations, or use "duelog runs redrive --dead". To redrive some of them, give it runIds in place of the filter.`
}

export class BulkRedrive {
  readonly #context: { writes: JobWrites; owners: OwnerDirectory }
  readonly #actor: string | null
  readonly #asked: Asked[] = []
  readonly #left: LeftRun[] = []
  /** Offset of the last command in each partition. */
  readonly #ends = new Map<number, number>()

  constructor(context: { writes: JobWrites; owners: OwnerDirectory }, actor: string | null) {
    this.#context = context
    this.#actor = actor
  }

  /** Number of requested redrives. */
  get asked(): number {
    return this.#asked.length
  }

  /** Requests redrives of as many dead runs of the job as it has room for, at most `max`. True: it had room for more. */
  async of({ id, deadRuns, room }: DeadJob, max: number): Promise<boolean> {
    for (const runNo of deadRuns.slice(0, Math.min(room, max))) {
      const { partition, offset, commandId } = await this.#context.writes.command(id, 'REDRIVE', { runNo, actor: this.#actor })
      this.#asked.push({ id, partition, runNo, commandId })
      this.#ends.set(partition, offset)
    }
    for (const runNo of deadRuns.slice(room)) this.#leave(runIdOf(id, runNo), noRoom)
    return Math.min(room, deadRuns.length) > max
  }

  /**
   * Waits until the owners have applied the commands, up to the usual limit of a request, and separates those that were
   * refused.
   */
  async outcome(): Promise<{ runIds: string[]; left: LeftRun[] }> {
    const { writes, owners } = this.#context
    await Promise.all([...this.#ends].map(([partition, commands]) => writes.applied(partition, { commands })))
    const refused = new Map<string, string>()
    for (const { id, partition } of new Map(this.#asked.map((asked) => [asked.id, asked])).values()) {
      // If the owner does not answer, its commands are durable and count as executed.
      const why = await owners.ask(partition, (owner) => owner.why(partition, id)).catch(() => undefined)
      for (const { commandId, text } of why?.reasons ?? []) if (commandId !== undefined) refused.set(commandId, text)
    }
    const runIds: string[] = []
    for (const { id, runNo, commandId } of this.#asked) {
      const detail = refused.get(commandId)
      if (detail === undefined) runIds.push(runIdOf(id, runNo))
      else this.#leave(runIdOf(id, runNo), detail)
    }
    return { runIds, left: this.#left }
  }

  #leave(runId: string, detail: string): void {
    if (this.#left.length < redrivesLeftMax) this.#left.push({ runId, detail })
  }
}
