/** The wait for the end of a run, and the runs of a job that are kept. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { routes } from '../../../ground/answers/index.ts'
import { type Clock, waitFor } from '../../../ground/clock/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Asker, AwaitedRun, JobQueries, RunEnd } from '../../../ground/ports/index.ts'
import { isAway, type OwnerDirectory } from '../../peers/index.ts'
import { runsOf, whileAsked } from '../http/index.ts'
import { runWaitAgainMs, runWaitsMax, runWaitsPerCallerMax } from '../schemas/index.ts'

/**
 * Requests that wait for the end of a run. The owner of the partition tells when it comes; if the partition moves meanwhile, the next
 * owner is asked.
 */

export interface RunEndsOptions {
  owners: OwnerDirectory
  clock: Clock
}

/** The part of an answer that says that the run has not ended in time. */
export const runTimeout = (timeoutMs: number): { code: 'wait-timeout'; detail: string } => ({
  code: 'wait-timeout',
  detail: `The run has not ended within ${timeoutMs} ms. Nothing is lost: ${routes.awaitRun.join(' ')} waits again.`,
})

/** As answers have it: `run` is a run in JSON, or null. */
export interface AnsweredEnd {
  ended: boolean
  run: unknown
  reason: string | null
}

export class RunEnds {
  readonly #options: RunEndsOptions
  /** Requests that wait, by caller. */
  readonly #waiting = new Map<string, number>()
  #size = 0
  readonly #stopping = new AbortController()

  constructor(options: RunEndsOptions) {
    this.#options = options
  }

  /**
   * Waits at most `timeoutMs`. Rejects with `overloaded` if too many wait, and with `not-ready` if no owner answers until then.
   */
  async wait(
    request: FastifyRequest,
    reply: FastifyReply,
    partition: number,
    id: string,
    awaited: AwaitedRun,
    timeoutMs: number,
  ): Promise<AnsweredEnd> {
    return await whileAsked(request, reply, async (asker) => {
      const end = await this.#counted(asker.caller, () => this.#end(partition, id, awaited, timeoutMs, asker))
      if (end === null) return { ended: false, run: null, reason: null }
      if (end.run === null) return { ended: true, ...end }
      // The values to hide from a viewer are in the definition.
      const isViewer = request.role === 'viewer'
      const job = isViewer ? await this.#options.owners.ask(partition, (owner) => owner.job(partition, id)) : undefined
      return { ended: true, run: runsOf(request.role, id, job).finished(end.run), reason: null }
    })
  }

  /** All waits end now, because the process stops. */
  stop(): void {
    this.#stopping.abort()
  }

  async #counted<Answer>(caller: string, work: () => Promise<Answer>): Promise<Answer> {
    const mine = this.#waiting.get(caller) ?? 0
    if (this.#size >= runWaitsMax || mine >= runWaitsPerCallerMax) {
      throw new DuelogError(
        'overloaded',
        `${runWaitsMax} requests already wait in this process for the end of a run, or ${runWaitsPerCallerMax} of one caller. Ask another process, or ask again later.`,
      )
    }
    this.#waiting.set(caller, mine + 1)
    this.#size++
    try {
      return await work()
    } finally {
      this.#size--
      const left = (this.#waiting.get(caller) ?? 1) - 1
      if (left === 0) this.#waiting.delete(caller)
      else this.#waiting.set(caller, left)
    }
  }

  async #end(
    partition: number,
    id: string,
    awaited: AwaitedRun,
    timeoutMs: number,
    { caller, signal }: Asker,
  ): Promise<RunEnd | null> {
    const { owners, clock } = this.#options
    const ended = AbortSignal.any([this.#stopping.signal, ...(signal === undefined ? [] : [signal])])
    const untilMs = clock.steadyMs() + timeoutMs
    for (;;) {
      const leftMs = Math.ceil(untilMs - clock.steadyMs())
      if (leftMs <= 0 || ended.aborted) return null
      try {
        const asker = { caller, signal: ended }
        return await owners.ask(partition, (owner) => owner.ended(partition, id, awaited, leftMs, asker))
      } catch (error) {
        if (ended.aborted) return null
        if (!(error instanceof DuelogError) || !isAway(error)) throw error
        if (untilMs - clock.steadyMs() <= runWaitAgainMs) throw error
        await waitFor(runWaitAgainMs, clock)
      }
    }
  }
}

export async function runsWith(
  jobs: JobQueries,
  partition: number,
  jobId: string,
  runNo: number,
): ReturnType<JobQueries['runs']> {
  const runs = await jobs.runs(partition, jobId)
  const isThere = [...(runs?.active ?? []), ...(runs?.finished ?? [])].some((run) => run.runNo === runNo)
  return runs === undefined || isThere ? runs : jobs.runs(partition, jobId, runNo)
}
