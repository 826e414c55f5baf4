import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  executionSchema,
  type JobDefinition,
  type JobDefinitionInput,
  jobDefinitionSchema,
  jobStateSchema,
  type StateEntry,
  type StateEntryInput,
} from '../../../schemas/generated.ts'
import { DuelogError } from '../../../src/ground/errors/errors.ts'
import { avroType, fingerprintOf, sharingType } from '../../../src/log/kafka/avro/avro-type.ts'
import { AvroCodec } from '../../../src/log/kafka/avro/codec.ts'

const nobody = async (): Promise<never> => {
  throw new DuelogError('undecodable', 'nobody knows this id')
}
const definitions = new AvroCodec<JobDefinition, JobDefinitionInput>(avroType(jobDefinitionSchema), [7], nobody)
const states = new AvroCodec<StateEntry, StateEntryInput>(avroType(jobStateSchema), [8], nobody)
const minimal: JobDefinitionInput = { schedule: { at: 5 }, target: { handler: 'h' } }
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('a codec', () => {
  test('fills in defaults and gives back what was encoded', async () => {
    const value: JobDefinitionInput = {
      schedule: { cron: '0 9 * * *', timezone: 'Europe/Paris' },
      target: { handler: 'send', pool: 'mail' },
      payload: Buffer.from([0, 1, 255]),
      headers: { trace: Buffer.from('abc') },
      priority: 'HIGH',
      retry: { maxAttempts: 3, backoff: { exponential: { baseMs: 10 } } },
      tags: ['a', 'ü'],
    }
    const decoded = (await definitions.decode(definitions.encode(value))) as JobDefinition
    expect(decoded).toMatchObject({ ...value, retry: { maxAttempts: 3, jitter: 0 } })
    expect(decoded.retry.backoff.exponential).toMatchObject({ baseMs: 10, factor: 2, maxMs: 3_600_000 })
    expect(decoded.leaseMs).toBe(30_000)
    expect(definitions.encode(decoded)).toEqual(definitions.encode(value))
  })

  test('writes the Confluent header: 00, then the schema id', () => {
    expect([...definitions.encode(minimal).subarray(0, 5)]).toEqual([0, 0, 0, 0, 7])
  })

  test('decodes at once what it wrote itself', () => {
    expect(definitions.decode(definitions.encode(minimal))).not.toBeInstanceOf(Promise)
  })

  test('grows for large values, and its results do not share memory with later ones', () => {
    const large = { ...minimal, payload: Buffer.alloc(3_000_000, 'x') }
    const first = definitions.encode(minimal)
    const copy = Buffer.from(first)
    expect(definitions.encode(large).length).toBeGreaterThan(3_000_000)
    definitions.encode({ ...minimal, payload: Buffer.alloc(5_000, 'y') })
    expect(first).toEqual(copy)
    expect((definitions.decode(definitions.encode(large)) as JobDefinition).payload).toHaveLength(3_000_000)
  })

  test('shares a long payload with its record if asked to, copies a short one, and never reads beyond the end', () => {
    const sharing = new AvroCodec<JobDefinition, JobDefinitionInput>(sharingType(jobDefinitionSchema), [7], nobody)
    for (const [length, isShared] of [
      [100, false],
      [500_000, true],
    ] as const) {
      // Not of the pool of Buffer.
      const bytes = Buffer.from(new Uint8Array(definitions.encode({ ...minimal, payload: Buffer.alloc(length, 'x') })).buffer)
      const decoded = sharing.decode(bytes) as JobDefinition
      expect(decoded).toEqual(definitions.decode(bytes))
      expect(decoded.payload?.buffer === bytes.buffer).toBe(isShared)
      expect(definitions.encode(decoded)).toEqual(bytes)
      for (const cut of [1, 50, length])
        expect(() => sharing.decode(bytes.subarray(0, -cut))).toThrow('not a duelog.JobDefinition')
    }
  })

  test('names the wrong fields of a value that does not fit', () => {
    const wrong = { schedule: { at: 'soon' }, target: { handler: 'h' }, tags: 'x' } as unknown as JobDefinitionInput
    const encode = (): unknown => definitions.encode(wrong)
    expect(encode).toThrow(expect.objectContaining({ code: 'encode-failed' }))
    expect(encode).toThrow(/schedule\.at.*soon/)
    expect(encode).toThrow(/tags/)
  })

  test('refuses a number that is not whole or not safe as a long', () => {
    for (const at of [1.5, 2 ** 53, Number.NaN])
      expect(() => definitions.encode({ ...minimal, schedule: { at } })).toThrow(
        expect.objectContaining({ code: 'encode-failed' }),
      )
  })

  test('refuses bytes that are no record: too short, wrong magic, cut off, or too long', () => {
    const good = definitions.encode(minimal)
    const bad = [
      Buffer.alloc(0),
      Buffer.from('hello, world'),
      good.subarray(0, 4),
      good.subarray(0, 5),
      good.subarray(0, good.length - 1),
      Buffer.concat([good, Buffer.from([0])]),
    ]
    for (const bytes of bad) expect(() => definitions.decode(bytes)).toThrow(expect.objectContaining({ code: 'undecodable' }))
  })

  test('never hangs, and fails only in the known way, on any bytes after a valid header', () => {
    const header = Buffer.from([0, 0, 0, 0, 7])
    const stateHeader = Buffer.from([0, 0, 0, 0, 8])
    const seed = definitions.encode({ ...minimal, tags: ['a'], headers: { h: Buffer.from('x') } })
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((tail) => Buffer.concat([header, tail])),
      fc.uint8Array({ maxLength: 60 }).map((tail) => Buffer.concat([stateHeader, tail])),
      fc
        .tuple(fc.integer({ min: 5, max: seed.length - 1 }), fc.uint8Array({ minLength: 1, maxLength: 9 }))
        .map(([at, poison]) => {
          const broken = Buffer.concat([seed, Buffer.alloc(9)])
          broken.set(poison, at)
          return broken
        }),
    )
    fc.assert(
      fc.property(bytes, (poison) => {
        const codec = poison[4] === 8 ? states : definitions
        try {
          codec.decode(poison)
        } catch (error) {
          expect(error).toMatchObject({ code: 'undecodable' })
        }
      }),
      { numRuns: 5_000 },
    )
  })

  test('refuses an array or map that claims more items than there are bytes', () => {
    const list = avroType({ type: 'record', name: 'L', fields: [{ name: 'l', type: { type: 'array', items: 'long' } }] })
    const map = avroType({ type: 'record', name: 'M', fields: [{ name: 'm', type: { type: 'map', values: 'bytes' } }] })
    const claim = Buffer.from([0, 0, 0, 0, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 2, 2])
    for (const type of [list, map])
      expect(() => new AvroCodec(type, [1], nobody).decode(claim)).toThrow(expect.objectContaining({ code: 'undecodable' }))
  })
})

describe('schema evolution', () => {
  const older = {
    type: 'record',
    name: 'Thing',
    namespace: 'duelog',
    fields: [
      { name: 'id', type: 'string' },
      { name: 'gone', type: { type: 'array', items: 'string' }, default: [] },
      { name: 'size', type: 'int', default: 1 },
    ],
  }
  const newer = {
    type: 'record',
    name: 'Thing',
    namespace: 'duelog',
    fields: [
      { name: 'id', type: 'string' },
      { name: 'size', type: 'long', default: 1 },
      { name: 'added', type: ['null', 'string'], default: null },
      { name: 'tags', type: { type: 'map', values: 'string' }, default: {} },
    ],
  }
  const oldOne = { ...older, fields: older.fields }
  const lookup = (asked: number[]) => async (id: number) => {
    asked.push(id)
    if (id === 1) return avroType(older)
    if (id === 2) return avroType(newer)
    if (id === 3)
      return avroType({ type: 'record', name: 'Thing', namespace: 'duelog', fields: [{ name: 'other', type: 'long' }] })
    return nobody()
  }

  test('reads what an older writer wrote: added fields have their defaults, removed ones are skipped', async () => {
    const asked: number[] = []
    const writer = new AvroCodec<object>(avroType(older), [1], nobody)
    const reader = new AvroCodec<object>(avroType(newer), [2], lookup(asked))
    const bytes = writer.encode({ id: 'x', gone: ['a', 'b'], size: 7 })
    expect(plain(await reader.decode(bytes))).toEqual({ id: 'x', size: 7, added: null, tags: {} })
    // The second time, the schema is cached.
    expect(plain(reader.decode(bytes))).toEqual({ id: 'x', size: 7, added: null, tags: {} })
    expect(asked).toEqual([1])
  })

  test('reads what a newer writer wrote with an older reader', async () => {
    const compatible = {
      ...oldOne,
      fields: oldOne.fields.map((field) => (field.name === 'size' ? { ...field, type: 'long' } : field)),
    }
    const writer = new AvroCodec<object>(avroType(newer), [2], nobody)
    const reader = new AvroCodec<object>(avroType(compatible), [9], lookup([]))
    const bytes = writer.encode({ id: 'x', size: 7, added: 'new', tags: { a: 'b' } })
    expect(plain(await reader.decode(bytes))).toEqual({ id: 'x', gone: [], size: 7 })
  })

  test('refuses what a writer of an incompatible schema wrote, and an id that nobody knows', async () => {
    const reader = new AvroCodec<object>(avroType(newer), [2], lookup([]))
    const foreign = Buffer.from([0, 0, 0, 0, 3, 2])
    await expect(reader.decode(foreign)).rejects.toMatchObject({ code: 'undecodable' })
    expect(() => reader.decode(foreign)).toThrow(expect.objectContaining({ code: 'undecodable' }))
    await expect(reader.decode(Buffer.from([0, 0, 0, 0, 99, 2]))).rejects.toMatchObject({ code: 'undecodable' })
  })

  test('tries again after the registry was unreachable', async () => {
    let down = true
    const reader = new AvroCodec<object>(avroType(newer), [2], async () => {
      if (down) throw new DuelogError('registry-unavailable', 'down')
      return avroType(older)
    })
    const bytes = new AvroCodec<object>(avroType(older), [1], nobody).encode({ id: 'x' })
    await expect(reader.decode(bytes)).rejects.toMatchObject({ code: 'registry-unavailable' })
    down = false
    expect(plain(await reader.decode(bytes))).toMatchObject({ id: 'x', size: 1 })
  })

  test('gives schemas of the same bytes the same fingerprint', () => {
    expect(fingerprintOf(avroType(executionSchema))).toBe(fingerprintOf(avroType({ ...executionSchema, doc: 'other words' })))
    expect(fingerprintOf(avroType(older))).not.toBe(fingerprintOf(avroType(newer)))
  })
})
