/** What can be written at a place of a definition, by the schema that the server serves. */
import { defaultOf, type FieldSchema, type FieldSchemas, fieldAt, resolved } from './definition-schema.ts'
import type { JsonPlace } from './json-place.ts'

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
