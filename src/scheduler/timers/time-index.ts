/**
 * Time index: the partition's timers in due order, read from the store in bounded slices. There is no heap of all timers. The order of
 * the store is the queue and only the next timers are in memory, so memory does not grow with the number of jobs.
 *
 *   handed out │ near: in memory, complete │ far: in the store only
 *              └──────────────────────── horizon
 *
 * Scans begin at the horizon and not at the start of the index, because an ordered store visits each deleted entry on its way. A read
 * behind 299,000 of them took 148 ms; from a low-water mark it took 0.33 ms. A timer written before the horizon joins the near ones.
 * A near timer whose job has changed meanwhile is still handed out. The caller checks it against the job.
 */
import { keyAfter, prefix, type Timer, timerBound, timerKey, timerOfKey } from '../../../streams/state/index.ts'
import type { PartitionStore } from '../../ground/ports/index.ts'

/** Timers that one scan reads. */
const sliceMax = 500
/** Near timers. If more are written before the horizon, the horizon moves closer. */
const nearMax = 2_000
/** The passed range is compacted after this number of timers was handed out. */
const compactAfter = 200_000

const end = Buffer.of(prefix.timer + 1)

/** A copy outside of Node's pool of small buffers: a key that stays would hold 64 KB of the pool, and each may hold another part of it. */
function unpooled(key: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(key.length)
  key.copy(copy)
  return copy
}

export class TimeIndex {
  readonly #store: PartitionStore
  /** Ascending by key. `#head` is the index of the first one that was not handed out. */
  #near: { key: Buffer; timer: Timer }[] = []
  #head = 0
  /** Every timer in the store whose key is below the horizon is near or was handed out. */
  #horizon: Buffer = timerBound(0)
  /** Due time of the horizon, for a quick comparison. */
  #horizonDueAt = 0
  #passedFrom: Buffer = timerBound(0)
  #passed = 0

  constructor(store: PartitionStore) {
    this.#store = store
  }

  /**
   * Timers due at or before `notAfter`, at most `max`, in due order. They are handed out once: the caller deletes them, or remembers
   * those that stay.
   */
  async take(notAfter: number, max: number): Promise<Timer[]> {
    const taken: Timer[] = []
    while (taken.length < max) {
      const next = this.#near[this.#head]
      if (next === undefined) {
        if (this.#horizon === end || this.#horizonDueAt > notAfter) break
        await this.#scanFurther()
        continue
      }
      if (next.timer.dueAt > notAfter) break
      taken.push(next.timer)
      this.#head++
    }
    this.#passed += taken.length
    this.#shrink()
    // So that `nextDue` is known before the caller sleeps.
    if (taken.length < max && this.#near.length === 0 && this.#horizon !== end) await this.#scanFurther()
    return taken
  }

  /** Must be called for each timer before it is written. */
  scheduled(timer: Timer): void {
    if (timer.dueAt > this.#horizonDueAt) return
    const key = timerKey(timer)
    if (Buffer.compare(key, this.#horizon) >= 0) return
    let low = this.#head
    let high = this.#near.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (Buffer.compare(this.#near[middle]?.key ?? end, key) < 0) low = middle + 1
      else high = middle
    }
    if (this.#near[low]?.key.equals(key)) return
    this.#near.splice(low, 0, { key: unpooled(key), timer })
    if (this.#near.length - this.#head > nearMax) this.#drawNearer()
  }

  /** The next due time, epoch ms. Infinity: there is none. Undefined: a scan is needed to know it. */
  get nextDue(): number | undefined {
    return this.#near[this.#head]?.timer.dueAt ?? (this.#horizon === end ? Number.POSITIVE_INFINITY : undefined)
  }

  /** Frees the space of passed timers after a burst. Call it while idle. */
  async compactPassed(): Promise<void> {
    const to = this.#near[this.#head]?.key
    if (this.#passed < compactAfter || to === undefined) return
    this.#passed = 0
    const from = this.#passedFrom
    this.#passedFrom = to
    await this.#store.compact(from, to)
  }

  async #scanFurther(): Promise<void> {
    const from = this.#horizon
    const entries = await this.#store.scan({ from, to: end, limit: sliceMax, keysOnly: true })
    for (const { key } of entries) this.#near.push({ key, timer: timerOfKey(key) })
    const last = entries.at(-1)
    if (entries.length < sliceMax || last === undefined) this.#moveHorizon(end, Number.POSITIVE_INFINITY)
    else this.#moveHorizon(keyAfter(last.key), timerOfKey(last.key).dueAt)
  }

  #drawNearer(): void {
    this.#shrink()
    const dropped = this.#near[nearMax >> 1]
    if (dropped === undefined) return
    this.#near.length = nearMax >> 1
    this.#moveHorizon(dropped.key, dropped.timer.dueAt)
  }

  #moveHorizon(horizon: Buffer, dueAt: number): void {
    this.#horizon = horizon
    this.#horizonDueAt = dueAt
  }

  #shrink(): void {
    if (this.#head === 0) return
    this.#near.splice(0, this.#head)
    this.#head = 0
  }
}
