/** Random choices from a seed, so that a failing run can be repeated as far as real processes allow. */

import { randomInt } from 'node:crypto'
import { mulberry32 } from '../tools/mulberry32.ts'

export interface Chance {
  /** In [0, 1). */
  next(): number
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number
  pick<Value>(values: readonly Value[]): Value
}

/** The seed of DUELOG_TEST_SEED, or a fresh one. It is printed. */
export function printedSeed(): number {
  const seed = process.env.DUELOG_TEST_SEED === undefined ? randomInt(2 ** 31) : Number(process.env.DUELOG_TEST_SEED)
  console.log(`Seed ${seed}; DUELOG_TEST_SEED=${seed} repeats it.`)
  return seed
}

/** Random choices that a seed repeats. */
export function chance(seed: number): Chance {
  const next = mulberry32(seed)
  const below = (limit: number): number => Math.floor(next() * limit)
  return { next, below, pick: (values) => values[below(values.length)] as (typeof values)[number] }
}
