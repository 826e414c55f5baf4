/**
 * What a search for a time costs, in steps: a day that is looked at is one, and so is a time that a period offers. There are two counts.
 *
 * Steps follow from the question alone, on every machine and whatever is in the caches, so that all who decide by them decide alike: an era
 * of a zone is `eraSteps`, as if nothing were known of the zone. What was spent is what it really took, by which work is cut into pieces.
 */

/** To find an era of a zone of which nothing is known takes so much longer than to look at a day. */
export const eraSteps = 1_000
/** To find it where the zone is known, and to learn a stretch of a zone. */
const knownEraSteps = 20
export const stretchSteps = 8_000
/** To learn for some days whether a zone changes its offset, and to parse a cron expression. */
const windowSteps = 1_300
const parsedSteps = 3_000
/** What searches take, about; no verdict goes by it. */
export const stepsPerMs = 100_000

class OutOfSteps extends Error {}

let taken = 0
let spent = 0
let limit = Number.POSITIVE_INFINITY

/** To be called for each step of a search. */
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

/** Steps since the process began, for whoever asks before a search and after it. */
export const stepsTaken = (): number => taken

/** What all searches since the process began have really taken, in steps: 100,000 are about a millisecond. */
export const stepsSpent = (): number => spent

/** Gives what a search gives, or undefined where it takes more than so many steps: then it ends at once. Its caches must be its own. */
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
