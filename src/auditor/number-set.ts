/** A set of run numbers, stored as ranges. Few numbers are missing, so its size does not grow with the runs. */

/** Ranges of one set. Beyond it the two lowest ranges are joined, and the numbers between them count as members. */
const rangesMax = 64

/** Ascending and disjoint; both ends are inclusive. */
export type NumberSet = [from: number, to: number][]

export function hasNumber(set: NumberSet, number: number): boolean {
  for (let at = set.length - 1; at >= 0; at--) {
    const [from, to] = set[at] as [number, number]
    if (number > to) return false
    if (number >= from) return true
  }
  return false
}

export function addNumber(set: NumberSet, number: number): void {
  let at = set.length
  while (at > 0 && (set[at - 1] as [number, number])[0] > number) at--
  const [before, after] = [set[at - 1], set[at]]
  if (before !== undefined && number <= before[1]) return
  const joinsBefore = before !== undefined && before[1] === number - 1
  const joinsAfter = after !== undefined && after[0] === number + 1
  if (joinsBefore && joinsAfter) {
    before[1] = after[1]
    set.splice(at, 1)
  } else if (joinsBefore) before[1] = number
  else if (joinsAfter) after[0] = number
  else set.splice(at, 0, [number, number])
  if (set.length > rangesMax) {
    const [low, next] = set as [[number, number], [number, number]]
    set.splice(0, 2, [low[0], next[1]])
  }
}
