/** Records from before Kafka 0.11 are read as kafkajs reads them, within limits, and never throw. */
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip, gzipSync, zstdCompress } from 'node:zlib'
import { expect, test } from 'vitest'
import { unpackedBytesMax } from '../../../src/kafka/decoding/decompression.ts'
import type { FetchedMessage } from '../../../src/kafka/decoding/fetched-message.ts'
import {
  answerUnpackedBytesMax,
  batchRecordsMax,
  decodeBatches,
  roomOfAnswer,
} from '../../../src/kafka/decoding/record-batches.ts'
import { seeded } from '../../streams/schedules/differential-sample.ts'

const require = createRequire(import.meta.url)
const protocol = 'kafkajs/src/protocol'
const decodeByKafkajs = require(`${protocol}/messageSet/decoder`) as (decoder: object, size: number) => Promise<FetchedMessage[]>
const Decoder = require(`${protocol}/decoder`) as new (bytes: Buffer) => object

interface Plan {
  offset: number
  key?: string | null
  value: Buffer | string | null
  format?: 0 | 1
  attributes?: number
  timestamp?: number
}

function message({ offset, key = 'k', value, format = 1, attributes = 0, timestamp = 1_700_000_000_000 + offset }: Plan): Buffer {
  const part = (given: Buffer | string | null): Buffer => {
    const bytes = given === null ? Buffer.alloc(0) : Buffer.from(given)
    const length = Buffer.alloc(4)
    length.writeInt32BE(given === null ? -1 : bytes.length)
    return Buffer.concat([length, bytes])
  }
  const time = Buffer.alloc(format === 1 ? 8 : 0)
  if (format === 1) time.writeBigInt64BE(BigInt(timestamp))
  const rest = Buffer.concat([Buffer.from([0, 0, 0, 0, format, attributes]), time, part(key), part(value)])
  const head = Buffer.alloc(12)
  head.writeBigInt64BE(BigInt(offset))
  head.writeInt32BE(rest.length, 8)
  return Buffer.concat([head, rest])
}

const decoded = (...messages: Buffer[]) => decodeBatches(Buffer.concat(messages), roomOfAnswer())
const seen = (messages: FetchedMessage[]) =>
  messages.map(({ offset, value, unread }) =>
    unread === undefined ? `${offset} ${value}` : `${unread.firstOffset}-${offset} ${unread.problem}`,
  )

test.each([0, 1] as const)('format %i is decoded as by kafkajs, compressed and not', async (format) => {
  const inner = (from: number) =>
    [0, 1, 2].map((at) => message({ offset: from + at, value: `v${at}`, format, key: at === 1 ? null : 'k' }))
  const set = Buffer.concat([
    message({ offset: 4, value: 'a', format }),
    message({ offset: 5, value: null, format }),
    message({ offset: 8, key: null, value: gzipSync(Buffer.concat(inner(format === 0 ? 6 : 0))), attributes: 1, format }),
    message({ offset: 9, value: 'z', format }),
  ])
  const expected = await decodeByKafkajs(new Decoder(set), set.length)
  const messages = await decoded(set)
  const told = ({ offset, key, value, timestamp }: FetchedMessage) => ({ offset, key, value, timestamp: timestamp ?? '-1' })
  expect(messages.map(told)).toEqual(expected.map(told))
  expect(seen(messages)).toEqual(['4 a', '5 null', '6 v0', '7 v1', '8 v2', '9 z'])
})

test('the time of the broker counts if the set says so', async () => {
  const set = gzipSync(message({ offset: 0, value: 'a', timestamp: 5 }))
  const [one] = await decoded(message({ offset: 3, key: null, value: set, attributes: 1 | 8, timestamp: 77 }))
  expect(one).toMatchObject({ offset: '3', timestamp: '77', batchContext: { timestampType: 1, inTransaction: false } })
})

test('an incomplete set at the end of a fetch is left for the next one', async () => {
  const [first, second] = [message({ offset: 1, value: 'a' }), message({ offset: 2, value: 'b' })]
  for (let length = 0; length < second.length; length++)
    expect(seen(await decoded(first, second.subarray(0, length)))).toEqual(['1 a'])
})

const bomb = promisify(gzip)(Buffer.alloc(unpackedBytesMax + 1), { level: 1 })
const nested = gzipSync(message({ offset: 0, value: gzipSync(message({ offset: 0, value: 'x' })), attributes: 1 }))
const sets: [kind: string, attributes: number, pack: () => Buffer | null | Promise<Buffer>, problem: string][] = [
  [
    'that unpacks to more than memory should hold',
    1,
    () => bomb,
    `It has more than ${unpackedBytesMax} bytes when it is unpacked (gzip).`,
  ],
  [
    'by zstd too',
    4,
    async () => promisify(zstdCompress)(Buffer.alloc(unpackedBytesMax + 1)),
    'bytes when it is unpacked (zstd).',
  ],
  ['by snappy', 2, () => Buffer.from('s'), 'It is compressed by snappy; Duelog reads gzip and zstd.'],
  ['by lz4', 3, () => Buffer.from('l'), 'It is compressed by lz4; Duelog reads gzip and zstd.'],
  ['that is not compressed', 1, () => Buffer.from('no'), 'It cannot be unpacked'],
  ['of nothing', 1, () => gzipSync(''), 'It holds no message.'],
  ['without a value', 1, () => null, 'It cannot be unpacked'],
  ['in another set', 1, () => nested, 'It holds a compressed message in a compressed one.'],
  [
    'of broken messages',
    1,
    () => gzipSync(message({ offset: 0, value: 'x' }).subarray(0, 30)),
    'Its messages do not end where they say.',
  ],
  [
    'with offsets of others',
    1,
    () => gzipSync(Buffer.concat([5, 5, 6].map((offset) => message({ offset, value: 'x' })))),
    'offsets that are not its own',
  ],
  [
    'of too many messages',
    1,
    () => gzipSync(Buffer.concat(new Array(batchRecordsMax + 1).fill(message({ offset: 0, value: null })))),
    `more than ${batchRecordsMax} messages`,
  ],
]
test.each(sets)('a set %s is one message that reports it, and the next sets are read', async (_, attributes, pack, problem) => {
  const value = await pack()
  const messages = seen(
    await decoded(message({ offset: 7, key: null, value, attributes }), message({ offset: 8, value: 'after' })),
  )
  expect(messages).toEqual([expect.stringContaining(problem), '8 after'])
  expect(messages[0]).toMatch(/^7-7 /)
})

test('one answer decompresses no more than its share', async () => {
  const value = gzipSync(message({ offset: 0, value: Buffer.alloc(answerUnpackedBytesMax - 1_000) }))
  const sets = [3, 4, 5].map((offset) => message({ offset, key: null, value, attributes: 1 }))
  const room = roomOfAnswer()
  expect(await decodeBatches(Buffer.concat(sets), room)).toHaveLength(2)
})

/** More by hand: DUELOG_HOSTILE_BATCHES=1000000. */
const hostileSets = Number(process.env.DUELOG_HOSTILE_BATCHES ?? 3_000)

test('any changed bytes are decoded without an error, to no more messages than bytes', {
  timeout: 3_600_000,
}, async () => {
  const dice = seeded(67)
  const plain = [0, 1, 2].map((offset) => message({ offset, value: 'x'.repeat(offset * 9) }))
  const seeds = [
    ...plain,
    message({ offset: 2 ** 40, value: null, format: 0 }),
    message({ offset: 9, key: null, value: gzipSync(Buffer.concat(plain)), attributes: 1 }),
    message({ offset: 9, key: null, value: gzipSync(message({ offset: 9, value: 'a', format: 0 })), attributes: 1, format: 0 }),
    message({ offset: 9, key: null, value: nested, attributes: 1 }),
  ]
  const spoilt = (given: Buffer): Buffer => {
    const bytes = Buffer.from(given)
    for (let changes = dice.upTo(5); changes > 0; changes--)
      bytes[dice.chance(0.5) ? dice.upTo(Math.min(30, bytes.length)) : dice.upTo(bytes.length)] = dice.pick([
        0,
        1,
        2,
        0x7f,
        0x80,
        0xff,
        dice.upTo(256),
      ])
    return bytes
  }
  for (let made = 0; made < hostileSets; made++) {
    const parts = Array.from({ length: dice.between(1, 4) }, () => {
      const one = dice.pick(seeds)
      // The contents are corrupted before compression, so that they can still be decompressed.
      if (!dice.chance(0.3)) return spoilt(one)
      return message({
        offset: dice.upTo(9),
        key: null,
        value: gzipSync(spoilt(Buffer.concat(plain)), { level: 1 }),
        attributes: 1,
      })
    })
    const bytes = Buffer.concat(parts)
    const cut = dice.chance(0.2) ? bytes.subarray(0, dice.upTo(bytes.length)) : bytes
    const room = roomOfAnswer()
    const messages = await decodeBatches(cut, room)
    expect(messages.length).toBeLessThanOrEqual(cut.length + (answerUnpackedBytesMax - room.unpackedBytes) / 26)
    for (const { offset } of messages) expect(Number.isNaN(Number(offset))).toBe(false)
  }
})
