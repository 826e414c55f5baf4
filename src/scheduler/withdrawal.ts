/**
 * A process whose local stores fail permanently lets other members fire (ADR 0068). It rejoins its group and reports that it
 * leaves, as at a planned stop. The group assigns nothing to it while any other member stays. It remains a member, and asks for
 * partitions again later:
 *
 *   fit ──a store failed permanently──► withdrawn ──it has no partition, and the duration is over──► fit
 *                                           └──the group assigned partitions anyway, and they work──► fit
 *
 * A process that returns is like a new member: it owns nothing before it is warm (ADR 0064), and does not become warm on a disk
 * that is still broken. If all members are withdrawn, the group assigns everything among all of them. Each keeps retrying its
 * partitions, and nothing moves.
 */
import { atSteady, type Clock } from '../ground/clock/index.ts'
import type { Metrics } from '../ground/metrics/index.ts'
import type { Shared } from './options/index.ts'
import { worksAfterMs } from './state/index.ts'

/** Duration of the first withdrawal; each further one is twice as long, up to a maximum. */
export const awayMsMin = 60_000
const awayMsMax = 3_600_000
/** After this time without a permanent failure, and at least the last duration, the next withdrawal counts as the first. */
const forgottenMs = 600_000

/** The part of a partition that is needed. */
interface Held {
  number: number
  closing: boolean
  /** Whether it fires only until other members do. */
  isLeaving: boolean
  /** Whether its store fails permanently. */
  isBroken: boolean
  /** Whether it fires or follows. */
  works: boolean
}

export interface WithdrawalOptions {
  clock: Clock
  metrics: Pick<Metrics, 'withdrawn'>
  logger: Shared['logger']
  partitions: () => Iterable<Held>
  /** Rejoins the group, which then learns whether this member is withdrawn; rejects if it has stopped. */
  ask: () => Promise<void>
}

export class Withdrawal {
  readonly #options: WithdrawalOptions
  #broken: number[] = []
  #awayMs = 0
  /** By the steady clock, like all times here. */
  #backAtMs = 0
  #fitSinceMs = Number.NEGATIVE_INFINITY
  /** Since when everything works that the group assigned during the withdrawal. */
  #worksSinceMs = Number.POSITIVE_INFINITY
  #isStopped = false
  #returnTimer = (): void => {}

  constructor(options: WithdrawalOptions) {
    this.#options = options
  }

  get isWithdrawn(): boolean {
    return this.#broken.length > 0
  }

  /** The reason for people while it is withdrawn. */
  get problem(): string | undefined {
    if (!this.isWithdrawn) return undefined
    const stores = `${this.#broken.length === 1 ? 'partition' : 'partitions'} ${this.#broken.join(', ')}`
    return `The local stores of ${stores} fail again and again, so this process lets others fire. Look at the disk of DUELOG_DATA_DIR.`
  }

  /** Call it whenever a partition enters another phase, and whenever the group assigns partitions. */
  check(): void {
    this.#returnTimer()
    if (this.#isStopped) return
    const nowMs = this.#options.clock.steadyMs()
    const held = [...this.#options.partitions()].filter(({ closing, isLeaving }) => !closing && !isLeaving)
    if (!this.isWithdrawn) {
      const broken = held.filter(({ isBroken }) => isBroken).map(({ number }) => number)
      if (broken.length > 0) this.#withdraw(broken, nowMs)
      return
    }
    const works = held.length > 0 && held.every((partition) => partition.works)
    this.#worksSinceMs = works ? Math.min(this.#worksSinceMs, nowMs) : Number.POSITIVE_INFINITY
    const backAtMs = held.length === 0 ? this.#backAtMs : this.#worksSinceMs + worksAfterMs
    if (backAtMs <= nowMs) this.#return(nowMs)
    else if (backAtMs < Number.POSITIVE_INFINITY)
      this.#returnTimer = this.#options.clock.at(atSteady(this.#options.clock, backAtMs), () => this.check())
  }

  stop(): void {
    this.#isStopped = true
    this.#returnTimer()
  }

  #withdraw(broken: number[], nowMs: number): void {
    const isFirst = nowMs - this.#fitSinceMs >= Math.max(forgottenMs, this.#awayMs)
    this.#awayMs = isFirst ? awayMsMin : Math.min(2 * this.#awayMs, awayMsMax)
    this.#backAtMs = nowMs + this.#awayMs
    this.#broken = broken.sort((a, b) => a - b)
    const { metrics, logger } = this.#options
    metrics.withdrawn.set(1)
    logger.error(
      { event: 'scheduler-withdrawn', partitions: broken },
      `${this.problem} It asks for partitions again in ${this.#awayMs / 1_000} s.`,
    )
    this.#tell()
  }

  #return(nowMs: number): void {
    this.#broken = []
    this.#fitSinceMs = nowMs
    this.#worksSinceMs = Number.POSITIVE_INFINITY
    const { metrics, logger } = this.#options
    metrics.withdrawn.set(0)
    logger.info(
      { event: 'scheduler-returned' },
      'This process asks for its share of the partitions again. It will own those that its stores can keep up with.',
    )
    this.#tell()
  }

  #tell(): void {
    // A stopped member is in no group.
    void this.#options.ask().catch(() => this.stop())
  }
}
