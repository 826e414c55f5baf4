/** A wait with an end. */
import type { Clock } from '../clock/index.ts'

/** Waits for `work`, but not longer than so many ms; it does not matter how that ends. */
export function withTimeout(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const callOff = clock.at(clock.nowMs() + limitMs, resolve)
    work.then(
      () => {
        callOff()
        resolve()
      },
      () => {
        callOff()
        resolve()
      },
    )
  })
}
