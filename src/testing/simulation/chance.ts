/** Random choices that a seed repeats. */
import { mulberry32 } from './mulberry32.ts'

export class Chance {
  /** In [0, 1). */
  readonly share: () => number

  constructor(seed: number) {
    this.share = mulberry32(seed)
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.share() * (max - min + 1))
  }

  happens(probability: number): boolean {
    return this.share() < probability
  }

  pick<T>(values: readonly T[]): T {
    return values[this.int(0, values.length - 1)] as T
  }

  /** One of the keys, each as often as its weight says. */
  weighted<Name extends string>(heavyJobs: Partial<Record<Name, number>>): Name | undefined {
    const entries = (Object.entries(heavyJobs) as [Name, number][]).filter(([, weight]) => weight > 0)
    let left = this.share() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) {
      left -= weight
      if (left < 0) return name
    }
    return entries.at(-1)?.[0]
  }
}
