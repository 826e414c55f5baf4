/** The known name that a mistyped one most likely means. */

/** More differing characters than this are no typing mistake. */
const distanceMax = 3

export function nearestOf(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = distanceMax + 1
  for (const candidate of known) {
    const distance = distanceOf(name, candidate)
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

/** Levenshtein's: the fewest insertions, deletions and replacements that make one of the other. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
