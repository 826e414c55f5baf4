/**
 * The codec of one record type in the Confluent wire format:
 *
 *   offset 0  1        5
 *          00 id (i32) Avro
 */
import type { Resolver, Type } from 'avsc'
import { counted } from '../../../../streams/text/index.ts'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import type { Codec } from '../../../ground/ports/index.ts'
import { UnusableSchema } from './avro-type.ts'

const headerBytes = 5
/** Largest scratch buffer that is kept. A larger value gets a buffer of its own. */
const scratchBytesMax = 1_048_576

/**
 * Most readings of foreign schemas that a codec keeps, because each has generated code. Beyond that, the oldest one goes first.
 */
const readingsMax = 200

/** Looks up the schema of an id in the registry. Rejects with `undecodable` or `registry-unavailable`. */
export type WriterLookup = (schemaId: number) => Promise<Type>

/** How to read the records of a writer's schema: directly, through a resolver, or not at all. */
type WriterReading = { resolver: Resolver | undefined } | { refused: DuelogError }

export class AvroCodec<Value, Input = Value> implements Codec<Value, Input> {
  readonly #type: Type
  readonly #schemaId: number
  readonly #lookup: WriterLookup
  readonly #readings = new Map<number, WriterReading>()
  /** Number of our own ids, which come first among the readings. */
  readonly #own: number
  #scratch = Buffer.allocUnsafe(4_096)

  /** `schemaIds`: all ids of exactly this schema. The first one is written. */
  constructor(type: Type, schemaIds: readonly number[], lookup: WriterLookup) {
    if (schemaIds[0] === undefined) throw new DuelogError('internal', `No topic of the plan carries a ${type.name}; add one.`)
    this.#type = type
    this.#schemaId = schemaIds[0]
    this.#lookup = lookup
    for (const id of schemaIds) this.#readings.set(id, { resolver: undefined })
    this.#own = this.#readings.size
  }

  encode(value: Input): Buffer {
    let scratch = this.#scratch
    let end: number
    try {
      end = this.#type.encode(value, scratch, headerBytes)
      if (end < 0) {
        // A negative result is the number of missing bytes.
        const needed = scratch.length - end
        scratch = Buffer.allocUnsafe(needed <= scratchBytesMax ? Math.min(2 * needed, scratchBytesMax) : needed)
        if (scratch.length <= scratchBytesMax) this.#scratch = scratch
        end = this.#type.encode(value, scratch, headerBytes)
      }
    } catch (thrown) {
      throw new DuelogError('encode-failed', this.#complaint(value, thrown), { cause: thrown })
    }
    scratch[0] = 0
    scratch.writeInt32BE(this.#schemaId, 1)
    const bytes = Buffer.allocUnsafe(end)
    scratch.copy(bytes, 0, 0, end)
    return bytes
  }

  decode(bytes: Buffer): Value | Promise<Value> {
    if (bytes.length < headerBytes || bytes[0] !== 0) throw this.#undecodable('they do not begin with 00 and a schema id')
    const reading = this.#readings.get(bytes.readInt32BE(1))
    return reading === undefined ? this.#learn(bytes) : this.#read(bytes, reading)
  }

  #read(bytes: Buffer, reading: WriterReading): Value {
    if ('refused' in reading) throw reading.refused
    let result: { value: unknown; offset: number }
    try {
      result = this.#type.decode(bytes, headerBytes, reading.resolver)
    } catch (thrown) {
      throw this.#undecodable(messageOf(thrown), thrown)
    }
    if (result.offset < 0) throw this.#undecodable('they end too early')
    if (result.offset !== bytes.length)
      throw this.#undecodable(`${counted(bytes.length - result.offset, 'byte is', 'bytes are')} left over`)
    return result.value as Value
  }

  async #learn(bytes: Buffer): Promise<Value> {
    const id = bytes.readInt32BE(1)
    const reading = await this.#readingOf(id)
    if (this.#readings.size >= readingsMax + this.#own) {
      const oldest = [...this.#readings.keys()][this.#own]
      this.#readings.delete(oldest as number)
    }
    this.#readings.set(id, reading)
    return this.#read(bytes, reading)
  }

  async #readingOf(id: number): Promise<WriterReading> {
    let writer: Type
    try {
      writer = await this.#lookup(id)
    } catch (thrown) {
      // The refusal is kept, so the registry is asked once and not for each record of a flood.
      if (thrown instanceof UnusableSchema) return { refused: thrown }
      throw thrown
    }
    try {
      return { resolver: this.#type.createResolver(writer) }
    } catch (thrown) {
      return { refused: this.#undecodable(`schema ${id} cannot be read as one: ${messageOf(thrown)}`, thrown) }
    }
  }

  #undecodable(reason: string, cause?: unknown): DuelogError {
    return new DuelogError(
      'undecodable',
      `Bytes are not a ${this.#type.name}: ${reason}. Write them with a schema of the registry.`,
      {
        cause,
      },
    )
  }

  #complaint(value: Input, thrown: unknown): string {
    const wrong: string[] = []
    try {
      this.#type.isValid(value, {
        errorHook: (path: string[], found: unknown, type: Type) =>
          void wrong.push(`${path.join('.') || 'value'} is ${describe(found)}, not ${type.toString().slice(0, 60)}`),
      })
    } catch {
      // The error itself is the message then.
    }
    return `A ${this.#type.name} cannot be encoded: ${wrong.length > 0 ? wrong.slice(0, 10).join('; ') : messageOf(thrown)}.`
  }
}

function describe(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value).slice(0, 60)
  return Array.isArray(value) ? 'an array' : (value.constructor?.name ?? 'an object')
}
