/**
 * The days of a year that a rule names, for each kind of year. The kind is the weekday of January 1 and whether the year is a leap year;
 * for weeks that belong to the previous or next year, also whether one of those is. So a search through a century without a match
 * evaluates the rule for at most 28 years and reads a table for the others.
 */
import { dayMs } from './wall-times.ts'

const kinds = 28
const wordsPerYear = 12

const yearStart = (year: number): number => Math.floor(Date.UTC(year, 0, 1) / dayMs)
const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

export class YearTable {
  readonly #names: (day: number) => boolean
  #words: Uint32Array | undefined
  /** One bit for each kind that the table holds. */
  #known = 0
  /** The year of the last request. */
  #first = 0
  #end = 0
  #base = 0

  /** `names` must return the same for days whole weeks apart that have the same place in years of the same kind. */
  constructor(names: (day: number) => boolean) {
    this.#names = names
  }

  has(day: number): boolean {
    if (day < this.#first || day >= this.#end) this.#turnTo(day)
    const place = day - this.#first
    return (((this.#words?.[this.#base + (place >> 5)] ?? 0) >>> (place & 31)) & 1) === 1
  }

  /** The first named day from `day` on and before `end`. A year without one costs one lookup, not one for each of its days. */
  next(day: number, end: number): number | undefined {
    for (let at = day; at < end; at = this.#end) {
      if (at < this.#first || at >= this.#end) this.#turnTo(at)
      const place = this.#nextPlace(at - this.#first)
      if (place !== undefined) return this.#first + place < end ? this.#first + place : undefined
    }
    return undefined
  }

  #nextPlace(from: number): number | undefined {
    for (let index = from >> 5; index < wordsPerYear; index++) {
      const all = this.#words?.[this.#base + index] ?? 0
      const word = index === from >> 5 ? all & (-1 << (from & 31)) : all
      if (word !== 0) return (index << 5) + 31 - Math.clz32(word & -word)
    }
    return undefined
  }

  #turnTo(day: number): void {
    const year = new Date(day * dayMs).getUTCFullYear()
    this.#first = yearStart(year)
    this.#end = yearStart(year + 1)
    const weekday = (((this.#first + 4) % 7) + 7) % 7
    const kind = weekday * 4 + ([year - 1, year, year + 1].findIndex(isLeap) + 1)
    this.#base = kind * wordsPerYear
    if ((this.#known & (1 << kind)) === 0) this.#fill(kind)
  }

  #fill(kind: number): void {
    this.#words ??= new Uint32Array(kinds * wordsPerYear)
    for (let day = this.#first; day < this.#end; day++) {
      const place = day - this.#first
      const index = this.#base + (place >> 5)
      if (this.#names(day)) this.#words[index] = (this.#words[index] ?? 0) | (1 << (place & 31))
    }
    this.#known |= 1 << kind
  }
}
