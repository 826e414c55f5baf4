/** Lets one loop sleep until somebody wakes it or a time comes. A wake that comes while nobody sleeps is remembered. */
import type { Clock } from '../clock/index.ts'

export class WakeSignal {
  readonly #clock: Clock
  #woken = false
  #resolve: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wake(): void {
    this.#woken = true
    this.#resolve?.()
  }

  /** Resolves at the next wake, or at `atMs`; at once when a wake came since the last wait. */
  async wait(atMs: number): Promise<void> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        const cancel = atMs === Number.POSITIVE_INFINITY ? () => {} : this.#clock.at(atMs, resolve)
        this.#resolve = () => {
          cancel()
          resolve()
        }
      })
      this.#resolve = undefined
    }
    this.#woken = false
  }
}
