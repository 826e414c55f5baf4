/** The defaults of the schema: they fill absent fields, and fields that say the same are left out. */
import {
  type AvroRecord,
  type JobCommand,
  type JobCommandInput,
  type JobDefinition,
  type JobDefinitionInput,
  jobCommandSchema,
  jobDefinitionSchema,
  type Names,
  type Shape,
  shapeOf,
} from '../../schemas/index.ts'
import { jsonType } from '../text/index.ts'
import { isObject, recordWriter } from './record-json.ts'

type Complete = (value: unknown) => unknown

/**
 * Returns a function that completes a record as an Avro reader would see it. Fields that are absent or undefined get their default, at
 * every depth; each default is a fresh copy. Fields without a default stay absent, and fields that the schema does not know are removed.
 */
export function completer(schema: AvroRecord): (value: unknown) => unknown {
  return recordCompleter(schema, new Map())
}

function recordCompleter(record: AvroRecord, names: Names): Complete {
  names.set(record.name, record)
  const fields = record.fields.map((field) => ({
    name: field.name,
    complete: shapeCompleter(shapeOf(field.type, names), names),
    hasDefault: 'default' in field,
    fallback: field.default,
  }))
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) return value
    const result: Record<string, unknown> = {}
    for (const { name, complete, hasDefault, fallback } of fields) {
      const given = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
      if (given !== undefined) result[name] = complete(given)
      else if (hasDefault) result[name] = copyOf(fallback)
    }
    return result
  }
}

/** structuredClone gives the same for JSON values, but takes 1 µs even for null. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  const copy: Record<string, unknown> = {}
  for (const name in value) copy[name] = copyOf((value as Record<string, unknown>)[name])
  return copy
}

const asGiven: Complete = (value) => value

function shapeCompleter(shape: Shape, names: Names): Complete {
  if (shape.kind === 'record') return recordCompleter(shape.record, names)
  if (shape.kind !== 'array') return asGiven
  const completeItem = shapeCompleter(shapeOf(shape.items, names), names)
  return completeItem === asGiven ? asGiven : (value) => (Array.isArray(value) ? value.map(completeItem) : value)
}

const complete = completer(jobDefinitionSchema)
const completeCommandRecord = completer(jobCommandSchema)

/** The definition with every default filled in. Limits are checked by streams/definitions/validate.ts, not here. */
export function completeDefinition(input: JobDefinitionInput): JobDefinition {
  return complete(input) as JobDefinition
}

/** The command with every default filled in. */
export function completeCommand(input: JobCommandInput): JobCommand {
  return completeCommandRecord(input) as JobCommand
}

type Json = Record<string, unknown>
type Cut = (json: Json) => Json

/** The JSON of a definition without the fields that have their default. A reader makes the same definition of it. */
export function withoutDefaults(definition: object): Json {
  const { contentType, ...json } = cut(definition as Json)
  // A reader gives a payload this media type if there is none.
  const isUsual = contentType === undefined || (contentType === jsonType && json.payload !== undefined)
  return isUsual ? json : { ...json, contentType }
}

const cut = cutterOf(jobDefinitionSchema, new Map())

function cutterOf(record: AvroRecord, names: Names): Cut {
  names.set(record.name, record)
  const fields = new Map(
    record.fields.map((field) => {
      const shape: Shape = shapeOf(field.type, names)
      const write = recordWriter({ ...record, fields: [field] })
      const usual = 'default' in field ? JSON.stringify(write({ [field.name]: field.default })[field.name]) : undefined
      return [
        field.name as string,
        { usual, inner: shape.kind === 'record' ? cutterOf(shape.record, names) : undefined },
      ] as const
    }),
  )
  return (json) => {
    const kept: Json = {}
    for (const [name, value] of Object.entries(json)) {
      const { usual, inner } = fields.get(name) ?? {}
      if (usual !== undefined && JSON.stringify(value) === usual) continue
      // Which of several fields is set must stay visible.
      kept[name] = inner !== undefined && isObject(value) ? inner(value) : value
    }
    return kept
  }
}
