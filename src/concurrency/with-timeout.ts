/** A wait with a time limit. */
import type { Clock } from '../clock/index.ts'

/** Waits until `work` settles, but not longer than `limitMs`. A rejection of `work` is ignored. */
export function withTimeout(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancelTimer = clock.at(clock.nowMs() + limitMs, resolve)
    work.then(
      () => {
        cancelTimer()
        resolve()
      },
      () => {
        cancelTimer()
        resolve()
      },
    )
  })
}
