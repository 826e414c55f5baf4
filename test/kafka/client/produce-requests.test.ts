/** Produce requests: our writers' have the same bytes as kafkajs's, and those of other producers are left to kafkajs. */
import { createRequire } from 'node:module'
import { expect, test, vi } from 'vitest'
import { faultOf } from '../../../src/log/kafka/client/errors.ts'
import { installProduceRequests, MessageGroup } from '../../../src/log/kafka/client/produce-requests.ts'

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

/** kafkajs's own loop over the brokers of a call, with two brokers of this test. */
async function sendToTwo(answers: Record<string, () => Promise<void>>): Promise<{ sent: string[]; result: Promise<unknown> }> {
  const sent: string[] = []
  const brokers = new Map(
    ['1', '2'].map((nodeId) => [
      nodeId,
      {
        nodeId,
        initProducerId: async () => ({ producerId: '7', producerEpoch: 0 }),
        produce: async (request: { topicData: { partitions: { partition: number; firstSequence: number }[] }[] }) => {
          await load(7)(request).encode()
          for (const { partition, firstSequence } of request.topicData.flatMap(({ partitions }) => partitions))
            sent.push(`partition ${partition} from ${firstSequence}`)
          await answers[nodeId]?.()
          const partitions = [{ partition: Number(nodeId), errorCode: 0, baseOffset: '0' }]
          return { topics: [{ topicName: 'jobs', partitions }] }
        },
      },
    ]),
  )
  const cluster = {
    retry: {},
    isConnected: () => true,
    refreshMetadata: async () => {},
    refreshMetadataIfNecessary: async () => {},
    addMultipleTargetTopics: async () => {},
    findTopicPartitionMetadata: () => [{ partitionId: 1 }, { partitionId: 2 }],
    findLeaderForPartitions: () => ({ 1: [1], 2: [2] }),
    findBroker: async ({ nodeId }: { nodeId: string }) => brokers.get(nodeId),
    findControllerBroker: async () => brokers.get('1'),
  }
  const logger = { debug: () => {}, error: () => {} }
  const eosManager = require('kafkajs/src/producer/eosManager/index.js')({ logger, cluster })
  await eosManager.initProducerId()
  const retrier = require('kafkajs/src/retry/index.js')({ initialRetryTime: 1, maxRetryTime: 1, retries: 3 })
  const send = require('kafkajs/src/producer/sendMessages.js')({ logger, cluster, eosManager, retrier })
  const groups = { 1: ours(records), 2: ours(records) }
  const messages = Object.assign([...records], { reduce: () => groups })
  return { sent, result: send({ acks: -1, timeout: 1_000, compression: 0, topicMessages: [{ topic: 'jobs', messages }] }) }
}
const notLeader = Object.assign(new Error('not leader'), {
  name: 'KafkaJSProtocolError',
  type: 'NOT_LEADER_FOR_PARTITION',
  retriable: true,
})

test('a request that is refused alone is repeated under the same sequence number', async () => {
  let refusals = 2
  const refuseTwice = async () => {
    if (refusals-- > 0) throw notLeader
  }
  const { sent, result } = await sendToTwo({ 2: refuseTwice })
  await expect(result).resolves.toHaveLength(2)
  expect(sent).toEqual(['partition 1 from 0', 'partition 2 from 0', 'partition 2 from 0', 'partition 2 from 0'])
})

test('a request that a broker has not answered yet is not sent a second time under another sequence number', async () => {
  const slow = Promise.withResolvers<void>()
  let refusals = 1
  const { sent, result } = await sendToTwo({
    1: () => slow.promise,
    2: async () => {
      // The slow broker has not answered when everything is repeated.
      if (refusals-- > 0) throw notLeader
      slow.resolve()
    },
  })
  const failure: unknown = await result.catch((error) => error)
  expect(sent.filter((request) => request.startsWith('partition 1'))).toEqual(['partition 1 from 0'])
  expect(faultOf(failure, 'Writing')).toMatchObject({ code: 'broker-unavailable' })
})
