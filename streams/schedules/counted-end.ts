/**
 * Where COUNT ends a rule, found as far as somebody looks: to know it from the beginning would be a search through centuries, for a rule
 * that comes true once a month and counts to ten thousand. What was counted is kept, so each stretch of time is counted once.
 */
import { dayMs } from './wall-times.ts'
import { countZoned, nextZoned, type ZonedRule } from './zoned-times.ts'

/** Rules that come true often end soon; so the first stretch is short, and each further one twice as long. */
const firstStretchMs = 366 * dayMs

export class CountedEnd {
  readonly #rule: ZonedRule
  /** Up to and with it, so many are still to come. */
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

  /** The n-th occurrence of a stretch that has as many. */
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
