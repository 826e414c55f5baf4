/** Tables of the fields of a record, nested ones included, from its Avro schema. */
import { type AvroField, type AvroRecord, type Names, type Shape, shapeOf } from '../../schemas/avro-schema.ts'
import { code, numberText, table } from './markdown.ts'

export interface FieldFacts {
  /** `retry.backoff.fixed.delayMs`. */
  path: string
  type: string
  unit: string
  /** As JSON; undefined: the field is required. */
  defaultText: string | undefined
  limit: string
  doc: string
}

/** Every field in the order of the schema. The line of a record comes before those of its fields. */
export function fieldsOf(schema: AvroRecord): FieldFacts[] {
  return recordFields(schema, '', new Map())
}

function recordFields(record: AvroRecord, base: string, names: Names): FieldFacts[] {
  names.set(record.name, record)
  return record.fields.flatMap((field) => {
    const shape = shapeOf(field.type, names)
    const path = `${base}${field.name}`
    const own: FieldFacts = {
      path,
      type: typeOf(shape, names),
      unit: field.unit ?? '',
      defaultText: 'default' in field ? JSON.stringify(field.default) : undefined,
      limit: limitOf(field, shape),
      doc: field.doc ?? '',
    }
    const inner = innerRecord(shape, names)
    return inner === undefined ? [own] : [own, ...recordFields(inner.record, `${path}${inner.mark}.`, names)]
  })
}

function innerRecord(shape: Shape, names: Names): { record: AvroRecord; mark: string } | undefined {
  if (shape.kind === 'record') return { record: shape.record, mark: '' }
  if (shape.kind !== 'array') return undefined
  const items = shapeOf(shape.items, names)
  return items.kind === 'record' ? { record: items.record, mark: '[]' } : undefined
}

function typeOf(shape: Shape, names: Names): string {
  const text = ((): string => {
    switch (shape.kind) {
      case 'enum':
        return shape.symbols.map(code).join(' ')
      case 'record':
        return 'object'
      case 'array':
        return `array of ${typeOf(shapeOf(shape.items, names), names)}`
      case 'map':
        return `map of ${typeOf(shapeOf(shape.items, names), names)}`
      default:
        return shape.kind
    }
  })()
  return shape.nullable ? `${text} or null` : text
}

function limitOf(field: AvroField, shape: Shape): string {
  const { minimum, maximum, minLength, maxLength, pattern, maxBytes, maxEntries } = field
  const each = shape.kind === 'array' || shape.kind === 'map' ? ' each' : ''
  const limits: string[] = []
  if (maxEntries !== undefined) limits.push(`at most ${numberText(maxEntries)} entries`)
  if (minimum !== undefined || maximum !== undefined) limits.push(`${rangeText(minimum, maximum)}${each}`)
  if (maxLength !== undefined) limits.push(`${minLength ?? 0} to ${numberText(maxLength)} characters${each}`)
  if (maxBytes !== undefined) limits.push(`at most ${numberText(maxBytes)} bytes`)
  if (pattern !== undefined) limits.push(code(pattern))
  return limits.join('; ')
}

function rangeText(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum === undefined) return `at most ${numberText(maximum ?? 0)}`
  return maximum === undefined ? `at least ${numberText(minimum)}` : `${numberText(minimum)} to ${numberText(maximum)}`
}

export function fieldTable(schema: AvroRecord): string {
  const rows = fieldsOf(schema).map(({ path, type, unit, defaultText, limit, doc }) => [
    code(path),
    unit === '' ? type : `${type}, ${unit}`,
    defaultText === undefined ? '**required**' : code(defaultText),
    limit,
    doc,
  ])
  return table(['Field', 'Type, unit', 'Default', 'Limit', 'Meaning'], rows)
}
