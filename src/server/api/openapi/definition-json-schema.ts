/** The JSON schema of a job definition, made from the Avro schema that validates it, with the same docs, units, defaults and limits. */
import {
  type AvroField,
  type AvroRecord,
  jobDefinitionSchema,
  type Names,
  type Shape,
  shapeOf,
} from '../../../../schemas/index.ts'
import { recordWriter } from '../../../../streams/definitions/index.ts'
import { instantSchema } from '../schemas/index.ts'

type JsonSchema = Record<string, unknown>

const text = { type: 'string' } as const
const base64 = { ...text, contentEncoding: 'base64' } as const
/** Records have their names in the Avro schema; other objects have names here. */
const bytes = {
  title: 'Bytes',
  type: 'object',
  additionalProperties: false,
  required: ['base64'],
  properties: { base64 },
} as const
const textOrBytes = { title: 'TextOrBytes', oneOf: [text, bytes] } as const

const example = {
  id: 'report-7',
  schedule: { cron: '0 9 * * MON-FRI', timezone: 'Europe/Paris' },
  target: { handler: 'log' },
  payload: { to: 'a@example.org' },
}

/** `id` and the payload differ between JSON and Avro: see streams/definitions/definition-json.ts. */
export function definitionJsonSchema(): JsonSchema {
  const { properties, required } = recordSchema(jobDefinitionSchema as AvroRecord, new Map())
  const { payload: _, priorityLevel: number, priority, ...fields } = properties as Record<string, JsonSchema>
  return {
    title: 'JobDefinition',
    type: 'object',
    additionalProperties: false,
    required,
    // Pages that try requests out would fill in "string".
    examples: [example],
    properties: {
      id: { ...text, description: 'Job id. Required in a batch; optional if the path has it.' },
      ...fields,
      priority: wordOrNumber(priority ?? {}, number ?? {}),
      payload: { description: 'Any JSON value. Text if contentType is not JSON.' },
      payloadBase64: { ...base64, description: 'The payload as bytes, instead of payload.' },
    },
  }
}

/**
 * In JSON, one field has the word or the number. Generators of clients make no valid code of a default of two types, and a type with a
 * usable name only of one that has a title.
 */
function wordOrNumber(
  { type, enum: words, default: fallback, ...field }: JsonSchema,
  { minimum, maximum }: JsonSchema,
): JsonSchema {
  return {
    ...field,
    title: 'Priority',
    'x-default': fallback,
    oneOf: [
      { type, enum: words },
      { type: 'integer', minimum, maximum },
    ],
  }
}

function recordSchema(record: AvroRecord, names: Names): JsonSchema {
  names.set(record.name, record)
  const properties = Object.fromEntries(record.fields.map((field) => [field.name, fieldSchema(field, names)]))
  const required = record.fields.filter((field) => !('default' in field)).map((field) => field.name)
  return { title: record.name, type: 'object', additionalProperties: false, required, properties }
}

function fieldSchema(field: AvroField, names: Names): JsonSchema {
  const shape = shapeOf(field.type, names)
  const schema = orNull(shape, shapeSchema(field, shape, names))
  const { doc, unit, default: fallback } = field
  const plain = fallback === null || ['number', 'string', 'boolean'].includes(typeof fallback)
  return {
    ...schema,
    ...(doc === undefined ? {} : { description: unit === undefined ? doc : `${doc} Unit: ${unit}.` }),
    ...('default' in field && plain && shape.kind !== 'bytes' ? { default: fallback } : {}),
    // Generators of clients make no valid code of a default that is an object.
    ...('default' in field && shape.kind === 'record' && !plain ? { 'x-default': jsonDefault(field) } : {}),
  }
}

/** As the JSON of a definition has it: without empty lists and nulls. */
function jsonDefault(field: AvroField): unknown {
  const write = recordWriter({ type: 'record', name: field.name, fields: [field] })
  return write({ [field.name]: field.default })[field.name]
}

function orNull({ nullable }: Shape, schema: JsonSchema): JsonSchema {
  if (!nullable) return schema
  if (schema.enum !== undefined || schema.title !== undefined || schema.type === 'object')
    return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [schema.type, 'null'] }
}

function shapeSchema(field: AvroField, shape: Shape, names: Names): JsonSchema {
  const { minimum, maximum, minLength, maxLength, pattern, maxEntries } = field
  const given = (limits: JsonSchema): JsonSchema =>
    Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
  switch (shape.kind) {
    case 'record':
      return recordSchema(shape.record, names)
    case 'enum':
      return { type: 'string', enum: shape.symbols }
    case 'boolean':
      return { type: 'boolean' }
    case 'long':
      if (field.unit === 'epoch ms') return instantSchema
      return { type: 'integer', ...given({ minimum, maximum }) }
    case 'int':
      return { type: 'integer', ...given({ minimum, maximum }) }
    case 'double':
      return { type: 'number', ...given({ minimum, maximum }) }
    case 'bytes':
      return textOrBytes
    case 'string':
      return { type: 'string', ...given({ minLength, maxLength, pattern }) }
    // Limits of lists and maps are those of their entries, except maxEntries.
    case 'array':
      return {
        type: 'array',
        items: shapeSchema(field, shapeOf(shape.items, names), names),
        ...given({ maxItems: maxEntries }),
      }
    case 'map':
      return {
        type: 'object',
        additionalProperties: shapeSchema(field, shapeOf(shape.items, names), names),
        ...given({ maxProperties: maxEntries }),
      }
  }
}
