/**
 * The partition's timers in due order, read from the store in bounded slices. No heap: the store's own order is the queue, so memory
 * does not grow with the number of jobs.
 *
 * `lowWater` is a key below which every timer was handed out and deleted. Scans begin there and not at the start of the index,
 * because an ordered store walks over each deleted entry in its way: a peek behind 299,000 of them took 148 ms, from the low-water
 * mark 0.33 ms (design §6). A timer written below the mark lowers it.
 */
import { prefix, type Timer, timerBound, timerKey, timerOfKey } from '../../streams/keys.ts'
import type { PartitionStore } from './ports.ts'

/** Timers handed out since the passed range was last compacted. */
const compactAfter = 200_000

export class TimeIndex {
  readonly #store: PartitionStore
  #lowWater: Buffer = timerBound(0)
  #passedFrom: Buffer = timerBound(0)
  #passed = 0
  /** No timer is due before it, epoch ms; undefined while that is unknown. */
  #nextDue: number | undefined

  constructor(store: PartitionStore) {
    this.#store = store
  }

  /**
   * Timers due at or before `notAfter`, at most `max`, in due order. They are handed out once: whoever takes them deletes them,
   * or keeps in mind the ones that stay.
   */
  async take(notAfter: number, max: number): Promise<Timer[]> {
    if (max <= 0 || (this.#nextDue !== undefined && this.#nextDue > notAfter)) return []
    const to = timerBound(notAfter + 1)
    if (Buffer.compare(this.#lowWater, to) >= 0) {
      // What lies between was handed out already and may still be in the store.
      await this.#peek(this.#lowWater)
      return []
    }
    const before = this.#lowWater
    const entries = await this.#store.scan({ from: before, to, limit: max, keysOnly: true })
    const last = entries.at(-1)
    const exhausted = entries.length < max
    // A timer may have been written below the mark while the scan ran; then the mark it set must stay.
    if (this.#lowWater === before) this.#lowWater = exhausted || last === undefined ? to : successor(last.key)
    this.#nextDue = undefined
    if (exhausted) await this.#peek(to)
    this.#passed += entries.length
    return entries.map((entry) => timerOfKey(entry.key))
  }

  /** Timers due in [from, to), at most `max`, without handing them out. */
  async peekRange(from: number, to: number, max: number): Promise<Timer[]> {
    const entries = await this.#store.scan({ from: timerBound(from), to: timerBound(to), limit: max, keysOnly: true })
    return entries.map((entry) => timerOfKey(entry.key))
  }

  /** Must be told of each timer before it is written. */
  written(timer: Timer): void {
    if (this.#nextDue !== undefined && timer.dueAt < this.#nextDue) this.#nextDue = timer.dueAt
    const key = timerKey(timer)
    if (Buffer.compare(key, this.#lowWater) < 0) this.#lowWater = key
  }

  /** A lower bound of the next due time, or undefined while only a scan can tell. Infinity: there is none. */
  get nextDue(): number | undefined {
    return this.#nextDue
  }

  /** Frees the space of passed timers after a storm of them. Call it while idle. */
  async compactPassed(): Promise<void> {
    if (this.#passed < compactAfter) return
    this.#passed = 0
    const from = this.#passedFrom
    this.#passedFrom = this.#lowWater
    await this.#store.compact(from, this.#lowWater)
  }

  async #peek(from: Buffer): Promise<void> {
    // What is written while the scan runs lowers it through written().
    this.#nextDue = Number.POSITIVE_INFINITY
    const [entry] = await this.#store.scan({ from, to: Buffer.of(prefix.timer + 1), limit: 1, keysOnly: true })
    if (entry !== undefined) this.#nextDue = Math.min(timerOfKey(entry.key).dueAt, this.#nextDue)
  }
}

/** The least key above `key`. */
function successor(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.of(0)])
}
