/** Encoding record batches: the same bytes as kafkajs, which its decoder reads back. */
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BatchRecord, crc32c, encodeBatch } from '../../../src/log/kafka/client/batch-encoder.ts'

interface Encoder {
  buffer: Buffer
}

const require = createRequire(import.meta.url)
const protocol = 'kafkajs/src/protocol'
const { RecordBatch } = require(`${protocol}/recordBatch/v0`) as { RecordBatch(plan: object): Promise<Encoder> }
const encodeRecord = require(`${protocol}/recordBatch/record/v0`) as (plan: object) => Encoder
const decodeByKafkajs = require(`${protocol}/recordBatch/v0/decoder`) as (
  decoder: object,
) => Promise<{ records: { key: Buffer | null; value: Buffer | null; headers: Record<string, Buffer> }[] }>
const Decoder = require(`${protocol}/decoder`) as new (bytes: Buffer) => object

const options = { timeMs: 1_795_000_000_123, producerId: 7n, producerEpoch: 3, firstSequence: 41, isTransactional: true }

async function byKafkajs(
  records: BatchRecord[],
  { timeMs, producerId, isTransactional, ...rest }: typeof options,
): Promise<Buffer> {
  const encoded = records.map((record, index) => encodeRecord({ ...record, offsetDelta: index }))
  const times = {
    firstTimestamp: timeMs,
    maxTimestamp: timeMs,
    producerId: producerId.toString(),
    transactional: isTransactional,
  }
  return (await RecordBatch({ ...rest, ...times, lastOffsetDelta: records.length - 1, records: encoded })).buffer
}

const text = fc.oneof(fc.string({ maxLength: 80 }), fc.string({ unit: 'binary', maxLength: 80 }))
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
const anyRecord: fc.Arbitrary<BatchRecord> = fc.record({
  key: fc.oneof(text, bytes, fc.constant(null)),
  value: fc.oneof(bytes, fc.constant(null)),
  headers: fc.oneof(fc.constant(undefined), fc.dictionary(text, fc.oneof(text, bytes), { maxKeys: 5 })),
})

test('a batch has the bytes that kafkajs writes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRecord, { minLength: 1, maxLength: 200 }),
      fc.record({
        timeMs: fc.integer({ min: 0, max: 8_640_000_000_000_000 }),
        producerId: fc.bigInt({ min: 0n, max: 2n ** 62n }),
        producerEpoch: fc.integer({ min: 0, max: 32_767 }),
        firstSequence: fc.integer({ min: 0, max: 2_147_483_647 }),
        isTransactional: fc.boolean(),
      }),
      async (records, wanted) => {
        const expected = await byKafkajs(records, wanted)
        expect(encodeBatch(records, wanted).equals(expected)).toBe(true)
      },
    ),
    { numRuns: 300 },
  )
})

test('records of every size of a varint come back', async () => {
  const sizes = [0, 1, 63, 64, 8_191, 8_192, 900_000]
  const records = [
    ...sizes.map((size): BatchRecord => ({ key: `size-${size}`, value: Buffer.alloc(size, size) })),
    ...Array.from({ length: 8_200 }, (_, index): BatchRecord => ({ key: `job-${index}`, value: null })),
    {
      key: 'ü€𐍈',
      value: Buffer.from('x'),
      headers: { ...Object.fromEntries([['näme', 'wért']]), bytes: Buffer.from([0, 255]), empty: '' },
    },
    { key: 'x'.repeat(70_000), value: Buffer.from('long key') },
  ]
  const batch = encodeBatch(records, options)
  const read = (await decodeByKafkajs(new Decoder(batch))).records
  expect(read.length).toBe(records.length)
  for (const [index, { key, value, headers = {} }] of records.entries()) {
    expect(read[index]?.key?.toString()).toBe(key)
    expect(read[index]?.value ?? null).toEqual(value)
    for (const name of Object.keys(headers)) expect(read[index]?.headers[name]).toEqual(Buffer.from(headers[name] ?? ''))
  }
})

test('a buffer that is written keeps no bytes of records after it', () => {
  // Keys of one byte for each character need a third of the reserved bytes.
  const batch = encodeBatch([{ key: 'a'.repeat(1_000), value: null }], options)
  expect(batch.length).toBe(12 + batch.readInt32BE(8))
})

test('the checksum is CRC-32C, by the examples of RFC 3720 B.4', () => {
  const of = (block: Buffer): string => crc32c(block, 0, block.length).toString(16)
  expect(of(Buffer.alloc(32))).toBe('8a9136aa')
  expect(of(Buffer.alloc(32, 0xff))).toBe('62a8ab43')
  expect(of(Buffer.from(Array.from({ length: 32 }, (_, index) => index)))).toBe('46dd794e')
  expect(of(Buffer.from(Array.from({ length: 32 }, (_, index) => 31 - index)))).toBe('113fdb5c')
  expect(of(Buffer.from('123456789'))).toBe('e3069283')
})

test('the checksum covers the range alone, at every length and position', () => {
  const whole = Buffer.from(Array.from({ length: 64 }, (_, index) => (index * 37) & 0xff))
  for (let from = 0; from < 16; from++)
    for (let to = from; to <= whole.length; to++) {
      let expected = ~0
      for (const byte of whole.subarray(from, to)) {
        expected ^= byte
        for (let bit = 0; bit < 8; bit++) expected = (expected & 1) === 1 ? (expected >>> 1) ^ 0x82f63b78 : expected >>> 1
      }
      expect(crc32c(whole, from, to)).toBe(~expected >>> 0)
    }
})
