/** Which known name a mistyped one was meant to be. */

/** Longest name that is compared; the cost grows with its square. */
const comparedLengthMax = 40

/** The nearest known name within three edits (two of a short name), capitals aside; undefined when none is near. */
export function suggestion(name: string, known: readonly string[]): string | undefined {
  if (name.length > comparedLengthMax) return undefined
  let best: string | undefined
  let bestEdits = Math.min(3, Math.floor(name.length / 2)) + 1
  for (const candidate of known) {
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase())
    if (edits < bestEdits) {
      best = candidate
      bestEdits = edits
    }
  }
  return best
}

/** Insertions, deletions and replacements that turn one text into another. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
