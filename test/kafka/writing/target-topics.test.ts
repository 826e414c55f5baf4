/** What is known of the topics of pools, on a broker that only lists topics. */
import type { Kafka } from 'kafkajs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PartitionCounts } from '../../../src/kafka/admin/partition-counts.ts'
import { CheckedTopics, checkIntervalMs } from '../../../src/kafka/writing/target-topics.ts'
import { priorities, topicNames } from '../../../streams/topics/topics.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const silent = { debug() {}, info() {}, warn() {}, error() {} }

test('a pool that got its topics is known before jobs are checked again, and looked for no longer than they wait', async () => {
  let topics: string[] = []
  let lists = 0
  const admin = {
    connect: async () => {},
    disconnect: async () => {},
    listTopics: async () => {
      lists++
      return topics
    },
    describeConfigs: async () => ({ resources: [] }),
  }
  const kafka = { admin: () => admin } as unknown as Kafka
  const checked = new CheckedTopics(kafka, new PartitionCounts(kafka), silent, { patterns: [], prefix: 't.', pools: [] })
  await checked.start()
  const after = async (ms: number): Promise<void> => {
    await vi.advanceTimersByTimeAsync(ms)
    await checked.check()
  }
  vi.advanceTimersByTime(10 * checkIntervalMs)
  expect(lists).toBe(1)
  expect(checked.poolProblem('gpu')).toContain('duelog topics apply --pools gpu')

  await checked.check()
  const { executions } = topicNames('t.')
  topics = priorities.flatMap((priority) => [executions('gpu', priority), executions('gpu', priority, true)])
  await vi.advanceTimersByTimeAsync(checkIntervalMs)
  // The first question is answered by what is known, and would itself lead to a check.
  expect(checked.poolProblem('gpu')).toBeUndefined()

  await after(900_000)
  const seen = lists
  await vi.advanceTimersByTimeAsync(10 * checkIntervalMs)
  expect(lists).toBe(seen)
  await checked.stop()
  expect(checked.poolProblem('other')).toContain('no topics')
  await vi.advanceTimersByTimeAsync(2 * checkIntervalMs)
  expect(vi.getTimerCount()).toBe(0)
})
