/** Requests of producers: those of version 1 have the same bytes as kafkajs's. Those of version 2 are read by real brokers (transactional-writer.test.ts). */
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { encodeBatch } from '../../../src/log/kafka/client/batch-encoder.ts'
import * as requests from '../../../src/log/kafka/client/producer-requests.ts'
import { AnswerBytes, RequestBytes } from '../../../src/log/kafka/client/protocol.ts'

const require = createRequire(import.meta.url)
type Encoded = { apiKey: number; apiVersion: number; apiName: string; encode(): Promise<{ buffer: Buffer }> }
const byKafkajs = (name: string, version: number, request: object): Encoded =>
  require(`kafkajs/src/protocol/requests/${name}/v${version}/request.js`)(request)

const producer = { transactionalId: 'größer', producerId: 9_007_199_254_740_993n, producerEpoch: 2, isV2: false }
const named = { ...producer, producerId: String(producer.producerId) }
const positions = [
  { topic: 'in', partition: 3, offset: 12, metadata: 'm' },
  { topic: 'other', partition: 0, offset: 0 },
  { topic: 'in', partition: 4, offset: 2 ** 40 },
]
const offsets = [
  {
    topic: 'in',
    partitions: [
      { partition: 3, offset: '12', metadata: 'm' },
      { partition: 4, offset: String(2 ** 40), metadata: '' },
    ],
  },
  { topic: 'other', partitions: [{ partition: 0, offset: '0', metadata: '' }] },
]

test.each([
  ['initProducerId', requests.initProducerIdRequest('größer', 15_000), { transactionalId: 'größer', transactionTimeout: 15_000 }],
  ['initProducerId', requests.initProducerIdRequest(null, 15_000), { transactionalId: null, transactionTimeout: 15_000 }],
  [
    'addPartitionsToTxn',
    requests.addPartitionsRequest(producer, [...positions, { topic: 'in', partition: 200 }]),
    {
      ...named,
      topics: [
        { topic: 'in', partitions: [3, 4, 200] },
        { topic: 'other', partitions: [0] },
      ],
    },
  ],
  ['addOffsetsToTxn', requests.addOffsetsRequest(producer, 'intake'), { ...named, groupId: 'intake' }],
  [
    'txnOffsetCommit',
    requests.commitOffsetsRequest(producer, { groupId: 'intake', positions }),
    { ...named, groupId: 'intake', topics: offsets },
  ],
  ['endTxn', requests.endRequest(producer, true), { ...named, transactionResult: true }],
  ['endTxn', requests.endRequest(producer, false), { ...named, transactionResult: false }],
])('%s has the bytes that kafkajs writes', async (name, { key, version, body, name: title }, request) => {
  const expected = byKafkajs(name, version, request)
  expect([key, version, title]).toEqual([expected.apiKey, expected.apiVersion, expected.apiName])
  expect(body.equals((await expected.encode()).buffer)).toBe(true)
})

test('a produce request has the bytes that kafkajs writes around its batches', async () => {
  const messages = [{ key: 'a', value: Buffer.from('one'), headers: { h: 'x' }, timestamp: '1795000000123' }]
  const options = { timeMs: 1_795_000_000_123, firstSequence: 9, isTransactional: true, ...producer }
  const batch = (partition: number, topic = 'in') => ({ topic, partition, bytes: encodeBatch(messages, options) })
  const data = (partition: number) => ({ partition, firstSequence: 9, messages })
  for (const transactionalId of [producer.transactionalId, null]) {
    const ours = requests.produceRequest({ transactionalId, isV2: false }, 30_000, [batch(0), batch(3, 'x'), batch(11)])
    const topicData = [
      { topic: 'in', partitions: [data(0), data(11)] },
      { topic: 'x', partitions: [data(3)] },
    ]
    const expected = byKafkajs('produce', 7, {
      ...named,
      transactionalId: producer.transactionalId,
      acks: -1,
      timeout: 30_000,
      compression: 0,
      topicData,
    })
    const { buffer } = await expected.encode()
    // kafkajs has no transactional batches of a producer without transactions.
    const id = Buffer.from(producer.transactionalId)
    expect(buffer.readInt16BE(0)).toBe(id.length)
    expect(ours.body.subarray(transactionalId === null ? 2 : 2 + id.length).equals(buffer.subarray(2 + id.length))).toBe(true)
    expect(ours.body.readInt16BE(0)).toBe(transactionalId === null ? -1 : id.length)
  }
})

test('lengths of the flexible encoding are varints of one more, and absent tags are one byte', () => {
  const bytes = new RequestBytes(true, 1)
    .string('a'.repeat(126))
    .string('b'.repeat(127))
    .string(null)
    .part(Buffer.alloc(20_000)).bytes
  expect([bytes[0], bytes[1], bytes.readUInt8(128), bytes.readUInt8(129)]).toEqual([0, 127, 0x80, 1])
  const at = 130 + 127
  expect([...bytes.subarray(at, at + 4)]).toEqual([0, 0xa1, 0x9c, 1])
  expect(bytes).toHaveLength(at + 4 + 20_000)
})

test('tagged fields of an answer are skipped, whatever a reader takes of them, and no field goes past the end', () => {
  const fields = () => new AnswerBytes(Buffer.from([2, 5, 3, 1, 2, 3, 0x80, 1, 1, 9, 0, 42]), true)
  const seen: number[] = []
  const answer = fields()
  answer.tags((tag) => {
    seen.push(tag)
    if (tag === 5) answer.int16()
  })
  expect(seen).toEqual([5, 128])
  expect(answer.int16()).toBe(42)
  expect(() => new AnswerBytes(Buffer.from([1, 5, 3, 1]), true).tags()).toThrow(RangeError)
  expect(() => new AnswerBytes(Buffer.from([200]), true).varint()).toThrow(RangeError)
  expect(() => new AnswerBytes(Buffer.from([9, 65]), true).string()).toThrow(RangeError)
})
