/**
 * The auditor's share of the processor time of its process. It is in no hurry, and what runs beside it is: firing to the millisecond. So its
 * work is cut into slices, and each slice is followed by a rest in proportion.
 */
import { performance } from 'node:perf_hooks'
import { setImmediate, setTimeout } from 'node:timers/promises'

/** A slice ends with the piece of work in which it becomes so long. */
const sliceMs = 2
/** A slice that waited for the disk was not all work; the rest after it is not made longer than this. */
const restMsMax = 100

export class Pacing {
  readonly #share: () => number
  readonly #nowMs: () => number
  readonly #restFor: (ms: number) => Promise<unknown>
  /** Pieces of work at hand, which may wait for one another's reads. */
  #atWork = 0
  #since = 0
  /** Of this slice, in work that is over. */
  #usedMs = 0
  #resting: Promise<void> | undefined

  /**
   * `share`: of the time, above 0 and at most 1; asked anew at the end of each slice. `nowMs`: steady. `restFor`: resolves so long after the
   * call, and when others have run.
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
