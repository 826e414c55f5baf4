/** Chooses the timers of the next turn: those that are due within the lead, and those that were put off until now. */
import { type Timer, timerKind } from '../../streams/keys.ts'
import type { Shared } from './options.ts'
import type { TimeIndex } from './time-index.ts'
import { batchRecordsMax, timerShare } from './turn.ts'

export class TimerTaker {
  readonly #index: TimeIndex
  readonly #shared: Shared
  /** In order of `untilMs`; at most the timers of one lead. */
  #deferred: { timer: Timer; untilMs: number }[] = []

  constructor(index: TimeIndex, shared: Shared) {
    this.#index = index
    this.#shared = shared
  }

  /** Whether something is due now, lead not counted. */
  overdue(now: number): boolean {
    return (this.#index.nextDue ?? 0) <= now || (this.#deferred[0]?.untilMs ?? Number.POSITIVE_INFINITY) <= now
  }

  async take(shareWithMail: boolean): Promise<Timer[]> {
    const { clock, leadMs } = this.#shared
    const max = shareWithMail ? Math.floor(batchRecordsMax * timerShare) : batchRecordsMax
    const now = clock.nowMs()
    const ready = this.#deferred.filter((entry) => entry.untilMs <= now).slice(0, max)
    if (ready.length > 0) this.#deferred = this.#deferred.filter((entry) => !ready.includes(entry))
    const timers = await this.#index.take(now + leadMs, max - ready.length)
    for (const timer of timers) if (!mayActOn(timer, now)) this.#put(timer, timer.dueAt)
    return [...ready.map((entry) => entry.timer), ...timers.filter((timer) => mayActOn(timer, now))]
  }

  defer(entries: readonly { timer: Timer; untilMs: number }[]): void {
    for (const { timer, untilMs } of entries) this.#put(timer, untilMs)
  }

  /** When to look again at the latest. */
  wakeAt(): number {
    const next = this.#index.nextDue
    const due = next === undefined ? 0 : next - this.#shared.leadMs
    return Math.min(due, this.#deferred[0]?.untilMs ?? Number.POSITIVE_INFINITY)
  }

  #put(timer: Timer, untilMs: number): void {
    let at = this.#deferred.length
    while (at > 0 && (this.#deferred[at - 1]?.untilMs ?? 0) > untilMs) at--
    this.#deferred.splice(at, 0, { timer, untilMs })
  }
}

/** Only a dispatch gains from being early; a lease or a deadline that pops before its time would be lost. */
const mayActOn = (timer: Timer, now: number): boolean =>
  timer.dueAt <= now || timer.kind === timerKind.fire || timer.kind === timerKind.retryResidue
