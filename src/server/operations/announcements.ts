/**
 * Makes an operation known to the owners of all partitions at once, before their jobs are changed one after another (ADR 0098). From then
 * on an owner changes each job that comes up before it fires. An owner that takes a partition over hears of it while it takes over: a
 * question is always open, and is answered when the partition leaves.
 */
import type { OperationPart } from '../../../schemas/index.ts'
import { type Clock, waitFor } from '../../ground/clock/index.ts'
import { withTimeout } from '../../ground/concurrency/index.ts'
import type { Announced, AnnounceQuery, CutOff } from '../../ground/ports/index.ts'
import type { Ask } from './options.ts'

/** How long one question stays open. Owners forget an operation later than that. */
const openMs = 5_000
/** Delay until an owner is asked again that did not answer: the longer one for a partition that has been without an owner for long. */
const againMs = 250
const againMsMax = 2_000
const soonTries = 40
/** An owner that answers too soon is not asked all the time. */
const answeredAgainMs = 1_000
/** How long the end of an operation waits for the owners. */
const releaseMs = 2_000

export interface AnnouncementOptions {
  operation: Pick<AnnounceQuery, 'action' | 'filter' | 'commandId' | 'createdAt'>
  partitions: number
  asking: (partition: number) => Ask
  caller: string
  clock: Clock
  signal: AbortSignal
  /** Called once, when the owners of all partitions know it. */
  onKnown(): void
}

export class Announcements {
  readonly #options: AnnouncementOptions
  /** Partitions whose active owner knows the operation, or has known it. */
  readonly #known = new Set<number>()

  constructor(options: AnnouncementOptions) {
    this.#options = options
  }

  /** Resolves with what exists now. */
  async first(partition: number): Promise<CutOff> {
    return (await this.#tell(partition, { waitMs: 0, isOver: false })).cutOff
  }

  /** Keeps it known until the partition is done or the signal comes. It never rejects. */
  async keep(part: OperationPart): Promise<void> {
    const { clock, signal } = this.#options
    let waitMs = this.#known.has(part.partition) ? openMs : 0
    for (let failures = 0; !part.ended && !signal.aborted; ) {
      const askedAtMs = clock.steadyMs()
      const again = await this.#tell(part.partition, { ...placeOf(part), waitMs, isOver: false }).then(
        () => {
          failures = 0
          return 2 * (clock.steadyMs() - askedAtMs) < waitMs ? answeredAgainMs : 0
        },
        () => (++failures > soonTries ? againMsMax : againMs),
      )
      waitMs = failures > 0 ? 0 : openMs
      if (again > 0) await waitFor(again, clock, signal).catch(() => undefined)
    }
  }

  /** The walk over a partition has ended. Resolves with the number of jobs that were changed ahead of it. A repeat has the same answer. */
  async end(part: OperationPart): Promise<number> {
    return (await this.#tell(part.partition, { ...placeOf(part), waitMs: 0, isOver: true }, false)).ahead
  }

  /** The operation ends early. Resolves with the number of jobs that were changed and are not counted. It never rejects. */
  async release(parts: readonly OperationPart[]): Promise<number> {
    const { clock } = this.#options
    let ahead = 0
    const released = parts
      .filter(({ ended }) => !ended)
      .map(async (part) => {
        const answer = await this.#tell(part.partition, { ...placeOf(part), waitMs: 0, isOver: true }, false)
        ahead += answer.ahead
      })
    await withTimeout(clock, releaseMs, Promise.allSettled(released))
    return ahead
  }

  async #tell(
    partition: number,
    place: Omit<AnnounceQuery, keyof AnnouncementOptions['operation']>,
    mayEnd = true,
  ): Promise<Announced> {
    const { operation, partitions, asking, caller, signal, onKnown } = this.#options
    const asker = { caller, ...(mayEnd && { signal }) }
    const answer = await asking(partition)((owner) => owner.announce(partition, { ...operation, ...place }, asker))
    if (answer.isActive && !this.#known.has(partition) && this.#known.add(partition).size === partitions) onKnown()
    return answer
  }
}

function placeOf({
  jobsOffset,
  startedAt: at,
  after,
  pendingTo,
}: OperationPart): Pick<AnnounceQuery, 'cutOff' | 'after' | 'listed'> {
  return { cutOff: { jobsOffset, at }, ...(after !== null && { after }), ...(pendingTo !== null && { listed: pendingTo }) }
}
