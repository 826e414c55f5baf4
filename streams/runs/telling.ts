/**
 * When the worker of a pinned run is told of it again. What it is told is read from now on only, so one that was away, or starts again
 * after it has given a run back, would never hear of it. A worker that has the attempt already takes it once.
 */
import type { ActiveRun } from '../../schemas/generated.ts'

/** The longest time between two tellings. A worker that comes back waits for its runs as long as it was away, and not longer than this. */
export const tellingMsMax = 120_000

/**
 * First time after `now` at which the run is told again: a lease after it was due, then as long after that as it has waited already. The
 * times follow from the run alone, so that no timer of an earlier attempt adds to them.
 */
export function tellingAfter(run: Pick<ActiveRun, 'dueAt' | 'dispatchedAt' | 'leaseMs'>, now: number): number {
  const begin = Math.max(run.dueAt, run.dispatchedAt)
  let waitedMs = run.leaseMs
  while (begin + waitedMs <= now) waitedMs += Math.max(run.leaseMs, Math.min(waitedMs, tellingMsMax))
  return begin + waitedMs
}
