/**
 * The instants that exdates exclude from a schedule, and which of them it names. Each is looked up once, by itself. A search
 * for the next time of a rare rule after each instant would cover years for every instant that the rule never matches.
 */
export class Exclusions {
  readonly #isNamed: (at: number) => boolean
  readonly #all: ReadonlySet<number>
  #named: readonly number[] | undefined

  /** `isNamed`: whether an instant is one of the schedule. */
  constructor(instants: readonly number[], isNamed: (at: number) => boolean) {
    this.#isNamed = isNamed
    this.#all = new Set(instants)
  }

  get size(): number {
    return this.#all.size
  }

  has(at: number): boolean {
    return this.#all.has(at)
  }

  /** The number of excluded times of the schedule after `after` and not after `notAfter`. */
  countIn(after: number, notAfter: number): number {
    if (this.#all.size === 0) return 0
    return this.#below(notAfter + 1) - this.#below(after + 1)
  }

  /** The excluded instants that the schedule names, ascending. */
  get named(): readonly number[] {
    this.#named ??= [...this.#all].filter(this.#isNamed).sort((left, right) => left - right)
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
