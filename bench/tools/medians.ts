/** The median of each number over several results, nested numbers too. */
export function medians(results: readonly Record<string, unknown>[]): Record<string, unknown> {
  const first = results[0] ?? {}
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => {
      const all = results.map((result) => result[name])
      if (typeof value === 'number') return [name, median(all as number[])]
      if (typeof value === 'object' && value !== null) return [name, medians(all as Record<string, unknown>[])]
      return [name, value]
    }),
  )
}

/** Of values in any order; 0 if there are none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}
