/**
 * Chooses the timers of the next turn: those due within the lead first, then those that were put off until now, then herds that are
 * dispatched ahead of their time.
 */
import { type Timer, timerKind } from '../../streams/keys.ts'
import { Herds } from './herds.ts'
import type { Shared } from './options.ts'
import type { PartitionStore } from './ports.ts'
import type { TimeIndex } from './time-index.ts'
import { batchRecordsMax, timerShare } from './turn.ts'

export class TimerTaker {
  readonly #index: TimeIndex
  readonly #herds: Herds
  readonly #shared: Shared
  /** In order of `untilMs`; at most the timers of one lead, and of herds whose jobs do not overlap. */
  #deferred: { timer: Timer; untilMs: number }[] = []

  constructor(index: TimeIndex, store: PartitionStore, shared: Shared) {
    this.#index = index
    this.#herds = new Herds(store, shared.leadMs, shared.leadMsMax)
    this.#shared = shared
  }

  /** When the next timer is due, lead not counted; in the far past while only a scan can tell. */
  get dueAt(): number {
    return Math.min(this.#index.nextDue ?? 0, this.#deferred[0]?.untilMs ?? Number.POSITIVE_INFINITY)
  }

  async take(now: number, shareWithMail: boolean, aheadFrom: number): Promise<Timer[]> {
    const { leadMs } = this.#shared
    const max = shareWithMail ? Math.floor(batchRecordsMax * timerShare) : batchRecordsMax
    const timers = this.#takeDeferred(now, max)
    for (const timer of await this.#index.take(now + leadMs, max - timers.length)) {
      if (mayActOn(timer, now)) timers.push(timer)
      else this.#put(timer, timer.dueAt)
    }
    timers.push(...(await this.#herds.take(now, max - timers.length, aheadFrom)))
    return timers
  }

  /** Must be told of each timer that is written. */
  written(timer: Timer): void {
    this.#index.written(timer)
    this.#herds.written(timer)
  }

  defer(entries: readonly { timer: Timer; untilMs: number }[]): void {
    for (const { timer, untilMs } of entries) this.#put(timer, untilMs)
  }

  /** When to look again at the latest. */
  wakeAt(now: number): number {
    const next = this.#index.nextDue
    if (next === undefined) return now
    const deferred = this.#deferred[0]?.untilMs ?? Number.POSITIVE_INFINITY
    return Math.min(next - this.#shared.leadMs, deferred, this.#herds.wakeAt(now, next))
  }

  #takeDeferred(now: number, max: number): Timer[] {
    let ready = 0
    while (ready < max && (this.#deferred[ready]?.untilMs ?? Number.POSITIVE_INFINITY) <= now) ready++
    return ready === 0 ? [] : this.#deferred.splice(0, ready).map(({ timer }) => timer)
  }

  #put(timer: Timer, untilMs: number): void {
    let at = this.#deferred.length
    while (at > 0 && (this.#deferred[at - 1]?.untilMs ?? 0) > untilMs) at--
    this.#deferred.splice(at, 0, { timer, untilMs })
  }
}

/** Only a dispatch gains from being early; a lease or a deadline that pops before its time would be lost. */
const mayActOn = ({ dueAt, kind }: Timer, now: number): boolean =>
  dueAt <= now || kind === timerKind.fire || kind === timerKind.retryResidue || kind === timerKind.start
