/** The planned stop of a scheduler: it fires until other members do, and then leaves (ADR 0057). */
import { atSteady } from '../ground/clock/index.ts'
import type { GroupReader } from '../ground/ports/index.ts'
import type { SchedulerOptions } from './options/index.ts'

/** Maximum time that a stopping scheduler keeps firing until other members do. */
export const handOverMsMax = 10_000
/**
 * Time that it stays a member after that: its leaving causes a rebalance, during which no member reads, and the new owners must
 * read up to their claims.
 */
const successorsReadMs = 2_000

export class HandOver {
  readonly #options: Pick<SchedulerOptions, 'clock' | 'logger'>
  readonly #leaving: () => number[]
  #handedOver: (() => void) | undefined
  #hasBegun = false

  /** `leaving`: partitions that fire here until their new owners do. */
  constructor(options: Pick<SchedulerOptions, 'clock' | 'logger'>, leaving: () => number[]) {
    this.#options = options
    this.#leaving = leaving
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Call it whenever a partition may have been taken over. */
  check(): void {
    if (this.#leaving().length === 0) this.#handedOver?.()
  }

  /**
   * Tells the group that this member leaves. The group assigns its partitions to other members, which fence this one as soon as
   * they can fire. The time limit ends it, whatever fails.
   */
  async run(reader: Pick<GroupReader, 'rejoin'>): Promise<void> {
    const { clock, logger } = this.#options
    this.#hasBegun = true
    let cancel = (): void => {}
    const after = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        cancel = clock.at(atSteady(clock, clock.steadyMs() + ms), resolve)
      })
    let hasSuccessors = false
    const late = after(handOverMsMax)
    const handedOver = (): Promise<void> =>
      new Promise((resolve) => {
        hasSuccessors = this.#leaving().length > 0
        this.#handedOver = resolve
        this.check()
      })
    // A stopped reader never settles.
    await Promise.race([reader.rejoin().then(handedOver, () => undefined), late])
    cancel()
    const left = this.#leaving()
    if (left.length > 0)
      logger.warn(
        { event: 'partitions-without-successor', partitions: left },
        'The stop does not wait longer, although no process fires some partitions yet.',
      )
    else if (hasSuccessors) await after(successorsReadMs)
  }
}
