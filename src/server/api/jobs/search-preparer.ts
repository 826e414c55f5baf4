/**
 * Prepares the owners for searches while somebody looks at the dashboard. The first search by handler or by a part of an id makes an
 * owner build a catalogue, which among a million jobs takes seconds (ADR 0031); made in the background, it is there before somebody has
 * typed. After each call it rests for as long as the call took, so that it never takes more than half of a processor.
 */
import { type Clock, waitFor } from '../../../ground/clock/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { OwnerDirectory } from '../../peers/index.ts'
import { searchPrepareMs } from '../schemas/index.ts'

export interface SearchPreparerOptions {
  owners: OwnerDirectory
  partitions: number
  clock: Clock
  logger: Logger
}

/** No job has it, so an owner reads all jobs that it has. */
const unusedHandler = '\u0001'

export class SearchPreparer {
  readonly #context: SearchPreparerOptions
  readonly #isWanted: () => boolean
  #running = false
  /** By the steady clock. */
  #nextAt = Number.NEGATIVE_INFINITY

  /** `isWanted`: whether a page is still open. */
  constructor(context: SearchPreparerOptions, isWanted: () => boolean) {
    this.#context = context
    this.#isWanted = isWanted
  }

  /** Call it repeatedly while a page is open; most calls do nothing. Resolves when this one is done. */
  async tick(): Promise<void> {
    const { clock, logger, partitions } = this.#context
    if (this.#running || clock.steadyMs() < this.#nextAt) return
    this.#running = true
    try {
      for (let partition = 0; partition < partitions && this.#isWanted(); partition++) await this.#prepare(partition)
    } catch (error) {
      logger.debug(
        { event: 'search-not-prepared', err: error },
        'Owners could not be prepared for searches, so the first search takes longer.',
      )
    } finally {
      this.#running = false
      this.#nextAt = clock.steadyMs() + searchPrepareMs
    }
  }

  async #prepare(partition: number): Promise<void> {
    const { owners, clock } = this.#context
    let after: string | undefined
    do {
      const from = clock.steadyMs()
      const { next } = await owners.ask(partition, (owner) => owner.list(partition, { handler: unusedHandler }, 1, after))
      after = next
      if (after !== undefined) await waitFor(clock.steadyMs() - from, clock)
    } while (after !== undefined && this.#isWanted())
  }
}
