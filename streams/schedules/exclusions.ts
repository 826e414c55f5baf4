/**
 * The instants that exdates exclude from a rule, and which of them the rule matches. Each is looked up once, by itself. A search
 * for the next time of a rare rule after each instant would cover years for every instant that the rule never matches.
 */
import { countZoned, type ZonedRule } from './zoned-times.ts'

export class Exclusions {
  readonly #rule: ZonedRule | undefined
  readonly #all: ReadonlySet<number>
  #named: readonly number[] | undefined

  /** Without a rule nothing is excluded. */
  constructor(rule?: ZonedRule, instants: readonly number[] = []) {
    this.#rule = rule
    this.#all = new Set(instants)
  }

  get size(): number {
    return this.#all.size
  }

  has(at: number): boolean {
    return this.#all.has(at)
  }

  /** The number of excluded times of the rule after `after` and not after `notAfter`. */
  countIn(after: number, notAfter: number): number {
    if (this.#all.size === 0) return 0
    return this.#below(notAfter + 1) - this.#below(after + 1)
  }

  /** The excluded instants that the rule matches, ascending. */
  get named(): readonly number[] {
    const rule = this.#rule
    if (rule === undefined) return []
    this.#named ??= [...this.#all].filter((at) => countZoned(rule, at - 1, at, 1) > 0).sort((left, right) => left - right)
    return this.#named
  }

  #below(limit: number): number {
    const { named } = this
    let [low, high] = [0, named.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((named[middle] ?? limit) < limit) low = middle + 1
      else high = middle
    }
    return low
  }
}
