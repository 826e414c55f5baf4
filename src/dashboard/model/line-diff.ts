/** Line-by-line difference of two texts, by longest common subsequence. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** Maximum of pairs of lines that are compared. Where more lines differ, they are shown as removed and added. */
const pairsMax = 4_000_000

export function lineDiff(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let from = 0
  while (from < a.length && from < b.length && a[from] === b[from]) from++
  let tail = 0
  while (tail < a.length - from && tail < b.length - from && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  const lines = (kind: DiffLine['kind'], texts: string[]): DiffLine[] => texts.map((text) => ({ kind, text }))
  return [
    ...lines('same', a.slice(0, from)),
    ...middleOf(a.slice(from, a.length - tail), b.slice(from, b.length - tail)),
    ...lines('same', a.slice(a.length - tail)),
  ]
}

function middleOf(a: string[], b: string[]): DiffLine[] {
  const lines: DiffLine[] = []
  const remove = (i: number): number => lines.push({ kind: 'removed', text: a[i] ?? '' })
  const add = (j: number): number => lines.push({ kind: 'added', text: b[j] ?? '' })
  if (a.length * b.length > pairsMax) {
    for (let i = 0; i < a.length; i++) remove(i)
    for (let j = 0; j < b.length; j++) add(j)
    return lines
  }
  // common[i][j]: length of the longest common subsequence of a.slice(i) and b.slice(j).
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1))
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = common[i]
      if (row !== undefined) row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '' })
      i++
      j++
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) remove(i++)
    else add(j++)
  }
  return lines
}
