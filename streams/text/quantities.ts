/** Numbers with their nouns, durations, shares and percentiles, for messages. */

/** A number with its noun, for messages. `many`: the plural; default: `one` with an s. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

const units: [ms: number, name: string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
]

/** 850 ms, 12 s, 3 min 20 s, 2 h 5 min, 4 d 3 h. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1).replace('.0', '')} s`
  const whole = Math.round(ms / 1_000) * 1_000
  const at = units.findIndex(([unitMs]) => whole >= unitMs)
  const [unitMs, name] = units[at] ?? [1_000, 's']
  const [lesserMs, lesserName] = units[at + 1] ?? [1, '']
  const rest = lesserName === '' ? 0 : Math.floor((whole % unitMs) / lesserMs)
  return `${Math.floor(whole / unitMs)} ${name}${rest > 0 ? ` ${rest} ${lesserName}` : ''}`
}

/** A share as a percentage: below 0.1%, 2.5%, 40%. */
export const shareText = (share: number): string =>
  share < 0.001 ? 'below 0.1%' : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`

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
