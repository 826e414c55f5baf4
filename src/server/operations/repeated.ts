/** Steps that are repeated while they fail, and the waits between them. */
import { type Clock, waitFor } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'

/** Delay before a failed step is tried again: it doubles up to the maximum. */
export const againMs = 500
export const againMsMax = 30_000
/** Consecutive failures that a repeat cannot mend, after which the step has failed. */
const failuresMax = 5

export interface Repeating {
  clock: Pick<Clock, 'nowMs' | 'at'>
  signal: AbortSignal
  /** Longest delay. Default: againMsMax. */
  waitMsMax?: number
  onResult(): void
  onFailure(error: unknown): void
}

/** Resolves with the first result. Rejects with the signal's reason, and with an error that a repeat does not mend. */
export async function repeated<Result>(step: () => Promise<Result>, repeating: Repeating): Promise<Result> {
  const { clock, signal, waitMsMax = againMsMax, onResult, onFailure } = repeating
  let failures = 0
  for (let waitMs = againMs; ; waitMs = Math.min(2 * waitMs, waitMsMax)) {
    signal.throwIfAborted()
    try {
      const result = await step()
      onResult()
      return result
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof DuelogError && error.retriable) && ++failures >= failuresMax) throw error
      onFailure(error)
      await waitFor(waitMs, clock, signal)
    }
  }
}

/** The results of all tasks, which run at once. Fails as the first task that failed, when all have settled. */
export async function settledEach<Result>(count: number, task: (index: number) => Promise<Result>): Promise<Result[]> {
  const settled = await Promise.allSettled(Array.from({ length: count }, (_, index) => task(index)))
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}
