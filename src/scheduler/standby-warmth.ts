/**
 * Stores that the group waits for: other members fire or follow in place of this one until it is warm
 * (kafka/group/target-assignment.ts). It decides when to ask the group for a rebalance: at once when all are warm; otherwise some
 * time after the first is warm, because the others may never be. The wait grows each time. It asks only if it can report
 * something new since the last join. Nothing waits for it.
 */
import { atSteady, type Clock } from '../ground/clock/index.ts'

/**
 * Time that warm partitions wait for the others, and the second request after the first; each later one waits twice as long, up
 * to a maximum.
 */
export const gatherMs = 10_000
const gatherMsMax = 600_000

export interface WarmthOptions {
  clock: Clock
  /** Asks the group for a rebalance; rejects if this member has stopped. */
  ask: () => Promise<void>
  isWarm: (partition: number) => boolean
  /** Whether a takeover is in progress here, which a rebalance would delay: no member reads during a rebalance. */
  isTakingOver: () => boolean
}

export class StandbyWarmth {
  readonly #options: WarmthOptions
  #awaited: number[] = []
  /** Partitions that were warm at the last join; the group knows them. */
  #announced = new Set<number>()
  /** Number of requests since the group last waited for nothing here. */
  #asked = 0
  #askedAtMs = Number.NEGATIVE_INFINITY
  /** When the first unreported partition became warm, by the steady clock. */
  #sinceMs = Number.POSITIVE_INFINITY
  #isAsking = false
  #isStopped = false
  #checkTimer = (): void => {}

  constructor(options: WarmthOptions) {
    this.#options = options
  }

  /** Sets the partitions that the group waits for here. */
  await(partitions: number[]): void {
    this.#awaited = partitions
    if (partitions.length === 0) this.#asked = 0
    this.check()
  }

  /** Call it with the partitions that a join reports. */
  telling(warm: readonly number[]): void {
    this.#announced = new Set(warm)
  }

  /** Call it whenever a partition may have become warm or was taken over. */
  check(): void {
    this.#checkTimer()
    const { clock, isWarm, isTakingOver } = this.#options
    const open = this.#awaited.filter((partition) => !this.#announced.has(partition))
    const warm = open.filter(isWarm)
    if (warm.length === 0) this.#sinceMs = Number.POSITIVE_INFINITY
    if (warm.length === 0 || this.#isAsking || this.#isStopped || isTakingOver()) return
    const nowMs = clock.steadyMs()
    this.#sinceMs = Math.min(this.#sinceMs, nowMs)
    const waitMs = (times: number): number => Math.min(gatherMs * 2 ** Math.max(0, times), gatherMsMax)
    const gatheredAtMs = warm.length === open.length ? nowMs : this.#sinceMs + waitMs(this.#asked)
    const mayAskAtMs = this.#asked === 0 ? nowMs : this.#askedAtMs + waitMs(this.#asked - 1)
    const atMs = Math.max(gatheredAtMs, mayAskAtMs)
    if (atMs > nowMs) this.#checkTimer = clock.at(atSteady(clock, atMs), () => this.check())
    else void this.#ask(nowMs)
  }

  stop(): void {
    this.#isStopped = true
    this.#checkTimer()
  }

  async #ask(nowMs: number): Promise<void> {
    this.#isAsking = true
    this.#asked++
    this.#askedAtMs = nowMs
    this.#sinceMs = Number.POSITIVE_INFINITY
    // A stopped member asks no more.
    await this.#options.ask().catch(() => this.stop())
    this.#isAsking = false
    this.check()
  }
}
