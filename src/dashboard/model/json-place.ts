/** What may be written at a place of a JSON text that is still being written: a name or a value, of which object or list. */

export interface JsonPlace {
  kind: 'name' | 'value'
  /** Of the value, or of the object that gets the name. */
  path: (string | number)[]
  /** The word at the place, which a completion replaces. */
  from: number
  to: number
  /** Its text before the place, without the quote. */
  typed: string
  /** The word has begun. */
  isBegun: boolean
  /** Other names of the object. */
  present: ReadonlySet<string>
  /** A comma is missing after this offset. */
  commaAt: number | undefined
}

interface Frame {
  isObject: boolean
  name: string
  index: number
  names: Set<string>
  afterColon: boolean
  /** End of the value since the last comma. */
  doneAt: number | undefined
}

interface Word {
  from: number
  to: number
  isString: boolean
}

/** Undefined outside of objects and lists. */
export function placeAt(text: string, offset: number): JsonPlace | undefined {
  const frames: Frame[] = []
  let word: Word | undefined
  let at = 0
  while (at < offset) {
    const found = wordAt(text, at)
    if (found === undefined) {
      step(frames, text.charAt(at), at)
      at++
      continue
    }
    // A string that is closed before the offset is behind it.
    const isOpen = offset < found.to || (!found.isString && offset === found.to) || (found.isString && !isClosed(text, found))
    if (offset <= found.to && isOpen) word = found
    else take(frames, text, found)
    at = found.to
  }
  const frame = frames.at(-1)
  if (frame === undefined) return undefined
  const isDone = frame.doneAt !== undefined
  const kind = frame.isObject && (!frame.afterColon || isDone) ? 'name' : 'value'
  const from = word?.from ?? offset
  const to = word === undefined ? offset : wordEnd(text, offset, word)
  const outer = frames.slice(0, -1).map(stepOf)
  return {
    kind,
    path: kind === 'name' ? outer : [...outer, stepOf(frame)],
    ...{ from, to, isBegun: word !== undefined },
    typed: text.slice(from + (word?.isString ? 1 : 0), offset),
    present: new Set([...frame.names, ...namesAfter(text, to)]),
    commaAt: frame.doneAt,
  }
}

/** A new quote pairs with the next one, wherever that is. Then the word ends at the offset. */
function wordEnd(text: string, offset: number, { to, isString }: Word): number {
  if (!isString || /^[\w./+ -]*"$/.test(text.slice(offset, to))) return to
  return offset + (/^[\w./+-]*/.exec(text.slice(offset, to))?.[0].length ?? 0)
}

const stepOf = ({ isObject, name, index }: Frame): string | number => (isObject ? name : index)

/** A string ends at its quote, or at the end of the line if it has none. */
function wordAt(text: string, at: number): Word | undefined {
  if (text.charAt(at) === '"') {
    let to = at + 1
    while (to < text.length && text.charAt(to) !== '"' && text.charAt(to) !== '\n') to += text.charAt(to) === '\\' ? 2 : 1
    return { from: at, to: Math.min(text.length, text.charAt(to) === '"' ? to + 1 : to), isString: true }
  }
  literal.lastIndex = at
  return literal.test(text) ? { from: at, to: literal.lastIndex, isString: false } : undefined
}

const literal = /[\w.+-]+/y

const isClosed = (text: string, { from, to }: Word): boolean => to - from > 1 && text.charAt(to - 1) === '"'

function take(frames: Frame[], text: string, { from, to, isString }: Word): void {
  const frame = frames.at(-1)
  if (frame === undefined) return
  if (frame.isObject && !frame.afterColon && isString) {
    frame.name = nameOf(text.slice(from, to))
    frame.names.add(frame.name)
  } else frame.doneAt = to
}

function step(frames: Frame[], char: string, at: number): void {
  const frame = frames.at(-1)
  if (char === '{' || char === '[')
    frames.push({ isObject: char === '{', name: '', index: 0, names: new Set(), afterColon: false, doneAt: undefined })
  else if (char === '}' || char === ']') {
    frames.pop()
    const outer = frames.at(-1)
    if (outer !== undefined) outer.doneAt = at + 1
  } else if (char === ':' && frame !== undefined) frame.afterColon = true
  else if (char === ',' && frame !== undefined) {
    frame.index++
    frame.afterColon = false
    frame.doneAt = undefined
  }
}

/** The names of the same object behind the offset. */
function namesAfter(text: string, offset: number): string[] {
  const names: string[] = []
  let depth = 0
  for (let at = offset; at < text.length && depth >= 0; at++) {
    const char = text.charAt(at)
    if (char === '{' || char === '[') depth++
    if (char === '}' || char === ']') depth--
    const word = char === '"' ? wordAt(text, at) : undefined
    if (word === undefined) continue
    colon.lastIndex = word.to
    if (depth === 0 && colon.test(text)) names.push(nameOf(text.slice(word.from, word.to)))
    at = word.to - 1
  }
  return names
}

const colon = /\s*:/y

function nameOf(quoted: string): string {
  // A definition of 400 kB has 20,000 names, and few of them escapes.
  if (!quoted.includes('\\')) return quoted.slice(1, quoted.length > 1 && quoted.endsWith('"') ? -1 : undefined)
  try {
    return JSON.parse(quoted) as string
  } catch {
    return quoted.slice(1)
  }
}
