/** Where the values of a JSON text stand, and the first place that JSON does not allow. It does not recurse, so that depth costs no stack. */

export interface JsonNode {
  /** Offsets of the value in the text. */
  from: number
  to: number
  /** Of an object, in the order of the text. A name that is given twice has its last value. */
  members?: Map<string, JsonMember>
  /** Of an array. */
  items?: JsonNode[]
}

export interface JsonMember {
  nameFrom: number
  node: JsonNode
}

export interface JsonFault {
  at: number
  text: string
}

export interface JsonSource {
  /** Undefined if there is a fault. */
  root?: JsonNode
  fault?: JsonFault
}

export interface Place {
  /** From 1. */
  line: number
  column: number
}

/** What may come next. */
type Expected = 'value' | 'first item' | 'first name' | 'name' | 'colon' | 'comma' | 'end'

interface Open {
  node: JsonNode
  name: string
  nameFrom: number
}

const code = { quote: 0x22, backslash: 0x5c, space: 0x20, open: 0x7b, close: 0x7d } as const
const word = /[\w.+-]+/y
const literal = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/

const isBlank = (char: number): boolean => char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09

export function parseSource(text: string): JsonSource {
  return new Parser(text).run()
}

class Parser {
  readonly #text: string
  readonly #open: Open[] = []
  #root: JsonNode | undefined
  #expected: Expected = 'value'
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  run(): JsonSource {
    const text = this.#text
    for (;;) {
      while (isBlank(text.charCodeAt(this.#at))) this.#at++
      if (this.#at >= text.length) {
        if (this.#expected === 'end' && this.#root !== undefined) return { root: this.#root }
        return { fault: { at: text.length, text: this.#endsEarly() } }
      }
      const fault = this.#take(text.charAt(this.#at))
      if (fault !== undefined) return { fault: { at: this.#at, text: fault } }
    }
  }

  /** Takes what begins at the present offset. Returns what is wrong with it. */
  #take(char: string): string | undefined {
    const expected = this.#expected
    if (expected === 'end') return 'Nothing may follow the end of the definition.'
    if (char === '}' || char === ']') return this.#close(char)
    if (expected === 'colon') return char === ':' ? this.#step('value') : 'A colon must follow the name.'
    if (expected === 'comma') {
      if (char !== ',') return `A comma or ${this.#closing()} must come here.`
      return this.#step(this.#isObject() ? 'name' : 'value')
    }
    if (char === "'") return 'JSON strings need double quotes.'
    if (expected === 'name' || expected === 'first name') return this.#name(char)
    return this.#value(char)
  }

  #name(char: string): string | undefined {
    if (char !== '"') return expectedName
    const end = this.#stringEnd()
    if (typeof end === 'string') return end
    const inside = this.#open.at(-1)
    if (inside !== undefined) {
      inside.nameFrom = this.#at
      const quoted = this.#text.slice(this.#at, end)
      inside.name = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
    }
    this.#at = end
    this.#expected = 'colon'
    return undefined
  }

  #value(char: string): string | undefined {
    const from = this.#at
    if (char === '{' || char === '[') {
      const node: JsonNode = { from, to: from, ...(char === '{' ? { members: new Map() } : { items: [] }) }
      this.#add(node)
      this.#open.push({ node, name: '', nameFrom: 0 })
      return this.#step(char === '{' ? 'first name' : 'first item')
    }
    if (char === '"') {
      const end = this.#stringEnd()
      if (typeof end === 'string') return end
      this.#at = end
    } else {
      word.lastIndex = from
      const found = word.exec(this.#text)?.[0]
      if (found === undefined) return noValue
      if (!literal.test(found)) return notAValue
      this.#at = word.lastIndex
    }
    this.#add({ from, to: this.#at })
    this.#expected = this.#open.length === 0 ? 'end' : 'comma'
    return undefined
  }

  #close(char: string): string | undefined {
    const expected = this.#expected
    if (this.#open.length === 0 || (expected === 'value' && this.#isObject())) return noValue
    if (char !== this.#closing()) return `${this.#closing()} must come here.`
    if (expected === 'colon') return 'A colon and a value must follow the name.'
    if (expected === 'value' || expected === 'name') return `No comma may stand before ${char}.`
    this.#at++
    const closed = this.#open.pop()
    if (closed !== undefined) closed.node.to = this.#at
    this.#expected = this.#open.length === 0 ? 'end' : 'comma'
    return undefined
  }

  #step(next: Expected): undefined {
    this.#at++
    this.#expected = next
  }

  #add(node: JsonNode): void {
    const inside = this.#open.at(-1)
    if (inside === undefined) this.#root = node
    inside?.node.items?.push(node)
    inside?.node.members?.set(inside.name, { nameFrom: inside.nameFrom, node })
  }

  #isObject = (): boolean => this.#open.at(-1)?.node.members !== undefined
  #closing = (): string => (this.#open.length === 0 ? 'the end' : this.#isObject() ? '}' : ']')

  #endsEarly(): string {
    if (this.#open.length === 0) return 'The definition must be a JSON object.'
    const missing = this.#open.toReversed().map(({ node }) => (node.members === undefined ? ']' : '}'))
    return `The text ends too early: ${missing.slice(0, missingMax).join(' ')} is missing.`
  }

  /** The offset after the string that begins here, or what is wrong with it. */
  #stringEnd(): number | string {
    const text = this.#text
    for (let at = this.#at + 1; at < text.length; at++) {
      const char = text.charCodeAt(at)
      if (char === code.quote) return at + 1
      if (char < code.space) return char === 0x0a || char === 0x0d ? notClosed : 'A string must not hold a control character.'
      if (char !== code.backslash) continue
      if (!/^\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/.test(text.slice(at, at + 6)))
        return 'A string has a backslash that JSON does not know.'
      at++
    }
    return notClosed
  }
}

const expectedName = 'A name in double quotes must come here.'
const noValue = 'A value must come here.'
const notClosed = 'This string has no closing quote.'
const notAValue = 'This is not a JSON value. Text needs double quotes.'
/** Longest list of missing brackets in a message. */
const missingMax = 8

/** The value of a field of a problem, such as retry.maxAttempts or tags[0], or the innermost value around it that the text has. */
export function nodeOfField(root: JsonNode, field: string): JsonNode & { nameFrom?: number } {
  let found: JsonNode & { nameFrom?: number } = root
  for (const [step] of field.matchAll(/[^.[\]]+|\["(?:[^"\\]|\\.)*"\]|\[\d+\]/g)) {
    const index = /^\[(\d+)\]$/.exec(step)?.[1]
    const member = index === undefined ? found.members?.get(nameOf(step)) : undefined
    const next = member === undefined ? found.items?.[Number(index ?? -1)] : { ...member.node, nameFrom: member.nameFrom }
    if (next === undefined) break
    found = next
  }
  return found
}

function nameOf(step: string): string {
  if (!step.startsWith('[')) return step
  try {
    return JSON.parse(step.slice(1, -1)) as string
  } catch {
    return step
  }
}

export function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset)
  const lineFrom = before.lastIndexOf('\n') + 1
  let line = 1
  for (let at = before.indexOf('\n'); at >= 0; at = before.indexOf('\n', at + 1)) line++
  return { line, column: offset - lineFrom + 1 }
}
