/** Reads that may be answered from a copy, and what is said of them then. */
import type { FastifyReply } from 'fastify'
import { DuelogError } from '../../errors/index.ts'
import type { JobQueries, PartitionQueries } from '../../ports/index.ts'
import { readOwnWriteWaitMs } from '../schemas/index.ts'
import type { OwnerDirectory } from './owner-directory.ts'
import { isAway, type Staleness } from './standby-reads.ts'

export const staleHeader = 'duelog-stale'

/** How one request reads: from owners only, or with `stale` also from copies, which it then names. */
export class ReadConsistency {
  readonly #owners: OwnerDirectory
  readonly mayBeStale: boolean
  readonly #stale = new Map<number, number | null>()

  constructor(owners: OwnerDirectory, mayBeStale = false) {
    this.#owners = owners
    this.mayBeStale = mayBeStale
  }

  /** Rejects as OwnerDirectory.ask does; the message names `?stale=true` where a copy could answer. */
  async ask<Answer>(partition: number, question: (jobs: JobQueries) => Promise<Answer>): Promise<Answer> {
    if (this.mayBeStale) {
      const { answer, stale } = await this.#owners.askAny(partition, question)
      if (stale !== null) this.#stale.set(partition, most(stale.behindRecords, this.#stale.get(partition) ?? 0))
      return answer
    }
    try {
      return await this.#owners.ask(partition, question)
    } catch (error) {
      if (!(error instanceof DuelogError) || !isAway(error) || !this.#owners.hasCopy(partition)) throw error
      throw new DuelogError(error.code, `${error.message} With ?stale=true a standby answers meanwhile.`, { cause: error })
    }
  }

  /**
   * As `ask`; what is not there, or is not what `has` looks for, is asked for once more when the turn that the owner is in has ended. An owner
   * commits what it decides, and only then puts it into its store: who has read the log meanwhile, as workers do, knows of a job or a run that
   * the store does not have yet. A copy is not waited for; it says by itself that it may be out of date.
   */
  find<Answer>(
    partition: number,
    question: (jobs: JobQueries) => Promise<Answer | undefined>,
    has: (answer: Answer) => boolean = () => true,
  ): Promise<Answer | undefined> {
    return this.ask(partition, async (jobs: JobQueries & Partial<Pick<PartitionQueries, 'applied'>>) => {
      const answer = await question(jobs)
      if ((answer !== undefined && has(answer)) || jobs.applied === undefined) return answer
      await jobs.applied(partition, {}, readOwnWriteWaitMs)
      return question(jobs)
    })
  }

  /** Partitions that a copy answered for, in their order. */
  get stale(): Staleness[] {
    const found = [...this.#stale].map(([partition, behindRecords]) => ({ partition, behindRecords }))
    return found.sort((a, b) => a.partition - b.partition)
  }

  /** Says in the header what was read from a copy; answers with whether anything was. */
  mark(reply: FastifyReply): boolean {
    const { stale } = this
    if (stale.length === 0) return false
    const items = stale.map(({ partition, behindRecords }) => `${partition};behind=${behindRecords ?? 'unknown'}`)
    void reply.header(staleHeader, items.join(', '))
    return true
  }
}

/** Of two counts, of which either may be unknown. */
const most = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : Math.max(one, other)
