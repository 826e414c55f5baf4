/** Stopwatch for the steps of a longer task; the times are for people. */
import type { Clock } from '../clock/index.ts'

export class Stopwatch {
  readonly #clock: Pick<Clock, 'steadyMs'>
  readonly #ms: Record<string, number> = {}
  #sinceMs = 0

  constructor(clock: Pick<Clock, 'steadyMs'>) {
    this.#clock = clock
  }

  begin(): void {
    this.#sinceMs = this.#clock.steadyMs()
  }

  /** Records the time since the last lap under this name. */
  lap(name: string): void {
    const nowMs = this.#clock.steadyMs()
    this.#ms[name] = Math.round(nowMs - this.#sinceMs)
    this.#sinceMs = nowMs
  }

  /** ms by name. */
  get ms(): Readonly<Record<string, number>> {
    return this.#ms
  }
}
