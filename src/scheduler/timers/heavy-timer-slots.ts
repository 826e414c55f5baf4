/**
 * Which partitions of a process take timers of heavy jobs: a few at a time, first come first served, because a turn with them has some tens
 * of megabytes in memory. The others go on with their light ones meanwhile, and are woken when it is their turn.
 */
import type { Clock } from '../../clock/index.ts'
import { commitSlots } from '../../concurrency/index.ts'

/** Who was woken and does not come within this loses its place. */
const placeMs = 1_000

export class HeavyTimerSlots {
  readonly #clock: Pick<Clock, 'steadyMs'>
  readonly #max: number
  readonly #holders = new Set<object>()
  /** Who was woken, and until when its place is kept. */
  readonly #woken = new Map<object, number>()
  readonly #waiting = new Map<object, () => void>()

  /** `max`: default as many as commit side by side. */
  constructor(clock: Pick<Clock, 'steadyMs'>, max = commitSlots) {
    this.#clock = clock
    this.#max = max
  }

  /** True: `who` may take some until it says that it is done. Else it is woken when it should ask again. */
  begin(who: object, wake: () => void): boolean {
    if (this.#holders.has(who)) return true
    if (!this.#woken.has(who) && !this.#hasRoom()) {
      this.#waiting.set(who, wake)
      return false
    }
    this.#woken.delete(who)
    this.#waiting.delete(who)
    this.#holders.add(who)
    return true
  }

  /** Its turn has ended. Without effect for who has none. */
  done(who: object): void {
    if (this.#holders.delete(who)) this.#wakeNext()
  }

  /** It wants none any more. */
  leave(who: object): void {
    this.#waiting.delete(who)
    if (this.#woken.delete(who)) this.#wakeNext()
    this.done(who)
  }

  #hasRoom(): boolean {
    const now = this.#clock.steadyMs()
    for (const [who, untilMs] of this.#woken) if (now >= untilMs) this.#woken.delete(who)
    return this.#holders.size + this.#woken.size < this.#max
  }

  #wakeNext(): void {
    for (const [who, wake] of this.#waiting) {
      if (!this.#hasRoom()) return
      this.#waiting.delete(who)
      this.#woken.set(who, this.#clock.steadyMs() + placeMs)
      wake()
    }
  }
}
