/** Random choices that a seed repeats. */

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
  weighted<Name extends string>(weights: Partial<Record<Name, number>>): Name | undefined {
    let sum = 0
    for (const name in weights) sum += Math.max(0, weights[name] ?? 0)
    let left = this.share() * sum
    let last: Name | undefined
    for (const name in weights) {
      const weight = weights[name] ?? 0
      if (weight <= 0) continue
      last = name
      left -= weight
      if (left < 0) return name
    }
    return last
  }
}

export function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
