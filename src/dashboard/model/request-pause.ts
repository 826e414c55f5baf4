/** How long the page waits after a request before it sends the next one for the same data. */

/** The pause is this many times the duration of the request: a slow answer is not requested again soon. */
const factor = 10
/** A machine that sleeps during a request makes it last for hours. The page then asks again within this time. */
const slowMsMax = 60_000
/** A long answer is requested less often: this many characters a millisecond on average, but every 15 s at least. */
const charsPerMs = 20
const longMsMax = 15_000

/** By what the request has cost: how long it took, and the characters that were read meanwhile. */
export const pauseAfterMs = (tookMs: number, chars: number): number =>
  Math.max(Math.min(slowMsMax, tookMs * factor), Math.min(longMsMax, chars / charsPerMs))
