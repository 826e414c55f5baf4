/**
 * Copies that the group awaits: others fire or follow in the place of this member until it is warm there (kafka/group/warm-assignment.ts). When it asks
 * the group to share out anew: at once when all of them are warm; else some time after the first is, for the others, which may never be. Each
 * further time it waits longer, and it asks only with something to tell that it has not told at the last join. Nobody waits for any of this.
 */
import { atSteady, type Clock } from '../clock/index.ts'

/** So long those that are warm wait for the others, and the second question for the first; each further one twice as long, up to a maximum. */
export const gatherMs = 10_000
const gatherMsMax = 600_000

export interface WarmthOptions {
  clock: Clock
  /** Asks the group to share out anew; rejects where this member has stopped. */
  ask: () => Promise<void>
  isWarm: (partition: number) => boolean
  /** Whether a partition is being taken over here, which a rebalance would hold up: nobody reads during one. */
  isTakingOver: () => boolean
}

export class StandbyWarmth {
  readonly #options: WarmthOptions
  #awaited: number[] = []
  /** Warm at the last join, and so known to the group. */
  #told = new Set<number>()
  /** Since nothing was awaited here last. */
  #asked = 0
  #askedAtMs = Number.NEGATIVE_INFINITY
  /** When the first of those that are not told yet was seen to be warm, by the steady clock. */
  #sinceMs = Number.POSITIVE_INFINITY
  #isAsking = false
  #isStopped = false
  #cancel = (): void => {}

  constructor(options: WarmthOptions) {
    this.#options = options
  }

  /** What the group awaits here. */
  await(partitions: number[]): void {
    this.#awaited = partitions
    if (partitions.length === 0) this.#asked = 0
    this.look()
  }

  /** Must be called with what a join tells. */
  telling(warm: readonly number[]): void {
    this.#told = new Set(warm)
  }

  /** To be called whenever a partition may have become warm, or has been taken over. */
  look(): void {
    this.#cancel()
    const { clock, isWarm, isTakingOver } = this.#options
    const open = this.#awaited.filter((partition) => !this.#told.has(partition))
    const warm = open.filter(isWarm)
    if (warm.length === 0) this.#sinceMs = Number.POSITIVE_INFINITY
    if (warm.length === 0 || this.#isAsking || this.#isStopped || isTakingOver()) return
    const nowMs = clock.steadyMs()
    this.#sinceMs = Math.min(this.#sinceMs, nowMs)
    const waitMs = (times: number): number => Math.min(gatherMs * 2 ** Math.max(0, times), gatherMsMax)
    const gatheredAtMs = warm.length === open.length ? nowMs : this.#sinceMs + waitMs(this.#asked)
    const mayAskAtMs = this.#asked === 0 ? nowMs : this.#askedAtMs + waitMs(this.#asked - 1)
    const atMs = Math.max(gatheredAtMs, mayAskAtMs)
    if (atMs > nowMs) this.#cancel = clock.at(atSteady(clock, atMs), () => this.look())
    else void this.#ask(nowMs)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  async #ask(nowMs: number): Promise<void> {
    this.#isAsking = true
    this.#asked++
    this.#askedAtMs = nowMs
    this.#sinceMs = Number.POSITIVE_INFINITY
    // Who has stopped asks no more.
    await this.#options.ask().catch(() => this.stop())
    this.#isAsking = false
    this.look()
  }
}
