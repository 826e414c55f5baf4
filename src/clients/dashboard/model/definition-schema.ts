/** The fields of a definition with their defaults and descriptions, as the OpenAPI document of the server has them. */
import { jsonType } from '../../../../streams/text/index.ts'
import { isObject, same } from './json-edit.ts'

export interface FieldSchema {
  type?: string | string[]
  description?: string
  default?: unknown
  /** The default of a field that is an object. */
  'x-default'?: unknown
  enum?: string[]
  properties?: Record<string, FieldSchema>
  items?: FieldSchema
  required?: string[]
  minimum?: number
  maximum?: number
  anyOf?: FieldSchema[]
  oneOf?: FieldSchema[]
  $ref?: string
}

export type FieldSchemas = Record<string, FieldSchema>
type Json = Record<string, unknown>

/** The schema behind references. */
function referred(schemas: FieldSchemas, field: FieldSchema | undefined): FieldSchema | undefined {
  const name = field?.$ref?.split('/').at(-1)
  return name === undefined ? field : referred(schemas, schemas[name])
}

/** The schema behind references, beside null, and that of the words where a field allows words or numbers. */
export function resolved(schemas: FieldSchemas, field: FieldSchema | undefined): FieldSchema | undefined {
  const found = referred(schemas, field)
  const branch = found?.oneOf?.find(({ enum: words }) => words !== undefined) ?? found?.anyOf?.find(({ type }) => type !== 'null')
  return branch === undefined ? found : resolved(schemas, branch)
}

/** The whole numbers that a field allows besides words, such as a priority. */
export function numbersOf(schemas: FieldSchemas, field: FieldSchema | undefined): number[] {
  const { minimum = 0, maximum = -1 } = referred(schemas, field)?.oneOf?.find(({ type }) => type === 'integer') ?? {}
  return Array.from({ length: Math.min(Math.max(0, maximum - minimum + 1), numbersMax) }, (_, index) => maximum - index)
}

/** Numbers that a list offers. */
const numbersMax = 20

/** The field itself, with its default and description. An array's items have the number 0 as their name. */
export function fieldAt(schemas: FieldSchemas, path: readonly (string | number)[]): FieldSchema | undefined {
  let field: FieldSchema | undefined = schemas.JobDefinition
  for (const step of path) {
    const inside = resolved(schemas, field)
    field =
      typeof step === 'number'
        ? inside?.items
        : Object.hasOwn(inside?.properties ?? {}, step)
          ? inside?.properties?.[step]
          : undefined
  }
  return field
}

/** Undefined: it has none. */
export const defaultOf = (field: FieldSchema | undefined): unknown =>
  field?.default ?? field?.['x-default'] ?? (field?.default === null ? null : undefined)

/** The same definition without the fields that have their default. */
export function withoutDefaults(definition: object, schemas: FieldSchemas): object {
  const cut = stripped(definition as Json, schemas.JobDefinition, schemas)
  // A reader gives a payload this media type if there is none.
  if (cut.contentType === jsonType && cut.payload !== undefined) delete cut.contentType
  return cut
}

function stripped(value: Json, schema: FieldSchema | undefined, schemas: FieldSchemas): Json {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const field = schema?.properties?.[name]
      if (field === undefined) return [[name, member]]
      const usual = defaultOf(field)
      if (usual !== undefined && same(usual, member)) return []
      const inner = resolved(schemas, field)
      // Which of several fields is set must stay visible, so an object without members stays.
      return [[name, inner?.properties !== undefined && isObject(member) ? stripped(member, inner, schemas) : member]]
    }),
  )
}

/** The same definition with all fields that have a default of their own. Fields that null leaves out stay out. */
export function withDefaults(definition: object, schemas: FieldSchemas): object {
  return filled(definition as Json, schemas.JobDefinition, schemas)
}

function filled(value: Json, schema: FieldSchema | undefined, schemas: FieldSchemas): Json {
  const whole: Json = {}
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    const member = name in value ? value[name] : (defaultOf(field) ?? undefined)
    if (member === undefined) continue
    const inner = resolved(schemas, field)
    whole[name] = inner?.properties !== undefined && isObject(member) ? filled(member, inner, schemas) : member
  }
  return { ...whole, ...Object.fromEntries(Object.entries(value).filter(([name]) => !(name in whole))) }
}
