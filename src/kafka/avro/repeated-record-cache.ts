/**
 * Avro records of which most are, from some field on, what one before them was. A value in Avro ends where its own bytes say so, hence
 * bytes that begin as those of a known value are that value: one comparison stands for the reading of all its fields, and what lies
 * deeper is shared, and frozen, in place of being made anew for each record.
 *
 * Of a flood of definitions few differ in more than time and payload. Read field by field, each cost 1.7 µs and some 40 objects.
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

/** The end of a record that was seen before. */
interface Known {
  bytes: Buffer
  /** All fields in their order; those before the end are null. Frozen, but for what is in buffers. */
  template: Readonly<Value>
}

/** Ends that are remembered of a type; of those the one that was met least recently gives way. */
const knownMax = 8
/** A longer end is read each time. */
const knownBytesMax = 512
/** So many unknown ends in a row are remembered at once; after that, one in so many: remembering costs more than reading. */
const missesMax = 16
const missesStep = 64

/** Longer bytes are a part of what they are read from, and not a copy: whoever keeps a definition keeps its record too. */
const copiedBytesMax = 4_096

const RecordType = avro.types.RecordType as unknown as RecordConstructor

/** `from`: by the name of a record, the field from which on it is compared. */
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
    // Beyond the end, also by a length below nothing: the value counts as one that ends too early.
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
    // Filled with the end that was met last, which is mostly the one that follows.
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
  /** What `last` was when it was asked for last. */
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

  /** Moves on behind the end that begins here, if it is known. */
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

  /** Reads the end into a value of all fields. */
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
