/** What can be written at a place of a definition that is still being written, by the schema that the server serves. */
import { getLocation, visit } from 'jsonc-parser'
import { defaultOf, type FieldSchema, type FieldSchemas, fieldAt, resolved } from './definition-schema.ts'

export interface Completion {
  /** As it is shown. */
  label: string
  /** Type or default. */
  aside: string
  description: string
  /** Replaces the text from `from` to `to`. */
  insert: string
  from: number
  to: number
  /** How far before its end the caret stands afterwards. */
  back: number
}

/** Names of things by the path of the field that takes them, such as schedule.timezone. */
export type KnownNames = Readonly<Record<string, readonly string[]>>

const optionsMax = 200

export function completionsAt(text: string, place: JsonPlace, schemas: FieldSchemas, known: KnownNames): Completion[] {
  const options = place.kind === 'name' ? names(text, place, schemas) : values(text, place, schemas, known)
  const typed = place.typed.toLowerCase()
  const fitting = options.filter(({ label }) => label.toLowerCase().includes(typed))
  const begins = ({ label }: Completion): number => (label.toLowerCase().startsWith(typed) ? 0 : 1)
  return fitting.toSorted((a, b) => begins(a) - begins(b)).slice(0, optionsMax)
}

function names(text: string, place: JsonPlace, schemas: FieldSchemas): Completion[] {
  const inside = resolved(schemas, fieldAt(schemas, place.path))
  // The value of a name that is corrected stays.
  const hasValue = /^\s*:/.test(text.slice(place.to, place.to + 40))
  const isRoot = place.path.length === 0
  return Object.entries(inside?.properties ?? {})
    .filter(([name]) => !place.present.has(name) && !(isRoot && name === 'id'))
    .map(([name, field]) => {
      const value = hasValue ? '' : beginningOf(schemas, field)
      const insert = hasValue ? JSON.stringify(name) : `${JSON.stringify(name)}: ${value}`
      const back = /^(?:""|\[\]|\{\})$/.test(value) ? 1 : 0
      return completed(text, place, {
        label: name,
        aside: asideOf(schemas, field),
        description: field.description ?? '',
        insert,
        back,
      })
    })
}

function values(text: string, place: JsonPlace, schemas: FieldSchemas, known: KnownNames): Completion[] {
  const field = fieldAt(schemas, place.path)
  const schema = resolved(schemas, field)
  const usual = defaultOf(field)
  const isBoolean = [schema?.type].flat().includes('boolean')
  const given: readonly unknown[] = schema?.enum ?? (isBoolean ? [true, false] : (known[place.path.join('.')] ?? []))
  return given.map((value) => {
    const aside = value === usual ? 'default' : ''
    const description = field?.description ?? ''
    return completed(text, place, { label: String(value), aside, description, insert: JSON.stringify(value), back: 0 })
  })
}

/** With the commas that are missing before and after it. */
function completed(text: string, { from, to, commaAt }: JsonPlace, option: Omit<Completion, 'from' | 'to'>): Completion {
  const isFollowed = /^\s*["\w{[-]/.test(text.slice(to, to + 400))
  const after = isFollowed ? ',' : ''
  const before = commaAt === undefined ? '' : `,${text.slice(commaAt, from)}`
  return { ...option, insert: before + option.insert + after, from: commaAt ?? from, to, back: option.back + after.length }
}

/** The value of a new member: the first that differs from its default, as the default needs no member. */
function beginningOf(schemas: FieldSchemas, field: FieldSchema): string {
  const schema = resolved(schemas, field)
  const usual = defaultOf(field)
  if (schema?.enum !== undefined) return JSON.stringify(schema.enum.find((value) => value !== usual))
  const type = [schema?.type].flat().find((each) => each !== 'null')
  if (type === 'boolean') return String(usual !== true)
  if (type === 'array') return '[]'
  if (type === 'integer' || type === 'number') return String(usual ?? schema?.minimum ?? 0)
  return schema?.properties !== undefined || type === 'object' ? '{}' : '""'
}

function asideOf(schemas: FieldSchemas, field: FieldSchema): string {
  const usual = defaultOf(field)
  if (usual !== undefined && usual !== null && typeof usual !== 'object') return `default ${usual}`
  const schema = resolved(schemas, field)
  return [schema?.type].flat().find((each) => each !== 'null') ?? (schema?.properties === undefined ? '' : 'object')
}

interface JsonPlace {
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

/** Undefined outside of objects and lists, and deeper than the stack goes. */
export function placeAt(text: string, offset: number): JsonPlace | undefined {
  try {
    const { path, previousNode, isAtPropertyKey } = getLocation(text, offset)
    const inside = path.at(-1)
    if (inside === undefined) return undefined
    const { from, to } = wordAt(text, offset, previousNode)
    // Behind a value, the next name or item comes.
    const before = text.slice(0, from).trimEnd()
    const isDone = /[\w"\]}]$/.test(before)
    const isName = typeof inside === 'string' && (isAtPropertyKey || isDone || previousNode?.type === 'property')
    const own = isName ? path.slice(0, -1) : path
    return {
      kind: isName ? 'name' : 'value',
      path: own,
      ...{ from, to, isBegun: from < offset },
      typed: text.slice(from + (text.charAt(from) === '"' ? 1 : 0), offset),
      present: isName ? namesIn(text, own, from) : new Set(),
      commaAt: isDone ? before.length : undefined,
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** A string that is closed before the offset is behind it. */
function wordAt(
  text: string,
  offset: number,
  node: { offset: number; length: number } | undefined,
): { from: number; to: number } {
  const end = node === undefined ? 0 : node.offset + node.length
  if (node !== undefined && text.charAt(node.offset) === '"' && node.offset < offset && offset <= end) {
    const isClosed = node.length > 1 && text.charAt(end - 1) === '"'
    if (offset < end || !isClosed) return { from: node.offset, to: stringEnd(text, offset, end) }
  }
  let [from, to] = [offset, offset]
  while (wordChar.test(text.charAt(from - 1))) from--
  while (from < offset && wordChar.test(text.charAt(to))) to++
  return { from, to }
}

/** Of words without quotes. */
const wordChar = /[\w.+-]/

/** A new quote pairs with the next one, wherever that is. Then the word ends at the offset. */
function stringEnd(text: string, offset: number, end: number): number {
  if (/^[\w./+ -]*"$/.test(text.slice(offset, end))) return end
  return offset + (/^[\w./+-]*/.exec(text.slice(offset, end))?.[0].length ?? 0)
}

/** Names of the object, without the one that is being written. What is not around it is skipped. */
function namesIn(text: string, path: readonly (string | number)[], from: number): Set<string> {
  const names = new Set<string>()
  const isAround = (at: readonly (string | number)[]): boolean => at.every((step, depth) => step === path[depth])
  visit(text, {
    onObjectBegin: (_offset, _length, _line, _character, at) => isAround(at()),
    onArrayBegin: (_offset, _length, _line, _character, at) => isAround(at()),
    // The end of what is skipped is seen only by a visitor that has these.
    onObjectEnd: () => {},
    onArrayEnd: () => {},
    onObjectProperty: (name, offset, _length, _line, _character, at) => {
      if (offset !== from && at().length === path.length) names.add(name)
    },
  })
  return names
}
