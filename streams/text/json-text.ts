/**
 * Lossless JSON. The engine parses the text; one walk over the accepted text finds everything that JavaScript values would hide. A payload
 * or result that JavaScript values cannot represent keeps its text, and is written as it was read. The dashboard uses this module too.
 */
import { contradiction, cutText, type Problem, problemsMax, quoted, validText } from './problem.ts'

/** Maximum nesting of arrays and objects. Readers in other languages may refuse deeper nesting. */
export const jsonDepthMax = 128

/** Members whose values belong to users, anywhere except in a map of headers, because users also choose the names of headers. */
const kept: ReadonlySet<string> = new Set(['payload', 'result'])

export interface TextPart {
  path: (string | number)[]
  text: string
}

/** An open object or array. */
interface Frame {
  object: boolean
  /** The names so far of an object with more than one member. Most objects in a long text have one member or none. */
  names: Set<string> | undefined
  /** The current member or item. */
  name: string
  index: number
}

const code = { quote: 0x22, plus: 0x2b, comma: 0x2c, minus: 0x2d, zero: 0x30, nine: 0x39, colon: 0x3a, backslash: 0x5c } as const
const brackets = { open: 0x5b, close: 0x5d, openObject: 0x7b, closeObject: 0x7d } as const
/** Numbers up to this length without an exponent are never out of range. */
const digitsSafe = 300

/**
 * One pass over a text that is valid JSON; without recursion, so that depth costs no stack. It finds what JavaScript values would hide
 * (duplicate names, numbers out of the range of doubles, lone surrogates, too deep nesting) and the texts of payloads and results.
 */
export class JsonWalk {
  readonly problems: Problem[] = []
  /** Each outermost payload and result; nested ones are part of it. */
  readonly parts: TextPart[] = []
  /** Offset of each object that is an item of the outermost array. */
  readonly items: number[] = []
  readonly #text: string
  /** A text that was decoded from bytes has lone surrogates only as escapes. */
  readonly #wellFormed: boolean
  readonly #frames: Frame[] = []
  /** The next string is a name, if the innermost open bracket is an object's. */
  #nameNext = false
  /** End of the last value or bracket. */
  #end = 0
  /** The text that is being kept: its offset, and the number of open frames around it. */
  #keeping: { from: number; depth: number } | undefined

  constructor(text: string) {
    this.#text = text
    this.#wellFormed = text.isWellFormed()
  }

  run(): void {
    const text = this.#text
    let at = 0
    while (at < text.length && this.problems.length < problemsMax) {
      const char = text.charCodeAt(at)
      if (char === code.quote) at = this.#string(at)
      else if (char === brackets.openObject || char === brackets.open) {
        if (!this.#open(char === brackets.openObject, at)) return
        at++
      } else if (char === brackets.closeObject || char === brackets.close) at = this.#close(at)
      else if (char === code.comma) at = this.#comma(at)
      else if (char === code.minus || (char >= code.zero && char <= code.nine)) at = this.#number(at)
      else {
        at++
        // Letters of true, false and null.
        if (char > code.colon) this.#end = at
      }
    }
  }

  #open(object: boolean, at: number): boolean {
    if (this.#frames.length === jsonDepthMax) {
      const limit = `at most ${jsonDepthMax} arrays and objects inside one another`
      this.#refuse('deeper', limit, `is nested deeper than is taken; allowed: ${limit}.`)
      return false
    }
    if (object && this.#frames.length === 1 && this.#frames[0]?.object === false) this.items.push(at)
    this.#frames.push({ object, names: undefined, name: '', index: 0 })
    this.#nameNext = object
    return true
  }

  #close(at: number): number {
    this.#endKeeping()
    this.#frames.pop()
    this.#nameNext = false
    this.#end = at + 1
    return at + 1
  }

  #comma(at: number): number {
    this.#endKeeping()
    const frame = this.#frames.at(-1)
    if (frame !== undefined) frame.index++
    this.#nameNext = true
    return at + 1
  }

  #string(at: number): number {
    const text = this.#text
    let end = at + 1
    let escaped = false
    for (let char = text.charCodeAt(end); char !== code.quote; char = text.charCodeAt(end)) {
      if (char === code.backslash) {
        escaped = true
        end++
      }
      end++
    }
    end++
    const frame = this.#frames.at(-1)
    if (this.#nameNext && frame?.object === true) {
      this.#nameNext = false
      const name = escaped ? (JSON.parse(text.slice(at, end)) as string) : text.slice(at + 1, end - 1)
      return this.#name(frame, name, end)
    }
    if ((escaped || !this.#wellFormed) && !(JSON.parse(text.slice(at, end)) as string).isWellFormed()) this.#lone('has')
    this.#end = end
    return end
  }

  /** Returns the offset of its value. */
  #name(frame: Frame, name: string, end: number): number {
    if (frame.index > 0) frame.names ??= new Set([frame.name])
    frame.name = name
    if (frame.names?.has(name)) this.#refuse(name, 'once', 'is given more than once; allowed: once.')
    frame.names?.add(name)
    if (!name.isWellFormed()) this.#lone('is a name with')
    let at = end
    while (this.#text.charCodeAt(at) <= code.colon && isBetween(this.#text.charCodeAt(at))) at++
    if (this.#keeping === undefined && kept.has(name) && this.#frames.at(-2)?.name !== 'headers')
      this.#keeping = { from: at, depth: this.#frames.length }
    return at
  }

  #endKeeping(): void {
    if (this.#keeping?.depth !== this.#frames.length) return
    const text = this.#text.slice(this.#keeping.from, this.#end)
    this.#keeping = undefined
    // Null means: no payload, no result.
    if (text === 'null') return
    this.parts.push({ path: this.#frames.map(({ object, name, index }) => (object ? name : index)), text })
  }

  #number(at: number): number {
    const text = this.#text
    let end = at + 1
    let exponent = false
    for (; end < text.length; end++) {
      const char = text.charCodeAt(end)
      if (char >= code.zero ? char > code.nine : char < code.plus || char === code.comma) {
        if (char !== 0x45 && char !== 0x65) break
        exponent = true
      }
    }
    this.#end = end
    if (!exponent && end - at <= digitsSafe) return end
    const found = text.slice(at, end)
    if (!Number.isFinite(Number(found))) {
      const limit = `numbers up to ${Number.MAX_VALUE} and down to ${-Number.MAX_VALUE}`
      this.#refuse(found.slice(0, 40), limit, `is the number ${found.slice(0, 40)}, which is out of range; allowed: ${limit}.`)
    }
    return end
  }

  #lone(has: string): void {
    this.#refuse('a lone surrogate', validText, `${has} a lone surrogate, half of a character; allowed: ${validText}.`)
  }

  #refuse(value: string, limit: string, found: string): void {
    const field = this.#field()
    this.problems.push(contradiction(field, value, limit, `${field || 'The value'} ${found}`))
  }

  /** Path of the current value. */
  #field(): string {
    let path = ''
    for (const { object, name, index } of this.#frames) {
      if (!object) path += `[${index}]`
      else if (/^[\w-]{1,80}$/.test(name)) path += path === '' ? name : `.${name}`
      else if (name !== '') path += `[${quoted(name)}]`
    }
    return path.length > fieldLengthMax ? `${cutText(path, fieldLengthMax)}…` : path
  }
}

const fieldLengthMax = 200

/** White space and the colon between a name and its value. */
function isBetween(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09 || char === code.colon
}

/** Media type of JSON. A payload without a media type has this one. */
export const jsonType = 'application/json'

/** A JSON value as its text, used if JavaScript would write the parsed value differently. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  /** In writeJson a placeholder; anywhere else the nearest JavaScript value. */
  toJSON(): unknown {
    if (marked === undefined) return JSON.parse(this.text)
    marked.push(this.text)
    return `${mark}${marked.length - 1}`
  }
}

let marked: string[] | undefined
/** Begins a placeholder. A text that was decoded from bytes never begins with a lone surrogate. */
const mark = '\ud800'
const markWritten = /"\\ud800(\d+)"/g

/** JSON.stringify that writes each JsonText unchanged. */
export function writeJson(value: unknown, indent = 0): string {
  const outer = marked
  const texts: string[] = []
  marked = texts
  try {
    const written = JSON.stringify(value, null, indent)
    return texts.length === 0 ? written : written.replace(markWritten, (found, place) => texts[Number(place)] ?? found)
  } finally {
    marked = outer
  }
}

export interface JsonRead {
  /** Each payload or result that JSON.stringify would write differently is a JsonText; null stays null. */
  value: unknown
  problems: Problem[]
  /** If the whole text is an array: the offset of each item that is an object. */
  items: number[]
}

/**
 * Throws SyntaxError if the text is no JSON, or the error that `parse` throws. With `always` each payload or result is a JsonText. That
 * saves a comparison for readers that use only its bytes.
 */
export function readJson(text: string, parse: (text: string) => unknown = JSON.parse, always = false): JsonRead {
  const value = parse(text)
  const walk = new JsonWalk(text)
  walk.run()
  if (walk.problems.length === 0) for (const part of walk.parts) keepText(value, part, always)
  return { value, problems: walk.problems, items: walk.items }
}

/** The problems of a JSON text that the engine has accepted. */
export function jsonProblems(text: string): Problem[] {
  const walk = new JsonWalk(text)
  walk.run()
  return walk.problems
}

/** A JSON text without the white space between its values. Any text may be given: a string that does not end is one until the end. */
export const withoutSpace = (text: string): string =>
  text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"?|\s+/gs, (found) => (found.startsWith('"') ? found : ''))

/** A JSON text on one line. Line breaks occur only between values, so all white space between values is removed. */
export const oneLineJson = (text: string): string => (/[\r\n]/.test(text) ? withoutSpace(text) : text)

function keepText(root: unknown, { path, text }: TextPart, always: boolean): void {
  let holder = root as Record<string | number, unknown>
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string | number, unknown>
  const name = path.at(-1) as string
  if (always || JSON.stringify(holder[name]) !== text) holder[name] = new JsonText(text)
}
