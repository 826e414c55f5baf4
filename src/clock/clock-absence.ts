/**
 * A member of a group that is about to leave it because its clock has not been trusted for long: what it has would wait with it, while others
 * could do it. It comes back when the clock is trusted again.
 *
 *   member ──not trusted for 35 s──► leaving ──► away ──trusted──► joining ──► member
 */
import { type Clock, steadyClock, trustedMs } from './clock.ts'
import { evenMs } from './clock-trust.ts'

/** Somewhat longer than a clock has to run evenly to be trusted again without any word of a broker: whoever only waits for that stays. */
export const absentAfterMs = evenMs + 5_000

export interface AbsenceOptions {
  clock: Clock
  /** Gives back what others can do, and leaves the group. A failure is the caller's to log. */
  leave(): Promise<void>
  /** Joins it again, and goes on trying by itself. */
  join(): Promise<void>
}

export class ClockAbsence {
  readonly #options: AbsenceOptions
  readonly #steady: Clock
  readonly #ends: (() => void)[] = []
  #timer: (() => void) | undefined
  #sinceMs: number | undefined
  #wantsAway = false
  #isAway = false
  #moving: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(options: AbsenceOptions) {
    this.#options = options
    this.#steady = steadyClock(options.clock)
  }

  /** Begins to watch. Without a guard there is nothing to watch. */
  start(): void {
    const { guard } = this.#options.clock
    if (guard === undefined || this.#stopped) return
    this.#ends.push(guard.onTrusted(this.#look), guard.onStopped(this.#look))
    this.#look()
  }

  /** Whether it has left, or is leaving. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** Ends it: no other move begins. */
  stop(): void {
    this.#stopped = true
    this.#timer?.()
    for (const end of this.#ends.splice(0)) end()
  }

  readonly #look = (): void => {
    if (this.#stopped) return
    this.#timer?.()
    this.#timer = undefined
    if (trustedMs(this.#options.clock) !== undefined) {
      this.#sinceMs = undefined
      if (this.#wantsAway) this.#move(false)
      return
    }
    if (this.#wantsAway) return
    // A wall clock that steps wakes its timers early, so how long it was is asked of the steady one.
    this.#sinceMs ??= this.#steady.nowMs()
    const atMs = this.#sinceMs + absentAfterMs
    if (this.#steady.nowMs() >= atMs) this.#move(true)
    else this.#timer = this.#steady.at(atMs, this.#look)
  }

  /** One move after another: who leaves and comes back at once has left before. */
  #move(away: boolean): void {
    this.#wantsAway = away
    const { leave, join } = this.#options
    this.#moving = this.#moving.then(() => {
      if (this.#stopped) return
      this.#isAway = away
      return away ? leave() : join()
    })
  }
}
