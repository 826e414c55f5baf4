/** Changes of single members of a JSON text. All else stays as it was written: order, white space, numbers, and fields that nobody here knows. */
import { JsonText, withoutSpace, writeJson } from '../../../../streams/text/index.ts'
import { type JsonNode, parseSource, propertyOf } from './json-source.ts'

/** Sets a member, or removes it if the value is undefined. Objects on the way are made. A text that is no JSON stays as it is. */
export function withMember(text: string, path: readonly string[], value: unknown): string {
  const { root } = parseSource(text)
  if (root === undefined) return text
  let inside = root
  for (const [depth, name] of path.entries()) {
    const rest = nested(path.slice(depth), value)
    if (inside.type !== 'object') return value === undefined ? text : replaced(text, inside, rest)
    const found = propertyOf(inside, name)
    if (found === undefined)
      return value === undefined ? text : inserted(text, inside, name, nested(path.slice(depth + 1), value))
    if (depth === path.length - 1)
      return value === undefined ? removed(text, inside, found.property) : replaced(text, found.node, value)
    inside = found.node
  }
  return text
}

const nested = (path: readonly string[], value: unknown): unknown => path.reduceRight((inner, name) => ({ [name]: inner }), value)

const endOf = ({ offset, length }: JsonNode): number => offset + length

function replaced(text: string, node: JsonNode, value: unknown): string {
  return text.slice(0, node.offset) + written(value, indentOf(text, node.offset)) + text.slice(endOf(node))
}

/** At the end of the object, on a line of its own if its other members are. */
function inserted(text: string, object: JsonNode, name: string, value: unknown): string {
  const [from, to] = [object.offset, endOf(object)]
  const last = object.children?.at(-1)
  const isOneLine = last !== undefined && !text.slice(from, to).includes('\n')
  const outer = indentOf(text, from)
  const indent = outer + step
  const member = `${JSON.stringify(name)}: ${written(value, isOneLine ? outer : indent)}`
  if (last === undefined) return `${text.slice(0, from)}{\n${indent}${member}\n${outer}}${text.slice(to)}`
  return `${text.slice(0, endOf(last))},${isOneLine ? ' ' : `\n${indent}`}${member}${text.slice(endOf(last))}`
}

function removed(text: string, object: JsonNode, property: JsonNode): string {
  const all = object.children ?? []
  const index = all.indexOf(property)
  const next = all[index + 1]
  const before = all[index - 1]
  if (next !== undefined) return text.slice(0, property.offset) + text.slice(next.offset)
  if (before !== undefined) return text.slice(0, endOf(before)) + text.slice(endOf(property))
  return `${text.slice(0, object.offset)}{}${text.slice(endOf(object))}`
}

const step = '  '
const written = (value: unknown, indent: string): string => prettyJson(value).replaceAll('\n', `\n${indent}`)

/** Longest list of plain values on one line, in characters. */
const lineCharsMax = 72

/** A list of plain values that has a line for each. Strings have no line breaks, so none begins inside a string. */
const plainList = /\[\n *((?:"(?:[^"\\\n]|\\.)*"|[\w.+-]+)(?:,\n *(?:"(?:[^"\\\n]|\\.)*"|[\w.+-]+))*)\n *\]/g

/** An object that has a line for each member, and none with a bracket of objects. A member begins behind the spaces, so there is one way to match. */
const plainObject = /\{\n *([^\n{} ][^\n{}]*(?:\n *[^\n{} ][^\n{}]*)*)\n *\}/g
/** Members of an object on one line. */
const membersMax = 31
/** A text with more lines has its plain objects on one line each: browsers take long to lay out a text of many lines. */
const linesMax = 2_000

/** JSON for people: each member on a line of its own, and short lists of plain values on one line. */
export function prettyJson(value: unknown): string {
  const text = writeJson(value, step.length).replace(plainList, (found, list: string) => {
    const line = `[${list.replace(/,\n\s*/g, ', ')}]`
    return line.length > lineCharsMax ? found : line
  })
  if (text.split('\n', linesMax + 1).length <= linesMax) return text
  return text.replace(plainObject, (found, members: string) =>
    members.split('\n', membersMax + 1).length > membersMax ? found : `{ ${members.replace(/,\n\s*/g, ', ')} }`,
  )
}

/** White space at the beginning of the line. */
function indentOf(text: string, offset: number): string {
  const lineFrom = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(lineFrom, offset))?.[0] ?? ''
}

interface Change {
  path: string[]
  /** Undefined: the member goes. */
  value: unknown
}

/** The members in which two objects differ. Lists are one value. */
function changesOf(before: unknown, after: unknown, path: string[] = []): Change[] {
  if (!isObject(before) || !isObject(after)) return same(before, after) ? [] : [{ path, value: after }]
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
    Object.hasOwn(after, name)
      ? changesOf(own(before, name), after[name], [...path, name])
      : [{ path: [...path, name], value: undefined }],
  )
}

/** White space between values makes no difference, and the order of members does. Only texts and unequal values are written. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => same(item, b[index]))
  if (isObject(a) && isObject(b)) {
    const [names, others] = [Object.keys(a), Object.keys(b)]
    return names.length === others.length && names.every((name, index) => name === others[index] && same(a[name], b[name]))
  }
  return a !== undefined && b !== undefined && withoutSpace(writeJson(a)) === withoutSpace(writeJson(b))
}

/** Whether the JSON of a value has more characters. It looks at no more values than that. */
export function isLongerThan(chars: number, value: unknown): boolean {
  const left = [value]
  let sum = 0
  for (let each = left.pop(); sum <= chars; each = left.pop()) {
    if (typeof each === 'string') sum += each.length + 2
    else if (each instanceof JsonText) sum += each.text.length
    else if (Array.isArray(each)) {
      sum += each.length + 1
      for (let index = 0; index < each.length && index <= chars; index++) left.push(each[index])
    } else if (isObject(each)) {
      for (const [name, member] of Object.entries(each)) {
        sum += name.length + 4
        left.push(member)
      }
    } else sum += 1
    if (left.length === 0) return sum > chars
  }
  return true
}

/** Names such as constructor are not members of every object. */
const own = (value: Record<string, unknown>, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined)

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('toJSON' in value)
}

interface Merged {
  text: string
  /** Members that both changed, to different values. Mine are in the text. */
  both: string[]
}

/** My changes since `base`, made in the text of another person. */
export function mergeInto(theirText: string, base: unknown, mine: unknown, theirs: unknown): Merged {
  const theirChanges = changesOf(base, theirs)
  let text = theirText
  const both: string[] = []
  for (const { path, value } of changesOf(base, mine)) {
    if (path.length === 0) continue
    const other = theirChanges.find((change) => isPrefix(change.path, path) || isPrefix(path, change.path))
    if (other !== undefined && !same(valueAt(mine, other.path), other.value)) both.push(path.join('.'))
    text = withMember(text, path, value)
  }
  return { text, both }
}

const isPrefix = (a: readonly string[], b: readonly string[]): boolean => a.every((name, index) => b[index] === name)

export const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inside, name) => (isObject(inside) ? own(inside, name) : undefined), value)
