/** What was changed in a text, so that each change can be undone and made again, wherever it came from. */

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

/** The shortest part of the text that was replaced. */
function difference(before: string, after: string): Omit<Edit, 'atMs'> {
  const shorter = Math.min(before.length, after.length)
  let at = 0
  while (at < shorter && before.charCodeAt(at) === after.charCodeAt(at)) at++
  let tail = 0
  while (tail < shorter - at && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)) tail++
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
