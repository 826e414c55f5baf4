/**
 * Tombstone guard: limits the age of a store that may be used. Compaction removes a tombstone some days after it was written. A store
 * that has not read it by then would keep the deleted job for ever. So each store records when it had last read all of its logs. A store
 * that is too old is rebuilt, when it is opened or when its process wakes up from such a long sleep with the store open.
 */
import { type Clock, trustedMs } from '../../clock/index.ts'
import { DuelogError } from '../../errors/index.ts'

/** Share of the time that tombstones are kept. */
const keptShare = 0.8
/** How often an idle partition reads the clock and records in its store that it is up to date. */
export const idleCheckMs = 3_600_000

/** A store saved further in the future than this was saved by a clock that was ahead, so its age is unknown. */
const aheadMsMax = 60_000

export const isOfTheFuture = (savedAtMs: number, nowMs: number): boolean => savedAtMs - nowMs > aheadMsMax

export const mayLackTombstones = (savedAtMs: number, nowMs: number, retentionMs: number): boolean =>
  nowMs - savedAtMs > retentionMs * keptShare

export class TombstoneGuard {
  readonly #clock: Clock
  readonly #retentionMs: number
  /** When the store had last read all of its logs. */
  #savedAtMs: number
  #awakeAtMs: number
  /** When an idle store last recorded this, by the steady clock. */
  #recordedAtMs: number
  #hasSlept = false

  /** `retentionMs`: how long tombstones are kept at least, delete.retention.ms of the compacted topics. */
  constructor(clock: Clock, retentionMs: number) {
    this.#clock = clock
    this.#retentionMs = retentionMs
    this.#awakeAtMs = this.#savedAtMs = clock.nowMs()
    this.#recordedAtMs = clock.steadyMs()
  }

  /** A store was opened with its recorded time. A new store has none, because it reads every later tombstone. */
  begin(savedAtMs = this.#clock.nowMs()): void {
    this.#savedAtMs = savedAtMs
    this.#awakeAtMs = this.#clock.nowMs()
    this.#recordedAtMs = this.#clock.steadyMs()
    this.#hasSlept = false
  }

  /** The time that the store may record. `isCurrent`: it reads its logs up to their ends. */
  savedAtMs(isCurrent: boolean): number {
    this.#readClock()
    if (isCurrent && !this.#hasSlept) this.#savedAtMs = this.#awakeAtMs
    return this.#savedAtMs
  }

  /** Whether an idle store should record the time again. `savedAtMs` is read in each commit cycle, also if nothing is written. */
  get isDue(): boolean {
    return this.#clock.steadyMs() - this.#recordedAtMs >= idleCheckMs
  }

  /** The store has recorded the time. */
  recorded(): void {
    this.#recordedAtMs = this.#clock.steadyMs()
  }

  /** Throws `not-ready` after a sleep in which tombstones may have been written and removed. Must be called regularly. */
  check(): void {
    this.#readClock()
    if (this.#hasSlept)
      throw new DuelogError(
        'not-ready',
        'The process slept for longer than deletions are kept in the log; the store is checked again.',
      )
  }

  #readClock(): void {
    const now = trustedMs(this.#clock)
    if (now === undefined) return
    if (mayLackTombstones(this.#awakeAtMs, now, this.#retentionMs)) this.#hasSlept = true
    this.#awakeAtMs = now
  }
}
