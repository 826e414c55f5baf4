import type { Type } from 'avsc'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type JobDefinitionInput, jobDefinitionSchema } from '../../../schemas/generated.ts'
import { avroType, fingerprintOf } from '../../../src/kafka/avro/avro-type.ts'
import { repeatedRecordType } from '../../../src/kafka/avro/repeated-record-cache.ts'

const from = { JobDefinition: 'contentType', Schedule: 'everyMs', Target: 'handler', Retry: 'maxAttempts' }
const plainType = avroType(jobDefinitionSchema)
const copyOf = (value: unknown): unknown => (value === undefined ? undefined : plainType.toString(value))

/** The result of a reader: the value, how far it read, or that it threw. */
function outcome(type: Type, bytes: Buffer): unknown {
  try {
    const { value, offset } = type.decode(bytes, 0) as { value: unknown; offset: number }
    return offset < 0 ? 'ends too early' : { value: copyOf(value), offset }
  } catch (error) {
    return String(error)
  }
}

const definition = fc.record({
  schedule: fc.oneof(
    fc.record({ at: fc.nat() }),
    fc.record({ delayMs: fc.nat() }),
    fc.record({ cron: fc.constantFrom('* * * * *', '@daily'), timezone: fc.constantFrom('UTC', 'Europe/Paris') }),
    fc.record({ rrule: fc.constant('FREQ=DAILY'), exdates: fc.array(fc.nat(), { maxLength: 3 }) }),
  ),
  target: fc.record({ handler: fc.constantFrom('a', 'b'), pool: fc.constantFrom('default', 'mail') }),
  payload: fc.option(fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes))),
  contentType: fc.constantFrom(null, 'text/plain', 'application/json'),
  headers: fc.dictionary(fc.constantFrom('x', 'y'), fc.constant(Buffer.from('v')), { maxKeys: 2 }),
  tags: fc.array(fc.string({ maxLength: 200 }), { maxLength: 4 }),
  retry: fc.constantFrom({ maxAttempts: 1 }, { maxAttempts: 3, backoff: { fixed: { delayMs: 5 } } }, {}),
}) as fc.Arbitrary<JobDefinitionInput>

describe('the cache for similar records', () => {
  test('reads the same as the plain decoder, in any order of records', () => {
    fc.assert(
      fc.property(fc.array(definition, { minLength: 1, maxLength: 8 }), fc.array(fc.nat(7), { maxLength: 60 }), (some, order) => {
        const alike = repeatedRecordType(jobDefinitionSchema, from)
        const encoded = some.map((value) => plainType.toBuffer(value))
        for (const place of order) {
          const bytes = encoded[place % encoded.length] as Buffer
          expect(outcome(alike, bytes)).toEqual(outcome(plainType, bytes))
        }
      }),
    )
  })

  test('reads long payloads as a part of the record, short ones as copies, and never beyond the end', () => {
    const alike = repeatedRecordType(jobDefinitionSchema, from)
    for (const [length, isShared] of [
      [100, false],
      [500_000, true],
    ] as const) {
      const bytes = plainType.toBuffer({
        schedule: { at: 1 },
        target: { handler: 'a' },
        payload: Buffer.alloc(length, 'x'),
      })
      expect(outcome(alike, bytes)).toEqual(outcome(plainType, bytes))
      const { payload } = alike.fromBuffer(bytes) as { payload: Buffer }
      expect(payload.equals(Buffer.alloc(length, 'x'))).toBe(true)
      expect(payload.buffer === bytes.buffer).toBe(isShared)
      for (const cut of [1, 50, length]) {
        const short = bytes.subarray(0, Math.max(1, bytes.length - cut))
        expect(outcome(alike, short)).toEqual(outcome(plainType, short))
      }
    }
  })

  test('reports the same error for bytes that are shortened, extended or changed', () => {
    const bytesAndFault = fc.tuple(definition, fc.nat(), fc.constantFrom('cut', 'longer', 'changed'), fc.nat(255))
    fc.assert(
      fc.property(fc.array(bytesAndFault, { maxLength: 30 }), (faults) => {
        const alike = repeatedRecordType(jobDefinitionSchema, from)
        for (const [value, at, fault, byte] of faults) {
          const whole = plainType.toBuffer(value)
          outcome(alike, whole)
          const place = at % whole.length
          const broken =
            fault === 'cut'
              ? whole.subarray(0, place)
              : fault === 'longer'
                ? Buffer.concat([whole, Buffer.of(byte)])
                : Buffer.concat([whole.subarray(0, place), Buffer.of(byte), whole.subarray(place + 1)])
          expect(outcome(alike, broken)).toEqual(outcome(plainType, broken))
          expect(outcome(alike, whole)).toEqual(outcome(plainType, whole))
        }
      }),
    )
  })

  test('gives each record an object of its own, and shares only immutable values', () => {
    const alike = repeatedRecordType(jobDefinitionSchema, from)
    const bytes = plainType.toBuffer({ schedule: { at: 1 }, target: { handler: 'h' } })
    const read = () => alike.fromBuffer(bytes) as Record<string, unknown>
    read()
    const [one, two] = [read(), read()]
    expect(one).not.toBe(two)
    expect(one.schedule).not.toBe(two.schedule)
    expect(one.retry).toBe(two.retry)
    expect(Object.isFrozen(one.retry)).toBe(true)
    expect(Object.isFrozen((one.retry as { backoff: { list: number[] } }).backoff.list)).toBe(true)
  })

  test('handles more kinds of records than it remembers', () => {
    const alike = repeatedRecordType(jobDefinitionSchema, from)
    for (let round = 0; round < 3; round++)
      for (let kind = 0; kind < 200; kind++) {
        const value = { schedule: { at: kind }, target: { handler: `h${kind}` }, tags: [`t${kind}`] }
        const bytes = plainType.toBuffer(value)
        expect(outcome(alike, bytes)).toEqual(outcome(plainType, bytes))
      }
  })

  test('writes the same bytes as the plain encoder', () => {
    expect(fingerprintOf(repeatedRecordType(jobDefinitionSchema, from))).toBe(fingerprintOf(plainType))
  })

  test('refuses a field that the record does not have', () => {
    expect(() => repeatedRecordType(jobDefinitionSchema, { Target: 'nothing' })).toThrow('no field nothing')
  })
})
