/** Signal that lets one loop sleep until it is woken or a time comes. A wake while the loop does not sleep is remembered. */
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

  /** Resolves at the next wake or at `atMs`, and at once if a wake came since the last wait. */
  async wait(atMs: number): Promise<void> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        const cancelTimer = atMs === Number.POSITIVE_INFINITY ? () => {} : this.#clock.at(atMs, resolve)
        this.#resolve = () => {
          cancelTimer()
          resolve()
        }
      })
      this.#resolve = undefined
    }
    this.#woken = false
  }
}
