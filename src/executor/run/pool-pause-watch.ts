/**
 * Whether the pool of a worker is paused. Then nothing starts, and what the worker has taken and not started goes back to the owners,
 * where it waits with its reason. A run that an owner sends in ignorance of the pause is given back after a second and not at once, so
 * that owner and worker cannot keep each other busy.
 */
import type { Clock } from '../../clock/index.ts'
import type { Pauses } from '../../ports/index.ts'

/** How long a run that was taken during the pause is held before it is given back. */
export const heldMs = 1_000

export interface PoolPauseWatchOptions {
  /** Undefined: nothing is ever paused. */
  pauses: Pauses | undefined
  pool: string
  clock: Clock
  /** Any pool or worker was paused, drained or resumed. */
  onChanged(): void
  /** Gives back the runs that were not started. */
  giveBack(): void
}

export class PoolPauseWatch {
  readonly #options: PoolPauseWatchOptions
  #endChanges: (() => void) | undefined
  #giveBackTimer: (() => void) | undefined

  constructor(options: PoolPauseWatchOptions) {
    this.#options = options
  }

  get isPaused(): boolean {
    return this.#options.pauses?.ofPool(this.#options.pool)?.isDrained === false
  }

  start(): void {
    this.#endChanges = this.#options.pauses?.onChange(() => this.#changed())
    if (this.#options.pauses !== undefined) this.#changed()
  }

  /** A run was taken. */
  taken(): void {
    if (!this.isPaused || this.#giveBackTimer !== undefined) return
    const { clock, giveBack } = this.#options
    this.#giveBackTimer = clock.at(clock.nowMs() + heldMs, () => {
      this.#giveBackTimer = undefined
      if (this.isPaused) giveBack()
    })
  }

  stop(): void {
    this.#endChanges?.()
    this.#giveBackTimer?.()
  }

  #changed(): void {
    this.#options.onChanged()
    if (this.isPaused) this.#options.giveBack()
  }
}
