/**
 * The end that COUNT sets for a rule. It is searched only up to the time that a caller asks about. A search of the whole rule at
 * once would cover centuries of calendar for a monthly rule with a COUNT of 10,000. Counts are kept, so each stretch of time is
 * counted once.
 */
import { dayMs } from './wall-times.ts'
import { countZoned, nextZoned, type ZonedRule } from './zoned-times.ts'

/** A frequent rule ends soon. So the first stretch is short, and each further one is twice as long. */
const firstStretchMs = 366 * dayMs

export class CountedEnd {
  readonly #rule: ZonedRule
  /** Occurrences are counted up to and including this time; `#left` are still to come. */
  #countedTo: number
  #left: number
  #end: number | undefined
  #stretchMs = firstStretchMs

  /** `count` occurrences from `from` on. */
  constructor(rule: ZonedRule, from: number, count: number) {
    this.#rule = rule
    this.#countedTo = from - 1
    this.#left = count
  }

  /** The last occurrence if it is at or before `at`, else infinity. */
  by(at: number): number {
    while (this.#end === undefined && this.#countedTo < at) {
      const to = Math.min(at, this.#countedTo + this.#stretchMs)
      const found = countZoned(this.#rule, this.#countedTo, to, this.#left)
      if (found >= this.#left) this.#end = this.#nth(this.#countedTo, to, this.#left)
      else {
        this.#countedTo = to
        this.#left -= found
        this.#stretchMs *= 2
      }
    }
    return this.#end !== undefined && this.#end <= at ? this.#end : Number.POSITIVE_INFINITY
  }

  /** The n-th occurrence of a stretch that has at least n. */
  #nth(after: number, notAfter: number, n: number): number {
    let [low, high, left] = [after, notAfter, n]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      const found = countZoned(this.#rule, low, middle, left)
      if (found >= left) high = middle
      else {
        low = middle
        left -= found
      }
    }
    return nextZoned(this.#rule, low) ?? high
  }
}
