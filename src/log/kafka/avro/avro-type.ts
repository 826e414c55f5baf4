/**
 * Avro types that are safe to feed with untrusted bytes, also those of schemas that others registered. Any writer to a topic can name any
 * schema in a record. So a schema is accepted only if reading by it always ends: values that take no bytes, or lie beyond the last byte,
 * are limited before the first record is read.
 */
import avro, { type Schema, type Type } from 'avsc'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import type { SchemaTexts } from './subjects.ts'

/** The part of avsc's byte cursor that the guard needs. avsc does not publish its type. */
interface Tap {
  buf: Buffer
  pos: number
  readLong(): number
  readString(): string
  skipLong(): void
  skipString(): void
}
interface Item {
  _read(tap: Tap): unknown
  _skip(tap: Tap): void
}
/** avsc's constructors with the schema parameter that its type declarations leave out. */
type Constructor = new (schema: unknown, options: unknown) => Type & { readonly itemsType: unknown; readonly valuesType: unknown }

const ArrayType = avro.types.ArrayType as unknown as Constructor
const MapType = avro.types.MapType as unknown as Constructor

/**
 * Item count of the next block of an array or map. avsc trusts any count and would loop 2^53 times over eight broken bytes. Here
 * at least one byte must be left for each item.
 */
function blockSize(tap: Tap): number {
  let size = tap.readLong()
  if (size < 0) {
    size = -size
    tap.skipLong()
  }
  if (!(size <= tap.buf.length - tap.pos)) throw new Error(`a block claims ${size} items, more than there are bytes`)
  return size
}

/**
 * Reads each item of all blocks. avsc reads past the end of the bytes, and an item may take no bytes at all. A block of a few
 * bytes could then cost its whole count in steps, and a record can hold many such blocks. Both cases throw here.
 */
function eachItem(tap: Tap, item: () => void): void {
  for (let size = blockSize(tap); size > 0; size = blockSize(tap)) {
    const from = tap.pos
    for (let index = 0; index < size; index++) {
      item()
      if (tap.pos > tap.buf.length) throw new Error('a block ends before its items')
    }
    if (tap.pos - from < size) throw new Error(`a block has ${size} items in ${tap.pos - from} bytes`)
  }
}

class GuardedArray extends ArrayType {
  _read(tap: Tap): unknown[] {
    const items = this.itemsType as Item
    const value: unknown[] = []
    eachItem(tap, () => value.push(items._read(tap)))
    return value
  }
  _skip(tap: Tap): void {
    const items = this.itemsType as Item
    eachItem(tap, () => items._skip(tap))
  }
}

class GuardedMap extends MapType {
  _read(tap: Tap): Record<string, unknown> {
    const values = this.valuesType as Item
    const value: Record<string, unknown> = {}
    eachItem(tap, () => {
      const key = tap.readString()
      // A key is only a name, so `__proto__` must not change the prototype.
      if (key === '__proto__') Object.defineProperty(value, key, { ...ordinary, value: values._read(tap) })
      else value[key] = values._read(tap)
    })
    return value
  }
  _skip(tap: Tap): void {
    const values = this.valuesType as Item
    eachItem(tap, () => {
      tap.skipString()
      values._skip(tap)
    })
  }
}

const ordinary = { configurable: true, enumerable: true, writable: true } as const

/** Adds the guards to every array and map type that avsc creates with it. */
export function guardedTypes(schema: Schema, options: unknown): Type | undefined {
  const kind = (schema as { type?: unknown } | null)?.type
  if (kind === 'array') return new GuardedArray(schema, options)
  if (kind === 'map') return new GuardedMap(schema, options)
  return undefined
}

export function avroType(schema: unknown): Type {
  return avro.Type.forSchema(schema as Schema, { typeHook: guardedTypes })
}

/** Longer byte fields are then views of the record, not copies: a caller that keeps a value keeps its record too. */
const copiedBytesMax = 4_096

class SharedBytes extends (avro.types.BytesType as unknown as new () => Type) {
  _read(tap: Tap): Buffer {
    const length = tap.readLong()
    const from = tap.pos
    // Beyond the end of the bytes, also through a negative length: the value counts as truncated.
    tap.pos = length >= 0 ? from + length : tap.buf.length + 1
    const bytes = tap.buf.subarray(from, tap.pos)
    return length > copiedBytesMax ? bytes : Buffer.from(bytes)
  }
}

/** Like avroType, but long byte fields are not copied: the payload of a definition may have half a megabyte. */
export const sharingType = (schema: unknown): Type =>
  avro.Type.forSchema(schema as Schema, {
    typeHook: (part: Schema, options: unknown) =>
      part === 'bytes' || (part as { type?: unknown }).type === 'bytes' ? new SharedBytes() : guardedTypes(part, options),
  })

/** Equal for schemas with the same encoding. */
export const fingerprintOf = (type: Type): string => type.fingerprint('sha256').toString('hex')

/** Characters of a schema together with its references. */
export const schemaCharsMax = 200_000
/** Types written out in it, and records among them: avsc generates code for each. */
export const schemaTypesMax = 4_000
export const schemaRecordsMax = 200
/** Values that one value always contains: for nested records it is the product of their field counts. */
export const fixedReadsMax = 2_000
/** Of these, values that take no bytes. */
export const emptyReadsMax = 4

interface AvroType {
  readonly typeName: string
  readonly fields?: readonly { readonly type: AvroType }[]
  readonly types?: readonly AvroType[]
  readonly itemsType?: AvroType
  readonly valuesType?: AvroType
  readonly underlyingType?: AvroType
}

/** `texts`: the references of the last one come before it. Throws with the reason if the schema cannot be accepted. */
export function foreignType(texts: readonly string[]): Type {
  const chars = texts.reduce((sum, text) => sum + text.length, 0)
  if (chars > schemaCharsMax) throw new Error(`it has ${chars} characters; at most ${schemaCharsMax}`)
  let types = 0
  let records = 0
  const options = {
    registry: {},
    typeHook: (schema: Schema, given: unknown): Type | undefined => {
      if (++types > schemaTypesMax) throw new Error(`it has more than ${schemaTypesMax} types`)
      const { type } = (schema ?? {}) as { type?: unknown }
      if ((type === 'record' || type === 'error') && ++records > schemaRecordsMax)
        throw new Error(`it has more than ${schemaRecordsMax} records`)
      return guardedTypes(schema, given)
    },
  }
  const type = texts.map((text) => avro.Type.forSchema(JSON.parse(text) as Schema, options)).at(-1)
  if (type === undefined) throw new Error('it is empty')
  checkWork(type as unknown as AvroType)
  return type
}

/** Throws UnusableSchema. */
export function usableType(id: number, { format, texts }: SchemaTexts): Type {
  try {
    if (format !== 'AVRO') throw new Error(`it is of the format ${format}`)
    return foreignType(texts)
  } catch (thrown) {
    throw new UnusableSchema(id, thrown)
  }
}

/** No record can be read by this schema. That is permanent, because the schema of an id never changes. */
export class UnusableSchema extends DuelogError {
  constructor(id: number, cause: unknown) {
    const why = messageOf(cause).slice(0, 300)
    super('undecodable', `Nothing is read by the schema with id ${id}: ${why}. Write records with a schema of Duelog.`, { cause })
  }
}

/** A type as text, for another thread; null if nothing can be read by it. */
export async function textOfType(asked: Promise<Type>): Promise<string | null> {
  try {
    return JSON.stringify((await asked).schema({ exportAttrs: true }))
  } catch (error) {
    if (error instanceof UnusableSchema) return null
    throw error
  }
}

/** The type of such a text. Throws UnusableSchema. */
export const typeOfText = (id: number, text: string | null): Type =>
  usableType(id, text === null ? { format: 'another reader', texts: [] } : { format: 'AVRO', texts: [text] })

interface Work {
  reads: number
  empty: number
}

/**
 * Each choice of a union and each item of an array or map takes at least one byte, so each of these is counted
 * from the start. The steps for each byte of a record are then limited.
 */
function checkWork(root: AvroType): void {
  const known = new Map<AvroType, Work | 'open'>()
  const begins = [root]
  const seen = new Set<AvroType>(begins)
  const begin = (type: AvroType): void => {
    if (seen.has(type)) return
    seen.add(type)
    begins.push(type)
  }
  const workOf = (type: AvroType): Work => {
    const before = known.get(type)
    if (before === 'open') throw new Error('a record of it holds itself')
    if (before !== undefined) return before
    known.set(type, 'open')
    const work = { reads: 1, empty: type.typeName === 'null' || type.fields?.length === 0 ? 1 : 0 }
    for (const part of [...(type.fields ?? []).map((field) => field.type), type.underlyingType]) {
      if (part === undefined) continue
      const { reads, empty } = workOf(part)
      work.reads += reads
      work.empty += empty
    }
    for (const part of [...(type.types ?? []), type.itemsType, type.valuesType]) if (part !== undefined) begin(part)
    known.set(type, work)
    return work
  }
  for (const type of begins) {
    const { reads, empty } = workOf(type)
    if (reads > fixedReadsMax) throw new Error(`a value of it always has ${reads} values; at most ${fixedReadsMax}`)
    if (empty > emptyReadsMax) throw new Error(`a value of it has ${empty} values that take no byte; at most ${emptyReadsMax}`)
  }
}
