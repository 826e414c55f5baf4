/**
 * Absence of a group member whose clock has not been trusted for 35 s, or that is told to stay away. Its partitions would wait with it,
 * while other members could serve them. It joins again when the clock is trusted again and it is no longer told to stay away.
 *
 *   member ──not trusted for 35 s, or told──► leaving ──► absent ──trusted, and not told──► joining ──► member
 */
import { type Clock, steadyClock, trustedMs } from './clock.ts'
import { evenMs } from './clock-trust.ts'

/**
 * Somewhat longer than a clock must run evenly to be trusted again without a broker. So a member that waits only for that stays
 * in its group.
 */
export const absentAfterMs = evenMs + 5_000

export type AbsenceReason = 'clock' | 'told'

export interface AbsenceOptions {
  clock: Clock
  /** Gives back the partitions and leaves the group. The caller logs a failure. */
  leave(why: AbsenceReason): Promise<void>
  /** Joins the group again. It retries by itself. */
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
  #isTold = false
  #moving: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(options: AbsenceOptions) {
    this.#options = options
    this.#steady = steadyClock(options.clock)
  }

  /** Starts to watch the clock. Without a guard there is nothing to watch. */
  start(): void {
    const { guard } = this.#options.clock
    if (guard === undefined || this.#stopped) return
    this.#ends.push(guard.onTrusted(this.#check), guard.onStopped(this.#check))
    this.#check()
  }

  /** Whether the member has left or is leaving. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** Tells the member to stay away, or no longer to. */
  tell(away: boolean): void {
    if (this.#stopped || this.#isTold === away) return
    this.#isTold = away
    if (away && !this.#wantsAway) this.#move(true, 'told')
    else this.#check()
  }

  /** Stops the watch. No further leave or join begins. */
  stop(): void {
    this.#stopped = true
    this.#timer?.()
    for (const end of this.#ends.splice(0)) end()
  }

  readonly #check = (): void => {
    if (this.#stopped) return
    this.#timer?.()
    this.#timer = undefined
    if (trustedMs(this.#options.clock) !== undefined) {
      this.#sinceMs = undefined
      if (this.#wantsAway && !this.#isTold) this.#move(false)
      return
    }
    if (this.#wantsAway) return
    // A wall clock that steps wakes its timers early, so the duration is measured by the steady clock.
    this.#sinceMs ??= this.#steady.nowMs()
    const atMs = this.#sinceMs + absentAfterMs
    if (this.#steady.nowMs() >= atMs) this.#move(true, 'clock')
    else this.#timer = this.#steady.at(atMs, this.#check)
  }

  /** The moves follow one another, so that a member that joins again at once has left before. */
  #move(away: boolean, why: AbsenceReason = 'told'): void {
    this.#wantsAway = away
    const { leave, join } = this.#options
    this.#moving = this.#moving.then(() => {
      if (this.#stopped) return
      this.#isAway = away
      return away ? leave(why) : join()
    })
  }
}
