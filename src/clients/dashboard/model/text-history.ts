/** What was changed in a text: each change, so that it can be undone and made again, and the difference of two texts by lines. */

interface Edit {
  at: number
  removed: string
  inserted: string
  /** When its last part was made. */
  atMs: number
}

export interface UndoStep {
  text: string
  /** Where the caret belongs: behind what has come back. */
  caret: number
}

/** Maximum of edits, and of characters that they keep together. The oldest give way. */
const editsMax = 500
const keptCharsMax = 4_000_000
/** Keys that follow each other within this time at one place are one edit, up to a length. */
const joinMs = 1_000
const joinedCharsMax = 200

export class TextHistory {
  #text: string
  readonly #done: Edit[] = []
  #undone: Edit[] = []
  #keptChars = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The text is another now. What was undone before cannot be made again. */
  note(text: string, nowMs: number): void {
    if (text === this.#text) return
    const edit = { ...difference(this.#text, text), atMs: nowMs }
    this.#text = text
    this.#undone = []
    const last = this.#done.at(-1)
    const joined = last === undefined || nowMs - last.atMs > joinMs ? undefined : join(last, edit)
    if (joined === undefined) this.#done.push(edit)
    else this.#done[this.#done.length - 1] = joined
    this.#keptChars = this.#done.reduce((sum, each) => sum + charsOf(each), 0)
    while (this.#done.length > editsMax || (this.#keptChars > keptCharsMax && this.#done.length > 1))
      this.#keptChars -= charsOf(this.#done.shift() as Edit)
  }

  /** Undefined: there is nothing to undo. */
  undo(): UndoStep | undefined {
    const edit = this.#done.pop()
    if (edit === undefined) return undefined
    this.#undone.push(edit)
    return this.#replace(edit.at, edit.inserted.length, edit.removed)
  }

  redo(): UndoStep | undefined {
    const edit = this.#undone.pop()
    if (edit === undefined) return undefined
    // What is typed now is an edit of its own.
    this.#done.push({ ...edit, atMs: Number.NEGATIVE_INFINITY })
    return this.#replace(edit.at, edit.removed.length, edit.inserted)
  }

  #replace(at: number, length: number, by: string): UndoStep {
    this.#text = this.#text.slice(0, at) + by + this.#text.slice(at + length)
    return { text: this.#text, caret: at + by.length }
  }
}

const charsOf = ({ removed, inserted }: Edit): number => removed.length + inserted.length

/** How much of two texts, or of two lists of lines, is equal at their beginning and at their end. */
function commonEnds(a: ArrayLike<string>, b: ArrayLike<string>): { at: number; tail: number } {
  const shorter = Math.min(a.length, b.length)
  let at = 0
  while (at < shorter && a[at] === b[at]) at++
  let tail = 0
  while (tail < shorter - at && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  return { at, tail }
}

/** The shortest part of the text that was replaced. */
function difference(before: string, after: string): Omit<Edit, 'atMs'> {
  const { at, tail } = commonEnds(before, after)
  return { at, removed: before.slice(at, before.length - tail), inserted: after.slice(at, after.length - tail) }
}

/** One edit of two, if the second goes on where the first one is: more keys, or a correction of them. */
function join(last: Edit, next: Edit): Edit | undefined {
  if (charsOf(last) + charsOf(next) > joinedCharsMax || next.inserted.includes('\n')) return undefined
  const { at, removed, inserted, atMs } = next
  const from = at - last.at
  if (from >= 0 && from + removed.length <= last.inserted.length)
    return { ...last, inserted: last.inserted.slice(0, from) + inserted + last.inserted.slice(from + removed.length), atMs }
  const isBackspace = last.inserted === '' && inserted === '' && at + removed.length === last.at
  return isBackspace ? { at, removed: removed + last.removed, inserted: '', atMs } : undefined
}

export interface DiffLine {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** Maximum of pairs of lines that are compared. Where more lines differ, they are shown as removed and added. */
const pairsMax = 4_000_000

export function lineDiff(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  const { at: from, tail } = commonEnds(a, b)
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
