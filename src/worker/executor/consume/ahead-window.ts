/**
 * When records of ahead topics are taken: so early that all of them that wait can be taken before they are due, within the prefetch limit.
 * Earlier they only need memory, and those that are taken cannot go to another worker without a hand-over.
 */
import type { Batch } from '../../../ground/ports/index.ts'
import type { Lane } from './lane.ts'
import { heldRecordsMax } from './prefetch-limit.ts'

/** How much earlier than its lead a lane of an ahead topic is read: a resumed one needs a poll (100 ms) and a fetch before it delivers. */
export const aheadMarginMs = 250
/** Records that a busy process takes in a millisecond. One that has just started needs 7 µs for each and their fetches (ADR 0144). */
export const takenPerMs = 40

export class AheadWindow {
  readonly #leadMs: number
  /** Of each lane, the first record that it was given last, and the end of its log then. */
  readonly #seen = new Map<Lane, { offset: number; end: number }>()
  /** For what waits now. */
  #windowMs: number
  /** For the most that may be held. */
  readonly #windowMsMax: number

  constructor(leadMs: number) {
    this.#leadMs = leadMs + aheadMarginMs
    this.#windowMs = this.#leadMs
    this.#windowMsMax = this.#leadMs + heldRecordsMax / takenPerMs
  }

  /** Before a batch is taken. */
  seen(lane: Lane, { records, highWatermark: end }: Batch): void {
    const [first] = records
    if (!lane.ahead || first === undefined) return
    this.#seen.set(lane, { offset: first.offset, end })
    this.#windowMs = this.#leadMs + Math.min(this.#waiting, heldRecordsMax) / takenPerMs
  }

  /**
   * Undefined: a record that is due then is taken now. Else it waits until that time. More may come until then, so the log is looked at
   * again when there is just enough time to take as much as may be held.
   */
  waitUntil(dueAt: number, nowMs: number): number | undefined {
    if (dueAt - this.#windowMsMax > nowMs) return dueAt - this.#windowMsMax
    return dueAt - this.#windowMs > nowMs ? dueAt - this.#windowMs : undefined
  }

  /** Records that have not started. Those that were taken count too, so that the window stays open for the rest of a burst. */
  get #waiting(): number {
    let waiting = 0
    for (const [lane, { offset, end }] of this.#seen)
      if (lane.owned) waiting += lane.held + Math.max(0, end - Math.max(lane.next ?? 0, offset))
    return waiting
  }
}
