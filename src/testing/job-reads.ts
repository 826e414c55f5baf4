/** What the client of a test system asks the owners of the simulated cluster: jobs, runs and reasons. */

import { partitionOf } from '../../streams/topics/index.ts'
import type { JobExplanation } from '../answers/index.ts'
import {
  type AwaitedRunOf,
  checkedId,
  checkedRunOf,
  checkedWait,
  RunFailedError,
  type RunInfo,
  type WaitOptions,
} from '../client/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { JobView, PartitionQueries } from '../ports/index.ts'
import { activeRunAnswer, endedRunAnswer, notFound } from './api-answers.ts'
import type { Driver } from './driver.ts'
import { isoTime, specOffsetOf } from './json-values.ts'
import type { OwnerCalls } from './owner-calls.ts'
import type { RunHistory } from './run-history.ts'

/** How long an owner may take to apply a record, in virtual ms. It takes less, unless it has just crashed. */
const appliedWaitMs = 300_000
const listPageSize = 500

export interface JobReadsParts {
  driver: Driver
  owner: OwnerCalls
  history: RunHistory
  partitions: number
}

export class JobReads {
  readonly #parts: JobReadsParts

  constructor(parts: JobReadsParts) {
    this.#parts = parts
  }

  /** Throws `bad-job-id`. */
  partitionOf(id: string): number {
    checkedId(id)
    return partitionOf(id, this.#parts.partitions)
  }

  async job(id: string): Promise<JobView | undefined> {
    const partition = this.partitionOf(id)
    return this.#parts.owner.ask((owner) => owner.job(partition, id))
  }

  async existing(id: string): Promise<JobView> {
    const job = await this.job(id)
    if (job === undefined) throw notFound(id)
    return job
  }

  async list(filter: Parameters<PartitionQueries['list']>[1]): Promise<JobView[]> {
    const found: JobView[] = []
    for (let partition = 0; partition < this.#parts.partitions; partition++) {
      let after: string | undefined
      do {
        const page = await this.#parts.owner.ask((owner) => owner.list(partition, filter, listPageSize, after))
        found.push(...page.jobs)
        after = page.next
      } while (after !== undefined)
    }
    return found
  }

  async runs(id: string): Promise<RunInfo[]> {
    const partition = this.partitionOf(id)
    const known = await this.#parts.owner.ask((owner) => owner.runs(partition, id))
    const ended = this.#parts.history.ended(id)
    if (known === undefined && ended.length === 0) throw notFound(id)
    const active = (known?.active ?? []).map((run) => activeRunAnswer(id, run))
    return [...active.reverse(), ...ended.reverse().map((run) => endedRunAnswer(id, run))]
  }

  async why(id: string): Promise<JobExplanation> {
    const partition = this.partitionOf(id)
    const why = await this.#parts.owner.ask((owner) => owner.why(partition, id))
    if (why === undefined) throw notFound(id)
    const reasons = why.reasons.map(({ at, ...reason }) => ({ ...reason, at: at === null ? null : isoTime(at) }))
    return { id, status: why.status, why: reasons }
  }

  /** Resolves once the owner has applied these records. */
  async applied(partition: number, offsets: { jobs?: number; commands?: number }): Promise<void> {
    if (await this.#parts.owner.ask((owner) => owner.applied(partition, offsets, appliedWaitMs))) return
    throw new DuelogError('not-ready', `The owner of partition ${partition} has not applied the record.`)
  }

  /** The ended run. If the scheduler dies meanwhile, its successor is asked for the rest of the time. */
  async awaitRun(id: string, of: AwaitedRunOf, options: WaitOptions | undefined): Promise<RunInfo> {
    const { timeoutMs, signal } = checkedWait(options)
    const partition = this.partitionOf(id)
    const which = checkedRunOf(of)
    const awaited = 'etag' in which ? specOffsetOf(which.etag, partition) : which
    signal?.throwIfAborted()
    const { driver, owner } = this.#parts
    const untilMs = driver.nowMs + timeoutMs
    const end = await owner.ask((queries) =>
      queries.ended(partition, id, awaited, Math.max(0, untilMs - driver.nowMs), { caller: 'test', signal }),
    )
    signal?.throwIfAborted()
    if (end === null)
      throw new DuelogError(
        'wait-timeout',
        `A run of job ${JSON.stringify(id)} has not ended within ${timeoutMs} ms of virtual time. \`why\` says what the job waits for.`,
      )
    if (end.run === null) throw new RunFailedError(end.reason ?? `There is no such run of job ${JSON.stringify(id)}.`)
    return endedRunAnswer(id, end.run)
  }
}
