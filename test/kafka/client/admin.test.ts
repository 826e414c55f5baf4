/** Offset lookups while a broker is lost: partitions ask in parallel, and a failure of one does not affect the others. */
import type { Kafka } from 'kafkajs'
import { expect, test, vi } from 'vitest'
import { BrokerAdmin } from '../../../src/log/kafka/client/admin.ts'

type Offsets = { topic: string; partitions: { partition: number; offset: string }[] }[]

/** Each of its clusters records its requests, and whether it was disconnected. */
function brokenKafka() {
  const clusters: { asked: PromiseWithResolvers<Offsets>[]; connected: boolean; refreshes: number }[] = []
  const newCluster = () => {
    const notes = { asked: [] as PromiseWithResolvers<Offsets>[], connected: true, refreshes: 0 }
    clusters.push(notes)
    return {
      connect: async () => {},
      disconnect: async () => {
        notes.connected = false
      },
      addMultipleTargetTopics: async () => {},
      refreshMetadataIfNecessary: async () => {},
      refreshMetadata: async () => void notes.refreshes++,
      findTopicPartitionMetadata: () => [{ partitionId: 0 }],
      fetchTopicsOffset: () => {
        const asked = Promise.withResolvers<Offsets>()
        notes.asked.push(asked)
        return asked.promise
      },
    }
  }
  const kafka = {
    admin: () => ({ connect: async () => {}, disconnect: async () => {} }),
    consumer: ({ partitionAssigners }: { partitionAssigners: ((given: object) => unknown)[] }) =>
      partitionAssigners[0]?.({ cluster: newCluster() }),
  }
  return { kafka: kafka as unknown as Kafka, clusters }
}

const answer = (topic: string, offset: string): Offsets => [{ topic, partitions: [{ partition: 0, offset }] }]

test('after simultaneous failures there are new connections, and the old ones are closed after their last answer', async () => {
  const { kafka, clusters } = brokenKafka()
  const admin = await BrokerAdmin.open(kafka)
  const questions = ['a', 'b', 'c'].map((topic) => admin.offsets(topic))
  await vi.waitUntil(() => clusters[0]?.asked.length === 3)
  const [first, second, third] = clusters[0]?.asked ?? []
  const lost = Object.assign(new Error('gone'), { name: 'KafkaJSConnectionError' })
  first?.reject(lost)
  second?.reject(lost)
  await expect(questions[0]).rejects.toMatchObject({ code: 'broker-unavailable' })
  await expect(questions[1]).rejects.toMatchObject({ code: 'broker-unavailable' })
  expect(clusters.map(({ connected }) => connected)).toEqual([true])
  third?.resolve(answer('c', '1'))
  await vi.waitUntil(() => clusters[0]?.asked.length === 4)
  clusters[0]?.asked[3]?.resolve(answer('c', '5'))
  expect(await questions[2]).toEqual([{ partition: 0, earliest: 1, next: 5 }])
  await vi.waitUntil(() => clusters[0]?.connected === false)

  const next = admin.offsets('d')
  await vi.waitUntil(() => clusters[1]?.asked.length === 1)
  clusters[1]?.asked[0]?.resolve(answer('d', '1'))
  await vi.waitUntil(() => clusters[1]?.asked.length === 2)
  clusters[1]?.asked[1]?.resolve(answer('d', '9'))
  expect(await next).toEqual([{ partition: 0, earliest: 1, next: 9 }])
})

test('a transaction whose predecessor is not over yet is a temporary state of the brokers, not an error', async () => {
  const { faultOf } = await import('../../../src/log/kafka/client/errors.ts')
  const thrown = Object.assign(new Error('busy'), {
    name: 'KafkaJSProtocolError',
    type: 'CONCURRENT_TRANSACTIONS',
    retriable: false,
  })
  expect(faultOf(thrown, 'A transaction').code).toBe('broker-unavailable')
})

test('a leader that has moved is asked for again, with new metadata', async () => {
  const { kafka, clusters } = brokenKafka()
  const admin = await BrokerAdmin.open(kafka)
  const question = admin.offsets('new')
  await vi.waitUntil(() => clusters[0]?.asked.length === 1)
  clusters[0]?.asked[0]?.reject(Object.assign(new Error('moved'), { type: 'NOT_LEADER_FOR_PARTITION' }))
  for (const at of [1, 2]) {
    await vi.waitUntil(() => clusters[0]?.asked.length === at + 1)
    clusters[0]?.asked[at]?.resolve(answer('new', '5'))
  }
  expect(await question).toEqual([{ partition: 0, earliest: 5, next: 5 }])
  expect(clusters.map(({ refreshes }) => refreshes)).toEqual([1])
})

test('any other error is reported at once', async () => {
  const { kafka, clusters } = brokenKafka()
  const admin = await BrokerAdmin.open(kafka)
  const question = admin.offsets('a')
  await vi.waitUntil(() => clusters[0]?.asked.length === 1)
  clusters[0]?.asked[0]?.reject(new TypeError('something is not a function'))
  await expect(question).rejects.toMatchObject({ code: 'internal' })
})
