/**
 * The cost of a search for a time, in steps. A day that is checked is one step, and so is a time that a period offers. There are 2 counts.
 *
 * `taken` follows from the question alone, on every machine and for any content of the caches. So all decisions that use it agree: an
 * era of a zone counts as `eraSteps`, as if the zone were not cached. `spent` is the real cost; long work is cut into pieces by it.
 */

/** Steps to find an era of a zone that is not cached. */
export const eraSteps = 1_000
/** Steps to find an era of a cached zone, and to load a stretch of a zone. */
const knownEraSteps = 20
export const stretchSteps = 8_000
/** Steps to check whether a zone changes its offset within some days, and to parse a cron expression. */
const windowSteps = 1_300
const parsedSteps = 3_000
/** The approximate real cost of searches; no verdict depends on it. */
export const stepsPerMs = 100_000

class OutOfSteps extends Error {}

let taken = 0
let spent = 0
let limit = Number.POSITIVE_INFINITY

/** Called for each step of a search. */
export function step(count = 1): void {
  spent += count
  taken += count
  if (taken > limit) throw new OutOfSteps()
}

export function eraStep(): void {
  spent += knownEraSteps - eraSteps
  step(eraSteps)
}

export function stretchStep(): void {
  spent += stretchSteps
}

export function windowStep(): void {
  spent += windowSteps
}

export function parseStep(): void {
  spent += parsedSteps
}

/** Steps since the process started. A caller reads it before and after a search. */
export const stepsTaken = (): number => taken

/** The real cost of all searches since the process started, in steps: 100,000 are about 1 ms. */
export const stepsSpent = (): number => spent

/** The result of a search, or undefined if it takes more than `stepsMax` steps: it is then aborted. The search must use its own caches. */
export function withinSteps<Result>(stepsMax: number, search: () => Result): { result: Result } | undefined {
  const before = limit
  limit = Math.min(before, taken + stepsMax)
  try {
    return { result: search() }
  } catch (thrown) {
    if (thrown instanceof OutOfSteps) return undefined
    throw thrown
  } finally {
    limit = before
  }
}
