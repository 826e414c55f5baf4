/**
 * Tells everyone who listens, once a second, how the system stands: counts of all owners and a view of each partition. Nobody is asked
 * while nobody listens, and all listeners share one answer. A pulse is complete in itself, so one that was missed is not missed.
 */
import type { ApiContext } from '../context/index.ts'
import { SearchPreparer } from '../jobs/index.ts'
import { countsOf, type PartitionOwnerView, type ProcessCounts, sumOf } from '../owners/index.ts'
import { statsIntervalMs } from '../schemas/index.ts'
import { summaryOf } from './proof-routes.ts'

export interface StatsMessage {
  /** Epoch ms by the clock of the process that answers. */
  at: number
  /** Of all owners. They fall when a process ends, so that a difference below zero tells nothing. */
  counts: ProcessCounts
  partitions: PartitionOwnerView[]
  /** What the auditors have found, and up to when they have judged; null where nobody can say. */
  proof: { found: number; audited: number; judgedUntil: number | null } | null
}

type Listener = (message: string) => void

export class StatsBroadcast {
  readonly #context: ApiContext
  readonly #listeners = new Set<Listener>()
  readonly #searches: SearchPreparer
  #cancel: (() => void) | undefined
  #last: string | undefined

  constructor(context: ApiContext) {
    this.#context = context
    this.#searches = new SearchPreparer(context, () => this.#listeners.size > 0)
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** Calls `listener` with each pulse, as JSON, from the next moment on. Returns a function that ends that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    if (this.#last !== undefined) listener(this.#last)
    if (this.#listeners.size === 1) void this.#beat()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#cancel?.()
      this.#last = undefined
    }
  }

  async #beat(): Promise<void> {
    const { clock, logger } = this.#context
    this.#cancel?.()
    try {
      this.#last = JSON.stringify(await this.#message())
      for (const listener of this.#listeners) listener(this.#last)
    } catch (error) {
      // Without a pulse the listeners say that what they show is old.
      logger.debug({ err: error }, 'The owners could not be asked for the counts; they are asked again.')
    }
    if (this.#listeners.size === 0) return
    void this.#searches.tick()
    this.#cancel?.()
    this.#cancel = clock.at(clock.nowMs() + statsIntervalMs, () => void this.#beat())
  }

  async #message(): Promise<StatsMessage> {
    const { owners, metrics, clock } = this.#context
    const [local, remote, partitions, proof] = await Promise.all([
      countsOf(metrics),
      owners.remoteCounts(),
      owners.views(),
      this.#proof(),
    ])
    return { at: clock.nowMs(), counts: sumOf([local, ...remote]), partitions, proof }
  }

  async #proof(): Promise<StatsMessage['proof']> {
    const { proofs, partitions } = this.#context
    // Without an answer of the auditors the rest of the pulse is true all the same.
    const found = await proofs?.proofs().catch(() => undefined)
    if (found === undefined || found.length === 0) return null
    const { found: faults, audited, judgedUntil } = summaryOf(found, partitions)
    return { found: faults, audited, judgedUntil }
  }
}
