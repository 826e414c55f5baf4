/** Decoding the bytes of a fetch: the same result as kafkajs, within limits, and never an error. */
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip, zstdCompress } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RecordIn } from '../../../src/ground/ports/index.ts'
import { unpackedBytesMax } from '../../../src/log/kafka/client/batch-format.ts'
import {
  answerRecordsMax,
  batchRecordsMax,
  type Decoded,
  decodeBatches,
  headersMax,
  roomOfAnswer,
} from '../../../src/log/kafka/client/record-batches.ts'
import { seeded } from '../../streams/schedules/differential-sample.ts'

interface RecordPlan {
  key: Buffer | null
  value: Buffer | null
  headers?: Record<string, string>
  offsetDelta?: number
  timestampDelta?: number
}
interface BatchPlan {
  records: RecordPlan[]
  firstOffset?: number
  lastOffsetDelta?: number
  compression?: number
  transactional?: boolean
}
interface Encoder {
  buffer: Buffer
}
/** As kafkajs decodes it. */
interface TheirRecord extends Pick<RecordIn, 'key' | 'value' | 'headers'> {
  offset: string
  timestamp: string
  isControlRecord: boolean
  batchContext: { timestampType: 0 | 1 }
}

const require = createRequire(import.meta.url)
const protocol = 'kafkajs/src/protocol'
const { RecordBatch } = require(`${protocol}/recordBatch/v0`) as { RecordBatch(plan: object): Promise<Encoder> }
const encodeRecord = require(`${protocol}/recordBatch/record/v0`) as (plan: object) => Encoder
const decodeByKafkajs = require(`${protocol}/recordBatch/v0/decoder`) as (decoder: object) => Promise<{ records: TheirRecord[] }>
const Decoder = require(`${protocol}/decoder`) as new (bytes: Buffer) => object

/** Encoded like kafkajs's own producer. */
async function batch({ records, firstOffset = 0, lastOffsetDelta = records.length - 1, ...rest }: BatchPlan): Promise<Buffer> {
  const encoded = records.map((record, index) => encodeRecord({ offsetDelta: index, timestampDelta: index, ...record }))
  const times = { firstTimestamp: 1_700_000_000_000, maxTimestamp: 1_700_000_000_999, producerId: 7 }
  return (await RecordBatch({ ...times, ...rest, firstOffset, lastOffsetDelta, records: encoded })).buffer
}

/** A batch compressed with a codec that kafkajs does not know. */
async function packed(codec: number, pack: (bytes: Buffer) => Promise<Buffer> | Buffer, plan: BatchPlan): Promise<Buffer> {
  const plain = await batch(plan)
  const records = await pack(plain.subarray(61))
  const head = Buffer.from(plain.subarray(0, 61))
  head.writeInt16BE((head.readInt16BE(21) & ~7) | codec, 21)
  head.writeInt32BE(61 - 12 + records.length, 8)
  return Buffer.concat([head, records])
}

/** A message of format 1, without key and value. */
function oldMessage(offset: number): Buffer {
  const bytes = Buffer.alloc(34)
  bytes.writeBigInt64BE(BigInt(offset))
  bytes.writeInt32BE(bytes.length - 12, 8)
  bytes[16] = 1
  bytes.fill(0xff, 26)
  return bytes
}

const of = (value: string, key: string | null = 'k'): RecordPlan => ({
  key: key === null ? null : Buffer.from(key),
  value: Buffer.from(value),
})
const start = { topic: 't', partition: 0, offset: 0 }
const decodedIn = (bytes: Buffer, room = roomOfAnswer()) => decodeBatches(bytes, start, room)
const decoded = (...batches: Buffer[]) => decodedIn(Buffer.concat(batches))
/** In offset order. */
const seen = ({ records, unread, next }: Decoded) =>
  [
    ...records.map(({ offset, value }) => ({ offset, text: `${offset} ${value}` })),
    ...unread.map(({ firstOffset, offset, problem }) => ({ offset, text: `${firstOffset}-${offset} ${problem}` })),
  ]
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ text }) => text)
    .concat(`next ${next}`)

test('a batch is decoded as by kafkajs', async () => {
  const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array))
  const record = fc.record({
    key: fc.option(bytes(20)),
    value: fc.option(bytes(300)),
    headers: fc.dictionary(
      fc.string({ minLength: 1, maxLength: 5 }).filter((name) => name !== '__proto__'),
      fc.string({ maxLength: 9 }),
      { maxKeys: 3 },
    ),
    timestampDelta: fc.integer({ min: -70_000, max: 1_000_000_000 }),
  })
  const plan = fc.record({
    records: fc.array(record, { minLength: 1, maxLength: 20 }),
    firstOffset: fc.maxSafeNat().map((offset) => offset % 2 ** 50),
    compression: fc.constantFrom(0, 1),
    transactional: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const encoded = await batch(given)
      const { records } = await decodeByKafkajs(new Decoder(encoded))
      const expected = records.map(({ key, value, offset, timestamp, headers }) => {
        const record = { topic: 't', partition: 0, offset: Number(offset), timestampMs: Number(timestamp) }
        return { ...record, key, value, headers: { ...headers } }
      })
      const found = await decoded(encoded)
      expect(found.records.map((record) => ({ ...record, headers: { ...record.headers } }))).toEqual(expected)
      expect([found.unread, found.next]).toEqual([[], (given.firstOffset ?? 0) + given.records.length])
    }),
    { numRuns: 200 },
  )
})

test('an incomplete batch at the end of a fetch is left for the next one', async () => {
  const whole = await batch({ records: [of('a'), of('b')] })
  const next = await batch({ records: [of('c')], firstOffset: 2 })
  for (const length of [0, 5, 60, 61, next.length - 1])
    expect(seen(await decoded(whole, next.subarray(0, length)))).toEqual(['0 a', '1 b', 'next 2'])
  expect(seen(await decoded(whole, next))).toEqual(['0 a', '1 b', '2 c', 'next 3'])
})

test('of repeated headers the last counts, and a header may have any name', async () => {
  const encoded = encodeRecord({ key: null, value: null, headers: { one: ['1', '2'], __proto__x: 'y', constructor: 'z' } })
  const { buffer } = await RecordBatch({ records: [encoded], lastOffsetDelta: 0 })
  const { records } = await decoded(buffer)
  expect({ ...records[0]?.headers }).toEqual({
    one: Buffer.from('2'),
    __proto__x: Buffer.from('y'),
    constructor: Buffer.from('z'),
  })
})

test('a header named like the prototype is one, too', async () => {
  const headers = Object.fromEntries(['__proto__', 'constructor'].map((name) => [name, name]))
  const { records } = await decoded(await batch({ records: [{ ...of('a'), headers }] }))
  expect(Object.entries(records[0]?.headers ?? {}).map(([name, value]) => `${name}=${value}`)).toEqual([
    '__proto__=__proto__',
    'constructor=constructor',
  ])
})

test.each([
  ['records', 60_000, 0, 5],
  ['headers', 40, headersMax, 15],
])('a batch of very many %s is decoded in pieces, so others get their turn', async (_, count, each, turnsMin) => {
  const headers = Object.fromEntries(Array.from({ length: each }, (_value, at) => [`h${at}`, '']))
  const encoded = await batch({ records: Array.from({ length: count }, () => ({ key: null, value: null, headers })) })
  let [turns, isOver] = [0, false]
  const spin = (): void => {
    turns++
    if (!isOver) setImmediate(spin)
  }
  setImmediate(spin)
  const { records } = await decoded(encoded)
  isOver = true
  expect(turns).toBeGreaterThanOrEqual(turnsMin)
  expect(records).toHaveLength(count)
})

test('zstd is decompressed too', async () => {
  const encoded = await packed(4, (bytes) => promisify(zstdCompress)(bytes), { records: [of('a'), of('b')], firstOffset: 5 })
  expect(seen(await decoded(encoded))).toEqual(['5 a', '6 b', 'next 7'])
})

test.each([
  ['gzip', 1, promisify(gzip) as (bytes: Buffer) => Promise<Buffer>],
  ['zstd', 4, promisify(zstdCompress) as (bytes: Buffer) => Promise<Buffer>],
])(
  'a batch that %s compresses and that is too large is one message that reports it at the end of the batch, and the next batches are read',
  async (name, codec, pack) => {
    const large = { key: null, value: Buffer.alloc(unpackedBytesMax / 2) }
    const bomb = await packed(codec, pack, { records: [large, of('x'), large], firstOffset: 10 })
    expect(bomb.length).toBeLessThan(100_000)
    const after = await batch({ records: [of('c')], firstOffset: 13 })
    expect(seen(await decoded(bomb, after))).toEqual([
      `10-12 It has more than ${unpackedBytesMax} bytes when it is unpacked (${name}).`,
      '13 c',
      'next 14',
    ])
  },
)

test.each([
  ['by snappy', 2, 'It is compressed by snappy; Duelog reads gzip and zstd.'],
  ['by lz4', 3, 'It is compressed by lz4; Duelog reads gzip and zstd.'],
  ['by what nobody knows', 7, 'It is compressed by codec 7; Duelog reads gzip and zstd.'],
  ['by gzip, and is not', 1, 'It cannot be unpacked: incorrect header check (gzip).'],
])('so is a batch that is compressed %s', async (_, codec, problem) => {
  const encoded = await packed(codec, (bytes) => bytes, { records: [of('a'), of('b')], firstOffset: 3 })
  expect(seen(await decoded(encoded, await batch({ records: [of('c')], firstOffset: 5 })))).toEqual([
    ...[`3-4 ${problem}`, '5 c', 'next 6'],
  ])
})

test('so is a compressed batch of too many records', async () => {
  const encoded = await packed(1, promisify(gzip) as never, { records: [of('a')], lastOffsetDelta: batchRecordsMax })
  encoded.writeInt32BE(batchRecordsMax + 1, 57)
  expect(seen(await decoded(encoded))).toEqual([
    `0-${batchRecordsMax} It has ${batchRecordsMax + 1} records; at most ${batchRecordsMax} where they are compressed.`,
    `next ${batchRecordsMax + 1}`,
  ])
})

test('a record with too many headers cannot be read, and the records around it can', async () => {
  const headers = Object.fromEntries(Array.from({ length: headersMax + 1 }, (_value, index) => [`h${index}`, '']))
  const encoded = await batch({ records: [of('a'), { ...of('b'), headers }, of('c')] })
  expect(seen(await decoded(encoded))).toEqual([
    '0 a',
    `1-1 It has ${headersMax + 1} headers; at most ${headersMax}.`,
    '2 c',
    'next 3',
  ])
})

test('what is older than batches is reported, and the next batches are read', async () => {
  const after = await batch({ records: [of('c')], firstOffset: 8 })
  expect(seen(await decoded(oldMessage(7), after))).toEqual([
    ...['7-7 It has the format of brokers before Kafka 0.11.', '8 c', 'next 9'],
  ])
  expect(seen(await decoded(after, oldMessage(9).subarray(0, 33)))).toEqual(['8 c', 'next 9'])
})

test('what lies before the position is left out', async () => {
  const bytes = await batch({ records: [of('a'), of('b'), of('c')], firstOffset: 4 })
  const found = await decodeBatches(bytes, { ...start, offset: 6 }, roomOfAnswer())
  expect(seen(found)).toEqual(['6 c', 'next 7'])
})

test('the time of the broker counts if the batch says so', async () => {
  const bytes = await batch({ records: [of('a')] })
  bytes.writeInt16BE(8, 21)
  expect((await decoded(bytes)).records).toMatchObject([{ timestampMs: 1_700_000_000_999, byBroker: true }])
})

test('records with wrong lengths end their batch, and nothing throws', async () => {
  const good = await batch({ records: [of('a'), of('b'), of('c')], firstOffset: 4 })
  const after = await batch({ records: [of('d')], firstOffset: 7 })
  for (let at = 61; at < good.length; at++) {
    const broken = Buffer.from(good)
    broken[at] = 0xff
    const { records, next } = await decoded(broken, after)
    expect([records.at(-1)?.value?.toString(), next]).toEqual(['d', 8])
    expect(records.filter(({ offset }) => offset > 6)).toHaveLength(1)
  }
})

test.each([
  ['behind its end, which may be behind that of the log', [0, 2_000_000_000]],
  ['before its beginning', [-1, 1]],
  ['that was passed', [1, 1]],
])('a record with an offset %s ends its batch, because no broker checks that', async (_, deltas) => {
  const records = ['a', 'b'].map((value, at) => ({ ...of(value), offsetDelta: deltas[at] as number }))
  const forged = await batch({ records, firstOffset: 10, lastOffsetDelta: 1 })
  const texts = seen(await decoded(forged, await batch({ records: [of('c')], firstOffset: 12 })))
  expect(texts.slice(-3)).toEqual(['10-11 Its records have offsets that are not its own.', '12 c', 'next 13'])
})

test('if compaction removed the last records, or all, the reader still gets past the batch', async () => {
  const tail = await batch({ records: [of('a')], firstOffset: 10, lastOffsetDelta: 90 })
  const empty = await batch({ records: [], firstOffset: 101, lastOffsetDelta: 99 })
  expect(seen(await decoded(tail))).toEqual(['10 a', 'next 101'])
  expect(seen(await decoded(tail, empty))).toEqual(['10 a', 'next 201'])
})

test('one answer gives no more than its share, and the rest comes with the next', async () => {
  const small = (firstOffset: number) =>
    batch({ records: Array.from({ length: answerRecordsMax / 2 }, () => of('x', null)), firstOffset })
  const [first, second, third] = [await small(0), await small(answerRecordsMax / 2), await small(answerRecordsMax)]
  const room = roomOfAnswer()
  const { records, next } = await decodedIn(Buffer.concat([first, second, third]), room)
  expect([records.length, next]).toEqual([answerRecordsMax, answerRecordsMax])
  expect(await decodedIn(third, room)).toEqual({ records: [], unread: [], next: undefined })
  expect((await decodedIn(third)).records).toHaveLength(answerRecordsMax / 2)
})

test('the share also limits the decompressed bytes', async () => {
  const one = { records: [{ key: null, value: Buffer.alloc(unpackedBytesMax - 1_000) }], compression: 1 }
  const batches = await Promise.all([0, 1, 2].map((firstOffset) => batch({ ...one, firstOffset })))
  const room = roomOfAnswer()
  expect((await decodedIn(Buffer.concat(batches), room)).records).toHaveLength(2)
  expect((await decodedIn(await batch({ ...one, compression: 1 }), room)).records).toHaveLength(0)
  expect((await decodedIn(await batch({ records: [of('plain')] }), room)).records).toHaveLength(1)
})

/** More by hand: DUELOG_HOSTILE_BATCHES=1000000. */
const hostileBatches = Number(process.env.DUELOG_HOSTILE_BATCHES ?? 3_000)

test('any changed bytes of a fetch are decoded without an error, to no more messages than bytes', {
  timeout: 3_600_000,
}, async () => {
  const dice = seeded(58)
  const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`h${at}`, '']))
  const seeds = [
    await batch({ records: [of('a'), of('b'), { ...of('c'), headers: headers(40) }] }),
    await batch({ records: [of('a')], transactional: true, firstOffset: 2 ** 40 }),
    await packed(1, promisify(gzip) as never, { records: Array.from({ length: 50 }, (_, at) => of(String(at))) }),
    await packed(4, promisify(zstdCompress) as never, { records: [of('x'.repeat(5_000)), of('y')] }),
    await packed(2, (bytes) => bytes, { records: [of('snappy')] }),
    await packed(3, (bytes) => bytes, { records: [of('lz4')] }),
    oldMessage(9),
  ]
  for (let made = 0; made < hostileBatches; made++) {
    const parts = Array.from({ length: dice.between(1, 3) }, () => Buffer.from(dice.pick(seeds)))
    const bytes = Buffer.concat(parts)
    for (let changes = dice.upTo(8); changes > 0; changes--) {
      // Half of the changes hit lengths and counts.
      const at = dice.chance(0.5) ? dice.upTo(Math.min(90, bytes.length)) : dice.upTo(bytes.length)
      bytes[at] = dice.pick([0, 1, 0x7f, 0x80, 0xff, dice.upTo(256)])
    }
    const cut = dice.chance(0.2) ? bytes.subarray(0, dice.upTo(bytes.length)) : bytes
    const room = roomOfAnswer()
    const { records, unread } = await decodedIn(cut, room)
    const unpackedMost = roomOfAnswer().unpackedBytes - room.unpackedBytes
    expect(records.length + unread.length).toBeLessThanOrEqual(cut.length + unpackedMost)
  }
})
