/**
 * How far back a store may be and still be gone on with. Compaction forgets a tombstone some days after it was written; a store that has
 * not read it by then would keep what it deleted for ever. So each store says when it had last read all of its logs, and one that did so
 * too long ago is built anew: at its opening, and when its process wakes up from a sleep that long, with the store open.
 */
import { type Clock, trustedMs } from '../../clock/index.ts'
import { DuelogError } from '../../errors/index.ts'

/** Share of the time that tombstones are kept. */
const keptShare = 0.8
/** How often a partition that has nothing to do looks at the clock, and says in its store that it is up to date. */
export const lookMs = 3_600_000

/** A store that was up to date later than this from now was saved by a clock that was ahead: nobody knows how old it is. */
const aheadMsMax = 60_000

export const isOfTheFuture = (savedAtMs: number, nowMs: number): boolean => savedAtMs - nowMs > aheadMsMax

export const mayLackTombstones = (savedAtMs: number, nowMs: number, retentionMs: number): boolean =>
  nowMs - savedAtMs > retentionMs * keptShare

export class TombstoneGuard {
  readonly #clock: Clock
  readonly #retentionMs: number
  /** When the store was last known to have all of its logs. */
  #savedAtMs: number
  #awakeAtMs: number
  /** When the store said so last while nothing else was written, by the steady clock. */
  #saidAtMs: number
  #hasSlept = false

  /** `retentionMs`: how long tombstones are kept at least, delete.retention.ms of the compacted topics. */
  constructor(clock: Clock, retentionMs: number) {
    this.#clock = clock
    this.#retentionMs = retentionMs
    this.#awakeAtMs = this.#savedAtMs = clock.nowMs()
    this.#saidAtMs = clock.steadyMs()
  }

  /** A store was opened, with what it says of itself; a new one says nothing, and lacks nothing that is deleted from now on. */
  begin(savedAtMs = this.#clock.nowMs()): void {
    this.#savedAtMs = savedAtMs
    this.#awakeAtMs = this.#clock.nowMs()
    this.#saidAtMs = this.#clock.steadyMs()
    this.#hasSlept = false
  }

  /** What the store may say of itself. `isCurrent`: whatever comes is read as it comes. */
  savedAtMs(isCurrent: boolean): number {
    this.#look()
    if (isCurrent && !this.#hasSlept) this.#savedAtMs = this.#awakeAtMs
    return this.#savedAtMs
  }

  /** Whether an idle store should say once more that it is up to date. What it may say is asked with each turn, also where nothing is written. */
  get isDue(): boolean {
    return this.#clock.steadyMs() - this.#saidAtMs >= lookMs
  }

  /** The store has said it. */
  said(): void {
    this.#saidAtMs = this.#clock.steadyMs()
  }

  /** Throws `not-ready` after a sleep in which tombstones may have come and gone. To be called again and again. */
  check(): void {
    this.#look()
    if (this.#hasSlept)
      throw new DuelogError(
        'not-ready',
        'The process slept for longer than deletions are kept in the log; the store is checked anew.',
      )
  }

  #look(): void {
    const now = trustedMs(this.#clock)
    if (now === undefined) return
    if (mayLackTombstones(this.#awakeAtMs, now, this.#retentionMs)) this.#hasSlept = true
    this.#awakeAtMs = now
  }
}
