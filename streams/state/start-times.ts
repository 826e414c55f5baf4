/**
 * Starts that were given, oldest first. One more costs the same however many there are: a turn gives hundreds, of a rate that may have ten
 * thousand. What was there stays as it was, so whoever keeps it can go on from it; those that follow on one another share one array.
 */
export class StartTimes {
  /** Shared with those that this one was made from, and with those made from it; what is theirs alone lies outside of `from` and `to`. */
  readonly #shared: number[]
  readonly #from: number
  readonly #to: number

  private constructor(shared: number[], from: number, to: number) {
    this.#shared = shared
    this.#from = from
    this.#to = to
  }

  static of(times: readonly number[] = []): StartTimes {
    return new StartTimes([...times], 0, times.length)
  }

  get length(): number {
    return this.#to - this.#from
  }

  /** By its place from the oldest, which is 0; undefined where there is none. */
  at(place: number): number | undefined {
    return place >= 0 && place < this.length ? this.#shared[this.#from + place] : undefined
  }

  get last(): number | undefined {
    return this.at(this.length - 1)
  }

  /** Without so many of the oldest, and with a further one. */
  followedBy(at: number, forgotten: number): StartTimes {
    const from = this.#from + forgotten
    // Somebody else has gone on from here, or most of the array is of nobody any more.
    if (this.#shared.length !== this.#to || from > 2 * (this.#to - from) + 1_000) {
      const own = this.#shared.slice(from, this.#to)
      own.push(at)
      return new StartTimes(own, 0, own.length)
    }
    this.#shared.push(at)
    return new StartTimes(this.#shared, from, this.#to + 1)
  }

  *[Symbol.iterator](): Generator<number, void, undefined> {
    for (let place = this.#from; place < this.#to; place++) yield this.#shared[place] ?? 0
  }
}
