/** Reading to the end while a leader moves, over the groups of kafkajs: a failed fetch says nothing about the records there. */
import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import type { Kafka } from 'kafkajs'
import { expect, test, vi } from 'vitest'
import { settingsOf } from '../../src/kafka/brokers/client.ts'
import { readToEnd } from '../../src/kafka/reading/bounded-reader.ts'

// No wait is needed here between two tries.
vi.mock('node:timers/promises', () => ({ setTimeout: async () => {} }))

interface Group {
  connect(): Promise<void>
  recoverFromFetch(error: unknown): Promise<void>
  joinAndSync(): Promise<void>
}
const ConsumerGroup = createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup.js') as new (options: object) => Group
const logger = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => logger }
const moved = Object.assign(new Error('moved'), { name: 'KafkaJSProtocolError', type: 'NOT_LEADER_FOR_PARTITION' })

const [lastOffset, nodeId] = ['6', 1]

/** Each of these fetches finds that the leader has moved. The fetch after them returns all records. */
function readingWith(failures: number) {
  const events = Object.fromEntries(
    ['GROUP_JOIN', 'END_BATCH_PROCESS', 'FETCH_START', 'FETCH', 'CRASH'].map((name) => [name, name]),
  )
  const emitter = new EventEmitter()
  const emit = (name: string, payload: object): void => void emitter.emit(name, { payload })
  const joinAndSync = vi.fn(async () => {})
  const cluster = { connect: async () => {}, refreshMetadata: async () => {}, refreshMetadataIfNecessary: async () => {} }
  const run = async (): Promise<void> => {
    const options = { cluster, logger, groupId: 'g', topics: [], assigners: [], instrumentationEmitter: { emit() {} } }
    const group = new ConsumerGroup({ ...options, sessionTimeout: 10_000, rebalanceTimeout: 10_000, topicConfigurations: {} })
    group.joinAndSync = joinAndSync
    await group.connect()
    for (let fetch = 0; fetch < failures; fetch++) {
      emit('FETCH_START', { nodeId })
      await group.recoverFromFetch(moved)
      emit('FETCH', { nodeId })
    }
    emit('END_BATCH_PROCESS', { topic: 'a', partition: 0, lastOffset })
  }
  const consumer = {
    ...{ events, on: (name: string, listener: (event: object) => void) => emitter.on(name, listener) },
    ...{ connect: async () => {}, subscribe: async () => {}, disconnect: async () => {} },
    ...{ seek() {}, pause() {}, run: () => void setImmediate(() => void run()) },
  }
  const admin = {
    ...{ connect: async () => {}, disconnect: async () => {}, deleteGroups: async () => [] },
    fetchTopicOffsets: async () => [{ partition: 0, offset: '7', low: '0', high: '7' }],
  }
  return { kafka: { admin: () => admin, consumer: () => consumer } as unknown as Kafka, joinAndSync }
}

test('a reader ends when all is read, however often a fetch has found no leader, and joins no group for that', async () => {
  const { kafka, joinAndSync } = readingWith(60)
  const seen: number[] = []
  await readToEnd(kafka, settingsOf({ brokers: [], clientId: 'c' }), {
    ...{ topics: ['a'], groupPrefix: 'x', signal: new AbortController().signal },
    onRecord: () => {},
    onProgress: (done) => void seen.push(done),
  })
  expect(seen).toEqual([7])
  expect(joinAndSync).not.toHaveBeenCalled()
})
