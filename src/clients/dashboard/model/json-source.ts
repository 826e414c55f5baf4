/** Where the values of a JSON text stand, the first place that JSON does not allow, and the parts of a line by their color. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

/** An object has properties as children, each of which has its name and its value. */
export type JsonNode = Node

interface JsonFault {
  at: number
  text: string
}

interface JsonSource {
  /** Undefined if there is a fault. */
  root?: JsonNode
  fault?: JsonFault
}

interface Place {
  /** From 1. */
  line: number
  column: number
}

export function parseSource(text: string): JsonSource {
  const errors: ParseError[] = []
  try {
    const root = parseTree(text, errors, { disallowComments: true })
    const [first] = errors
    if (first !== undefined) return { fault: { at: first.offset, text: messageOf(text, first, errors, root) } }
    return root === undefined ? { fault: { at: 0, text: noObject } } : { root }
  } catch (error) {
    // It goes as deep as the stack of the browser, and the server takes 128 levels.
    if (error instanceof RangeError) return { fault: { at: 0, text: 'The text is nested too deep.' } }
    throw error
  }
}

const noObject = 'The definition must be a JSON object.'
const notJson = 'This is not JSON. Text and names need double quotes.'
/** By the name of the error. */
const messages: Readonly<Record<string, string>> = {
  InvalidSymbol: notJson,
  InvalidNumberFormat: notJson,
  UnexpectedEndOfNumber: notJson,
  InvalidCommentToken: 'JSON has no comments.',
  UnexpectedEndOfComment: 'JSON has no comments.',
  PropertyNameExpected: 'A name in double quotes must come here.',
  ColonExpected: 'A colon must follow the name.',
  ValueExpected: 'A value must come here.',
  CommaExpected: 'A comma must come here.',
  EndOfFileExpected: 'Nothing may follow the end of the definition.',
  UnexpectedEndOfString: 'This string has no closing quote.',
  InvalidUnicode: 'A string has a backslash that JSON does not know.',
  InvalidEscapeCharacter: 'A string has a backslash that JSON does not know.',
  InvalidCharacter: 'A string must not hold a control character.',
}
const missing: Readonly<Record<string, string>> = { CloseBraceExpected: '}', CloseBracketExpected: ']' }
/** Longest list of missing brackets in a message. */
const missingMax = 8

function messageOf(text: string, { error, offset }: ParseError, all: readonly ParseError[], root: Node | undefined): string {
  const name = printParseErrorCode(error)
  const char = text.charAt(offset)
  if (text.trim() === '') return noObject
  if (missing[name] !== undefined) {
    const brackets = all.flatMap(({ error: each }) => missing[printParseErrorCode(each)] ?? [])
    return `The text ends too early: ${brackets.slice(0, missingMax).join(' ')} is missing.`
  }
  if (root !== undefined && root.offset + root.length <= offset && root.length > 0) return messages.EndOfFileExpected as string
  if (char === '}' || char === ']') {
    if (name === 'CommaExpected') return `${char === '}' ? ']' : '}'} must come here.`
    if (text.slice(0, offset).trimEnd().endsWith(',')) return `No comma may stand before ${char}.`
  }
  return messages[name] ?? notJson
}

/** The property of an object, and the value that it has: of a name that is given twice, the last one. */
export function propertyOf({ type, children }: JsonNode, name: string): { property: JsonNode; node: JsonNode } | undefined {
  const property = type === 'object' ? children?.findLast((each) => each.children?.[0]?.value === name) : undefined
  const node = property?.children?.[1]
  return property === undefined || node === undefined ? undefined : { property, node }
}

/** Begin of the field of a problem, such as retry.maxAttempts or tags[0], or of the innermost value around it that the text has. */
export function offsetOfField(root: JsonNode, field: string): number {
  let [node, offset] = [root, root.offset]
  for (const [step] of field.matchAll(/[^.[\]]+|\["(?:[^"\\]|\\.)*"\]|\[\d+\]/g)) {
    const index = /^\[(\d+)\]$/.exec(step)?.[1]
    const found = index === undefined ? propertyOf(node, nameOf(step)) : undefined
    const next = found?.node ?? (node.type === 'array' ? node.children?.[Number(index ?? -1)] : undefined)
    if (next === undefined) break
    node = next
    offset = found?.property.offset ?? next.offset
  }
  return offset
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
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}

interface ColoredPart {
  kind: 'name' | 'string' | 'number' | 'literal' | 'other'
  text: string
}

const token = /("(?:[^"\\]|\\.)*"?)(?=(\s*:)?)|(-?\d[\d.eE+-]*)|\b(?:true|false|null)\b/g

export function coloredParts(line: string): ColoredPart[] {
  const parts: ColoredPart[] = []
  let at = 0
  for (const found of line.matchAll(token)) {
    const [text, string, colon, number] = found
    if (found.index > at) parts.push({ kind: 'other', text: line.slice(at, found.index) })
    const kind = string !== undefined ? (colon === undefined ? 'string' : 'name') : number === undefined ? 'literal' : 'number'
    parts.push({ kind, text })
    at = found.index + text.length
  }
  if (at < line.length) parts.push({ kind: 'other', text: line.slice(at) })
  return parts
}
