/**
 * The parts of an .avsc file that Duelog uses, and the type of a field as one of a few shapes: null and named types are resolved.
 */
export interface AvroField {
  readonly name: string
  readonly type: unknown
  readonly default?: unknown
  readonly unit?: string
  readonly doc?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly maxBytes?: number
  readonly maxEntries?: number
}

export interface AvroRecord {
  readonly type: 'record'
  readonly name: string
  readonly fields: readonly AvroField[]
}

/** Finds a field of a record, for example to read its limits. Throws for a name that the schema does not have. */
export function fieldOf(schema: Pick<AvroRecord, 'fields'>, name: string): AvroField {
  const field = schema.fields.find((candidate) => candidate.name === name)
  if (field === undefined) throw new Error(`The schema has no field ${name}; whoever reads its limits has to change with it.`)
  return field
}

interface AvroEnum {
  readonly type: 'enum'
  readonly name: string
  readonly symbols: readonly string[]
}

export type Primitive = 'string' | 'bytes' | 'int' | 'long' | 'double' | 'boolean'

/** The shape of a value of one Avro type. */
export type Shape =
  | { kind: Primitive; nullable: boolean }
  | { kind: 'enum'; nullable: boolean; symbols: readonly string[] }
  | { kind: 'record'; nullable: boolean; record: AvroRecord }
  | { kind: 'array' | 'map'; nullable: boolean; items: unknown }

/** The named types read so far. An .avsc file writes a type in full once, and later uses its name. */
export type Names = Map<string, AvroRecord | AvroEnum>

const primitives: readonly string[] = ['string', 'bytes', 'int', 'long', 'double', 'boolean']

/** Throws for a shape that our schemas do not use, so that a new shape is noticed when the program loads. */
export function shapeOf(type: unknown, names: Names): Shape {
  if (Array.isArray(type)) {
    const branches = type.filter((branch) => branch !== 'null')
    if (branches.length !== 1) throw new Error(`A union of null and one type is expected, not ${JSON.stringify(type)}.`)
    return { ...shapeOf(branches[0], names), nullable: true }
  }
  if (typeof type === 'string') {
    if (primitives.includes(type)) return { kind: type as Primitive, nullable: false }
    const named = names.get(type)
    if (named === undefined) throw new Error(`The type ${type} is used before it is defined.`)
    return shapeOf(named, names)
  }
  const complex = type as { type: string; items?: unknown; values?: unknown }
  switch (complex.type) {
    case 'record': {
      const record = type as AvroRecord
      names.set(record.name, record)
      return { kind: 'record', nullable: false, record }
    }
    case 'enum': {
      const symbols = type as AvroEnum
      names.set(symbols.name, symbols)
      return { kind: 'enum', nullable: false, symbols: symbols.symbols }
    }
    case 'array':
      return { kind: 'array', nullable: false, items: complex.items }
    case 'map':
      return { kind: 'map', nullable: false, items: complex.values }
    default:
      return shapeOf(complex.type, names)
  }
}
