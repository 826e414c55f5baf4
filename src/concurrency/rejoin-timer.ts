/** When a group member that lost its session joins again: after a delay that doubles with each failure, up to a maximum. */
import type { Clock } from '../clock/index.ts'

export class RejoinTimer {
  readonly #clock: Pick<Clock, 'at' | 'nowMs'>
  readonly #firstMs: number
  readonly #maxMs: number
  #delayMs: number
  #cancelJoin = (): void => undefined

  /** `maxMs`: default `firstMs`, so that the delay does not grow. */
  constructor(clock: Pick<Clock, 'at' | 'nowMs'>, firstMs: number, maxMs = firstMs) {
    this.#clock = clock
    this.#firstMs = this.#delayMs = firstMs
    this.#maxMs = maxMs
  }

  /** The delay before the next join, in ms. */
  get delayMs(): number {
    return this.#delayMs
  }

  /** Calls `join` once after the delay, and `failed` with its error. */
  start(join: () => Promise<void>, failed: (error: unknown) => void): void {
    this.#cancelJoin = this.#clock.at(this.#clock.nowMs() + this.#delayMs, () => void join().catch(failed))
    this.#delayMs = Math.min(this.#delayMs * 2, this.#maxMs)
  }

  /** The member has joined: the next delay is the first one again. */
  reset(): void {
    this.#delayMs = this.#firstMs
  }

  /** A planned join is dropped. */
  cancel(): void {
    this.#cancelJoin()
  }
}
