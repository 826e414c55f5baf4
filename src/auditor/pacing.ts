/**
 * The auditor's share of the processor time of its process. The auditor is not urgent, but the same process may fire jobs to the
 * millisecond. So its work is cut into slices, and a proportional rest follows each slice.
 */
import { performance } from 'node:perf_hooks'
import { setImmediate, setTimeout } from 'node:timers/promises'

/** A slice ends after the piece of work in which it reaches this length. */
const sliceMs = 2
/** Longest rest. A slice may include waiting for the disk, which is not work. */
const restMsMax = 100

export class Pacing {
  readonly #share: () => number
  readonly #nowMs: () => number
  readonly #restFor: (ms: number) => Promise<unknown>
  /** Pieces of work in progress, which may wait for each other's reads. */
  #atWork = 0
  #since = 0
  /** Time of finished work in this slice. */
  #usedMs = 0
  #resting: Promise<void> | undefined

  /**
   * `share`: the auditor's share of the time, above 0 and at most 1; asked again at the end of each slice. `nowMs`: a steady
   * clock. `restFor`: resolves when the given time has passed and other work has run.
   */
  constructor(share: () => number, nowMs: () => number = () => performance.now(), restFor = restForMs) {
    this.#share = share
    this.#nowMs = nowMs
    this.#restFor = restFor
  }

  /** Does work that calls `rest` between its pieces. */
  async work<T>(task: () => Promise<T>): Promise<T> {
    if (this.#atWork++ === 0) this.#since = this.#nowMs()
    try {
      return await task()
    } finally {
      if (--this.#atWork === 0) this.#usedMs += this.#nowMs() - this.#since
    }
  }

  /** To be awaited between two pieces of work, each of which lasts much less than a slice. Undefined: the slice is not over. */
  rest(): Promise<void> | undefined {
    if (this.#resting !== undefined) return this.#resting
    const usedMs = this.#usedMs + this.#nowMs() - this.#since
    if (usedMs < sliceMs) return undefined
    this.#resting = this.#restFor(Math.min(usedMs * (1 / this.#share() - 1), restMsMax)).then(() => {
      this.#resting = undefined
      this.#usedMs = 0
      this.#since = this.#nowMs()
    })
    return this.#resting
  }
}

function restForMs(ms: number): Promise<unknown> {
  return ms < 1 ? setImmediate() : setTimeout(ms)
}
