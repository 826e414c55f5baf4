/** The known name that a mistyped one most likely means. */

/** More edits than this are no typing mistake. */
const editsMax = 3
/** Longest name that `suggestion` compares: the cost grows with the square of the length. */
const comparedLengthMax = 40

/** The nearest known name within three edits; undefined when none is near. */
export function nearestOf(name: string, known: Iterable<string>, most = editsMax): string | undefined {
  let nearest: string | undefined
  let least = most + 1
  for (const candidate of known) {
    const edits = editsBetween(name, candidate)
    if (edits < least) [nearest, least] = [candidate, edits]
  }
  return nearest
}

/** The same for names from outside, within `most` edits. It ignores case, and allows fewer edits for a short name. */
export function suggestion(name: string, known: readonly string[], most = editsMax): string | undefined {
  if (name.length > comparedLengthMax) return undefined
  const byLowerCase = new Map(known.map((each) => [each.toLowerCase(), each]))
  const nearest = nearestOf(name.toLowerCase(), byLowerCase.keys(), Math.min(most, Math.floor(name.length / 2)))
  return nearest === undefined ? undefined : byLowerCase.get(nearest)
}

/** The Levenshtein distance: insertions, deletions and replacements that turn one text into another. */
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
