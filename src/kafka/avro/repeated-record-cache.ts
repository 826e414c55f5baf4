/**
 * Decoder for Avro records that mostly end like an earlier one. The cache keeps those endings. An Avro value marks its own end,
 * so bytes that begin like the bytes of a cached value are that value. One comparison replaces the reading of all its fields.
 * Nested values are shared and frozen, not recreated for each record.
 *
 * Most definitions of a flood differ only in time and payload. Decoded field by field, each cost 1.7 µs and about 40 objects.
 */
import avro, { type Schema, type Type } from 'avsc'
import { guardedTypes } from './avro-type.ts'

interface Tap {
  buf: Buffer
  pos: number
  readLong(): number
}
interface Field {
  readonly name: string
  readonly type: { _read(tap: Tap): unknown }
}
type Value = Record<string, unknown>
type RecordConstructor = new (schema: unknown, options: unknown) => Type & { readonly fields: readonly Field[] }

/** The end of a record, as it was decoded before. */
interface Known {
  bytes: Buffer
  /** All fields in order; those before the end are null. Frozen, except for the contents of buffers. */
  template: Readonly<Value>
}

/** Cached ends of a type. The least recently used one is evicted. */
const knownMax = 8
/** A longer end is decoded each time. */
const knownBytesMax = 512
/** This many unknown ends in a row are cached at once. After that one in this many: caching costs more than reading. */
const missesMax = 16
const missesStep = 64

/** Longer byte fields are views of the record, not copies: a caller that keeps a definition keeps its record too. */
const copiedBytesMax = 4_096

const RecordType = avro.types.RecordType as unknown as RecordConstructor

/** `from`: for each record name, the first field of the compared end. */
export function repeatedRecordType(schema: unknown, from: Readonly<Record<string, string>>): Type {
  const typeHook = (part: Schema, options: unknown): Type | undefined => {
    const { type, name } = part as { type?: unknown; name?: string }
    if ((part as unknown) === 'bytes' || type === 'bytes') return new SharedBytes()
    const first = type === 'record' && name !== undefined ? from[name] : undefined
    return first === undefined ? guardedTypes(part, options) : new (alikeRecord(first))(part, options)
  }
  return avro.Type.forSchema(schema as Schema, { typeHook })
}

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

function alikeRecord(first: string): RecordConstructor {
  return class extends RecordType {
    /** Called once, by avsc's constructor. */
    _createReader(): (tap: Tap) => Value {
      const count = this.fields.findIndex(({ name }) => name === first)
      if (count < 0) throw new Error(`Record ${this.name} has no field ${first}.`)
      return reader(this.fields.slice(0, count), this.fields.slice(count))
    }
  }
}

function reader(head: readonly Field[], end: readonly Field[]): (tap: Tap) => Value {
  const blank: Value = {}
  for (const { name } of [...head, ...end]) blank[name] = null
  const ends = new KnownEnds(blank, end)
  return (tap) => {
    // The end that was met last. Usually it is also the next one.
    const value: Value = head.length === 0 ? blank : { ...ends.last }
    for (const { name, type } of head) value[name] = type._read(tap)
    const template = ends.find(tap)
    if (template !== undefined && head.length === 0) return template
    if (template === undefined) return ends.read(tap, head.length === 0 ? { ...blank } : value)
    if (template !== ends.filled) for (const { name } of end) value[name] = template[name]
    return value
  }
}

class KnownEnds {
  readonly #blank: Readonly<Value>
  readonly #fields: readonly Field[]
  readonly #known: Known[] = []
  #misses = 0
  /** The result of the last check of `last`. */
  filled: Readonly<Value>

  constructor(blank: Readonly<Value>, fields: readonly Field[]) {
    this.#blank = blank
    this.#fields = fields
    this.filled = blank
  }

  get last(): Readonly<Value> {
    this.filled = this.#known[0]?.template ?? this.#blank
    return this.filled
  }

  /** Moves past the end that begins here, if it is cached. */
  find(tap: Tap): Readonly<Value> | undefined {
    for (let at = 0; at < this.#known.length; at++) {
      const known = this.#known[at] as Known
      if (!begins(tap, known.bytes)) continue
      tap.pos += known.bytes.length
      this.#misses = 0
      if (at > 0) {
        this.#known.splice(at, 1)
        this.#known.unshift(known)
      }
      return known.template
    }
    return undefined
  }

  /** Decodes the end into a value of all fields. */
  read(tap: Tap, value: Value): Value {
    const from = tap.pos
    for (const { name, type } of this.#fields) value[name] = type._read(tap)
    this.#misses++
    const readable = tap.pos <= tap.buf.length && tap.pos - from <= knownBytesMax
    if (readable && (this.#misses <= missesMax || this.#misses % missesStep === 0)) this.#remember(tap, from, value)
    return value
  }

  #remember(tap: Tap, from: number, value: Value): void {
    const template = { ...this.#blank }
    for (const { name } of this.#fields) template[name] = frozen(value[name])
    this.#known.unshift({ bytes: Buffer.from(tap.buf.subarray(from, tap.pos)), template: Object.freeze(template) })
    if (this.#known.length > knownMax) this.#known.pop()
  }
}

function begins({ buf, pos }: Tap, bytes: Buffer): boolean {
  const { length } = bytes
  if (length > buf.length - pos) return false
  for (let at = 0; at < length; at++) if (buf[pos + at] !== bytes[at]) return false
  return true
}

function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}
