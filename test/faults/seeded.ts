/** Chance with a seed, so that a failing run can be repeated as far as real processes allow. */
import { randomInt } from 'node:crypto'

export interface Chance {
  /** In [0, 1). */
  next(): number
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number
  pick<Value>(values: readonly Value[]): Value
}

/** That of DUELOG_TEST_SEED, else a fresh one. It is printed. */
export function printedSeed(): number {
  const seed = process.env.DUELOG_TEST_SEED === undefined ? randomInt(2 ** 31) : Number(process.env.DUELOG_TEST_SEED)
  console.log(`Seed ${seed}; DUELOG_TEST_SEED=${seed} repeats it.`)
  return seed
}

/** The generator mulberry32 (Tommy Ettinger, 2017). */
export function chance(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { next, below, pick: (values) => values[below(values.length)] as (typeof values)[number] }
}
