/**
 * How kafkajs handles a call whose records go to several brokers, and why src/log/kafka/client/produce.ts gives each partition a
 * request of its own (ADR 0030). Its own code runs here on two scripted brokers; three real ones are in
 * test/docker/topology.test.ts.
 */
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'

interface Request {
  topicData: { topic: string; partitions: { partition: number; firstSequence: number; messages: unknown[] }[] }[]
}
const load = createRequire(import.meta.url)
const createSend = load('kafkajs/src/producer/sendMessages.js') as (parts: object) => (call: object) => Promise<unknown[]>
const createRetry = load('kafkajs/src/retry/index.js') as (options: object) => unknown
const Lock = load('kafkajs/src/utils/lock.js') as new (options: object) => { acquire(): Promise<void>; release(): Promise<void> }

const momentary = () =>
  Object.assign(new Error('another concurrent operation is under way'), { name: 'KafkaJSProtocolError', retriable: true })

/** A producer over two brokers. `leader` says who leads a partition of the one topic. */
function producer(options: {
  leader(partition: number): number
  refuse(nodeId: number): void
  answer(nodeId: number): Promise<void>
}) {
  const written: string[] = []
  const sequences = [0, 0]
  const locks = [1, 2].map(() => new Lock({ timeout: 10_000 }))
  const brokers = [1, 2].map((nodeId) => ({
    nodeId,
    async produce({ topicData }: Request) {
      const topics = topicData.map(({ topic, partitions }) => {
        for (const { partition, firstSequence } of partitions) written.push(`${partition} from ${firstSequence}`)
        return { topicName: topic, partitions: partitions.map(({ partition }) => ({ partition, errorCode: 0, offset: '0' })) }
      })
      await options.answer(nodeId)
      return { topics }
    },
  }))
  const nothing = async (): Promise<void> => {}
  const cluster = {
    refreshMetadataIfNecessary: nothing,
    refreshMetadata: nothing,
    addMultipleTargetTopics: nothing,
    isConnected: () => true,
    findTopicPartitionMetadata: () => [{ partitionId: 0 }, { partitionId: 1 }],
    findLeaderForPartitions: (_: string, partitions: string[]) =>
      Object.groupBy(partitions.map(Number), (partition) => options.leader(partition)),
    findBroker: async ({ nodeId }: { nodeId: string }) => brokers[Number(nodeId) - 1],
  }
  const eosManager = {
    isTransactional: () => true,
    addPartitionsToTransaction: async (topicData: Request['topicData']) =>
      options.refuse(options.leader(topicData[0]?.partitions[0]?.partition ?? 0)),
    acquireBrokerLock: (broker: { nodeId: number }) => locks[broker.nodeId - 1]?.acquire(),
    releaseBrokerLock: (broker: { nodeId: number }) => locks[broker.nodeId - 1]?.release(),
    getSequence: (_: string, partition: number) => sequences[partition],
    updateSequence: (_: string, partition: number, by: number) => {
      sequences[partition] = (sequences[partition] ?? 0) + by
    },
    getTransactionalId: () => 'id',
    getProducerId: () => 1,
    getProducerEpoch: () => 0,
  }
  const logger = { debug() {}, error() {}, warn() {}, info() {} }
  const partitioner = ({ message }: { message: { partition: number } }) => message.partition
  const retrier = createRetry({ initialRetryTime: 1, retries: 3 })
  const send = createSend({ logger, cluster, partitioner, eosManager, retrier })
  const messages = [0, 1].map((partition) => ({ partition, value: null }))
  return { written, send: () => send({ acks: -1, timeout: 1_000, topicMessages: [{ topic: 't', messages }] }) }
}

test('if one broker refuses for a moment, the records of the other broker are written twice, with new sequence numbers', async () => {
  const again = Promise.withResolvers<void>()
  let refusals = 0
  const { written, send } = producer({
    leader: (partition) => partition + 1,
    refuse(nodeId) {
      if (nodeId !== 2) return
      if (refusals++ === 0) throw momentary()
      // The call was restarted: only now the first request to the other broker is answered.
      again.resolve()
    },
    answer: (nodeId) => (nodeId === 1 ? again.promise : Promise.resolve()),
  })
  await send()
  expect(written.filter((each) => each.startsWith('0'))).toEqual(['0 from 0', '0 from 1'])
})

test('if a leader is lost and its partition moves to a broker that has answered, it is not written, and the call succeeds', async () => {
  const first = Promise.withResolvers<void>()
  let lost = false
  const { written, send } = producer({
    leader: (partition) => (lost ? 1 : partition + 1),
    refuse: () => {},
    async answer(nodeId) {
      if (nodeId === 1) return first.resolve()
      await first.promise
      await new Promise(setImmediate)
      lost = true
      written.pop()
      throw momentary()
    },
  })
  await expect(send()).resolves.toMatchObject([{ partition: 0 }])
  expect(written).toEqual(['0 from 0'])
})
