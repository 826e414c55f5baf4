/** Produce requests: our writers' have the same bytes as kafkajs's, and those of other producers are left to kafkajs. */
import { createRequire } from 'node:module'
import { expect, test, vi } from 'vitest'
import { installProduceRequests, MessageGroup } from '../../../src/kafka/kafkajs/produce-requests.ts'

interface Request {
  apiKey: number
  apiVersion: number
  encode(): Promise<{ buffer: Buffer; size(): number }>
}
type RequestFormat = (produce: object) => Request

const require = createRequire(import.meta.url)
const versions = [3, 4, 5, 6, 7]
const load = (version: number): RequestFormat => require(`kafkajs/src/protocol/requests/produce/v${version}/request.js`)
/** Loaded before ours are installed, as by another user of kafkajs in the process. */
const usual = new Map(versions.map((version) => [version, load(version)]))
installProduceRequests()

const records = [
  { topic: 'jobs', key: 'a', value: Buffer.from('one') },
  { topic: 'jobs', key: Buffer.from('b'), value: null, headers: { h: 'x' } },
]
const topicsOf = (group: (list: typeof records) => object) => [
  { topic: 'jobs', partitions: [{ partition: 3, firstSequence: 9, messages: group(records) }] },
  {
    topic: 'duelog.executions',
    partitions: [
      { partition: 0, firstSequence: 0, messages: group(records.slice(1)) },
      { partition: 11, firstSequence: 2_000, messages: group(records.slice(0, 1)) },
    ],
  },
]
const ours = (list: typeof records) => MessageGroup.from(list)
const settings = { acks: -1, timeout: 30_000, compression: 0, producerId: '9007199254740993', producerEpoch: 2 }

test.each(versions)('version %i has the bytes that kafkajs writes', async (version) => {
  vi.useFakeTimers({ now: 1_795_000_000_123, toFake: ['Date'] })
  try {
    for (const transactionalId of [undefined, 'owner-3', 'größer']) {
      const expected = usual.get(version)?.({ ...settings, transactionalId, topicData: topicsOf((list) => list) })
      const request = load(version)({ ...settings, transactionalId, topicData: topicsOf(ours) })
      expect([request.apiKey, request.apiVersion]).toEqual([0, version])
      const encoded = await request.encode()
      expect(encoded.buffer.equals((await expected?.encode())?.buffer ?? Buffer.alloc(0))).toBe(true)
      expect(encoded.size()).toBe(encoded.buffer.length)
    }
  } finally {
    vi.useRealTimers()
  }
})

test('requests of other producers, and compressed ones, are left to kafkajs', async () => {
  const encode = vi.spyOn(MessageGroup.prototype, 'map')
  const plain = load(7)({ ...settings, topicData: topicsOf((list) => list) })
  expect((await plain.encode()).buffer.length).toBeGreaterThan(0)
  // kafkajs's own encoder maps over the messages.
  const compressed = load(7)({ ...settings, compression: 1, topicData: topicsOf(ours) })
  await compressed.encode()
  expect(encode).toHaveBeenCalled()
})
