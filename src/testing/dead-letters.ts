/** The dead runs of a test system that can be redriven, as the API answers them. */
import type { FinishedRun } from '../../schemas/index.ts'
import type { DeadLetter } from '../answers/index.ts'
import type { RunFilter, RunInfo } from '../client/index.ts'
import { callOptions, DuelogError } from '../errors/index.ts'
import { executionToJson, finishedRunToJson } from '../ports/index.ts'
import { endedRunAnswer } from './api-answers.ts'
import type { JobReadsParts } from './job-reads.ts'
import { JobReads } from './job-reads.ts'

/** Dead runs of one redrive of many, as in the API. */
const redriveMax = 1_000

export class DeadLetters {
  readonly #parts: JobReadsParts
  readonly #reads: JobReads

  constructor(parts: JobReadsParts) {
    this.#parts = parts
    this.#reads = new JobReads(parts)
  }

  /** Newest first. Rejects with `bad-request`. */
  async list(filter: RunFilter | undefined): Promise<RunInfo[]> {
    const found = await this.#found(callOptions('deadLetters', filter, { tag: true, handler: true }))
    return found.map(({ id, run }) => endedRunAnswer(id, run))
  }

  async of(id: string, runNo: number): Promise<DeadLetter | undefined> {
    const partition = this.#reads.partitionOf(id)
    const execution = await this.#parts.owner.ask((owner) => owner.deadRun(partition, id, runNo))
    const run = this.#ended(id, runNo)
    if (execution === undefined || run === undefined) return undefined
    return { run: finishedRunToJson(id, run, true), execution: executionToJson(execution) } as unknown as DeadLetter
  }

  /** The dead runs of one redrive, those of each job newest first. Rejects with `command-refused` if more match than one takes, and `bad-request`. */
  async toRedrive(filter: (RunFilter & { max?: number | undefined }) | undefined): Promise<{ runs: RunInfo[]; more: boolean }> {
    const { max = redriveMax, ...which } = callOptions('redriveMany', filter, { tag: true, handler: true, max: true })
    if (!Number.isInteger(max) || max < 1 || max > redriveMax)
      throw new DuelogError(
        'bad-request',
        `max of redriveMany is ${String(max)}; it must be a whole number from 1 to ${redriveMax}.`,
      )
    const found = await this.#found(which)
    if (found.length > redriveMax)
      throw new DuelogError('command-refused', `More than ${redriveMax} dead runs match, so none was redriven.`)
    return { runs: found.slice(0, max).map(({ id, run }) => endedRunAnswer(id, run)), more: found.length > max }
  }

  async #found(filter: RunFilter): Promise<{ id: string; run: FinishedRun }[]> {
    const jobs = await this.#reads.list({ ...filter, dead: true })
    const found = jobs.flatMap(({ id, deadRuns }) =>
      deadRuns.flatMap((runNo) => {
        const run = this.#ended(id, runNo)
        return run === undefined ? [] : [{ id, run }]
      }),
    )
    return found.sort((left, right) => right.run.finishedAt - left.run.finishedAt || (left.id < right.id ? -1 : 1))
  }

  /** Of the present life of the job. */
  #ended(id: string, runNo: number): FinishedRun | undefined {
    return this.#parts.history.ended(id).findLast((run) => run.runNo === runNo)
  }
}
