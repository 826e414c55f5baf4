/** Avro types that are safe to feed with untrusted bytes. */
import avro, { type Schema, type Type } from 'avsc'

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

/** Equal for schemas with the same encoding. */
export const fingerprintOf = (type: Type): string => type.fingerprint('sha256').toString('hex')
