/** Percentiles of counts by class, as the metrics have them. */

/** Upper bound of a class (null: none), and the number of values in it. */
export type LatenessClass = [upTo: number | null, count: number]

/** Interpolates by rank within a class. Beyond the last bound the result is that bound. Undefined without values. */
export function percentileOf(
  classes: readonly (readonly [upTo: number | null, count: number])[],
  share: number,
): number | undefined {
  const total = classes.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return undefined
  let left = share * total
  let lower = 0
  for (const [upTo, count] of classes) {
    if (upTo === null) return lower
    if (count > 0 && left <= count) return lower + (left / count) * (upTo - lower)
    left -= count
    lower = upTo
  }
  return lower
}
