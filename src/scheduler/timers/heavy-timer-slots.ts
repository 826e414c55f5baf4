/**
 * Slots for timers of heavy jobs, shared by the partitions of a process, first come first served. A commit cycle with such timers has
 * some tens of megabytes in memory. Partitions without a slot continue with their light timers and are woken when a slot is free.
 */
import type { Clock } from '../../ground/clock/index.ts'
import { commitSlots } from '../../ground/concurrency/index.ts'

/** A woken partition that does not ask within this time loses its slot. */
const placeMs = 1_000

export class HeavyTimerSlots {
  readonly #clock: Pick<Clock, 'steadyMs'>
  readonly #max: number
  readonly #holders = new Set<object>()
  /** Woken partitions, and until when the slot of each is kept. */
  readonly #woken = new Map<object, number>()
  readonly #waiting = new Map<object, () => void>()

  /** `max`: default as many as may commit at once. */
  constructor(clock: Pick<Clock, 'steadyMs'>, max = commitSlots) {
    this.#clock = clock
    this.#max = max
  }

  /** True: `who` has a slot until it calls `done`. False: `wake` is called when it should ask again. */
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

  /** Gives the slot back. No effect without a slot. */
  done(who: object): void {
    if (this.#holders.delete(who)) this.#wakeNext()
  }

  /** The partition no longer wants a slot. */
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
