/** Reads from an owner or a copy, and the text about a change that its owner had not applied in time. */
import type { FastifyReply } from 'fastify'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { JobQueries, PartitionQueries } from '../../../ground/ports/index.ts'
import { isAway, type OwnerDirectory, type Staleness } from '../../peers/index.ts'
import { appliedWaitMs, readOwnWriteWaitMs } from '../schemas/index.ts'

export const staleHeader = 'duelog-stale'

/** The read mode of one request: from owners only, or with `stale` also from standbys, which the answer then names. */
export class ReadConsistency {
  readonly #owners: OwnerDirectory
  readonly mayBeStale: boolean
  readonly #stale = new Map<number, number | null>()

  constructor(owners: OwnerDirectory, mayBeStale = false) {
    this.#owners = owners
    this.mayBeStale = mayBeStale
  }

  /** Rejects like OwnerDirectory.ask; the message names `?stale=true` if a standby could answer. */
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
   * Like `ask`, and asks once more after the current commit cycle of the owner if nothing is found or `has` returns false. An
   * owner commits a decision before it writes its store. A reader of the log, such as a worker, may know of a job or run that
   * the store does not have yet. Rejects with `not-ready` if the cycle lasts too long to know. A standby is not waited for; its answer is
   * marked as possibly stale.
   */
  find<Answer>(
    partition: number,
    question: (jobs: JobQueries) => Promise<Answer | undefined>,
    has: (answer: Answer) => boolean = () => true,
  ): Promise<Answer | undefined> {
    return this.ask(partition, async (jobs: JobQueries & Partial<Pick<PartitionQueries, 'applied'>>) => {
      const answer = await question(jobs)
      if ((answer !== undefined && has(answer)) || jobs.applied === undefined) return answer
      const isCurrent = await jobs.applied(partition, {}, readOwnWriteWaitMs)
      const current = await question(jobs)
      if (!isCurrent && (current === undefined || !has(current))) throw unknownYet(partition)
      return current
    })
  }

  /** Partitions that a standby answered for, in their order. */
  get stale(): Staleness[] {
    const found = [...this.#stale].map(([partition, behindRecords]) => ({ partition, behindRecords }))
    return found.sort((a, b) => a.partition - b.partition)
  }

  /** Lists the stale reads in the header; returns whether there were any. */
  mark(reply: FastifyReply): boolean {
    const { stale } = this
    if (stale.length === 0) return false
    const items = stale.map(({ partition, behindRecords }) => `${partition};behind=${behindRecords ?? 'unknown'}`)
    void reply.header(staleHeader, items.join(', '))
    return true
  }
}

/** The larger of two counts, either of which may be unknown. */
const most = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : Math.max(one, other)

/** A missing job may be in a commit that takes long: its absence is no fact. */
export function unknownYet(partition: number): DuelogError {
  return new DuelogError(
    'not-ready',
    `The owner of partition ${partition} has not yet stored all that was written before, so nobody knows whether this exists. Ask again.`,
  )
}

/** The body of such a 202. */
export interface WaitTimeout {
  code: 'wait-timeout'
  detail: string
}

/**
 * `what`: the subject of the sentence. It asks the owner only after the wait, and never rejects: the change is durable in any
 * case.
 */
export async function waitTimeout(
  owners: Pick<OwnerDirectory, 'problem'>,
  partitions: Iterable<number>,
  what = 'The change is durable in the log, but its owner',
): Promise<WaitTimeout> {
  const problems = await Promise.all([...partitions].map((partition) => owners.problem(partition).catch(() => undefined)))
  const known = [...new Set(problems)].find((problem) => problem !== undefined)
  const why = known === undefined ? '. It will be applied later.' : `. ${known} After that it will be applied.`
  return { code: 'wait-timeout', detail: `${what} had not applied it within ${appliedWaitMs / 1_000} s${why}` }
}
