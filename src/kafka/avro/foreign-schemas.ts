/**
 * Types of schemas that others registered. Whoever may write to a topic may name any of them in a record, so a schema is taken only if
 * reading by it ends: what is read without a byte, or behind the last one, has limits that are checked before the first record is read.
 */
import avro, { type Schema, type Type } from 'avsc'
import { DuelogError, messageOf } from '../../errors/index.ts'
import { guardedTypes } from './avro-type.ts'
import type { SchemaTexts } from './subjects.ts'

/** Characters of a schema and of those that it refers to. */
export const schemaCharsMax = 200_000
/** Types that are written out in it, and records among them: for each of these avsc makes code. */
export const schemaTypesMax = 4_000
export const schemaRecordsMax = 200
/** Values that one value has always: a record in a record in a record has the product of their fields. */
export const fixedReadsMax = 2_000
/** Of these, values that take no byte. */
export const emptyReadsMax = 4

interface AvroType {
  readonly typeName: string
  readonly fields?: readonly { readonly type: AvroType }[]
  readonly types?: readonly AvroType[]
  readonly itemsType?: AvroType
  readonly valuesType?: AvroType
  readonly underlyingType?: AvroType
}

/** `texts`: what the last one refers to comes before it. Throws with the reason where it cannot be taken. */
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

/** No record can be read by this schema, and that stays so: what an id stands for never changes. */
export class UnusableSchema extends DuelogError {
  constructor(id: number, cause: unknown) {
    const why = messageOf(cause).slice(0, 300)
    super('undecodable', `Nothing is read by the schema with id ${id}: ${why}. Write records with a schema of Duelog.`, { cause })
  }
}

interface Work {
  reads: number
  empty: number
}

/**
 * What a union chooses, and what an array or a map holds, is paid for by a byte of its own (avro-type.ts), so each of these begins anew. Reading
 * then costs at most so many steps for each byte of a record.
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
