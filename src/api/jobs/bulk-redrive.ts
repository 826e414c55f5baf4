/**
 * Redrives dead runs of many jobs. A job has room for as many runs as its maxConcurrentRuns allows. Further ones would be
 * refused, so they are not sent, and are reported as left.
 */
import type { JobView } from '../../ports/index.ts'
import { runIdOf } from '../http/index.ts'
import type { OwnerDirectory } from '../owners/index.ts'
import { redrivesLeftMax } from '../schemas/index.ts'
import type { JobWrites } from './job-writes.ts'

/** A dead run that was not redriven, and why. */
export interface LeftRun {
  runId: string
  detail: string
}

interface Asked {
  id: string
  partition: number
  runNo: number
  commandId: string
}

const noRoom = 'The job has as many active runs as its maxConcurrentRuns allows; redrive it again when one of them has ended.'

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
  async of({ id, deadRuns, active, definition }: JobView, max: number): Promise<boolean> {
    const room = Math.max((definition?.maxConcurrentRuns ?? 0) - active.length, 0)
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
