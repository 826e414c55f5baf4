/** A wait with a time limit. */
import type { Clock } from '../clock/index.ts'

/** The value of `work`; undefined if it has not settled within `limitMs`. A rejection of `work` is ignored: undefined too. */
export function withTimeout<Value>(clock: Clock, limitMs: number, work: Promise<Value>): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const cancelTimer = clock.at(clock.nowMs() + limitMs, () => resolve(undefined))
    work.then(
      (value) => {
        cancelTimer()
        resolve(value)
      },
      () => {
        cancelTimer()
        resolve(undefined)
      },
    )
  })
}
