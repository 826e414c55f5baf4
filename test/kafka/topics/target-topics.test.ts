/** What is known of the topics of pools, on a broker that only lists topics. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { BrokerAdmin, KafkaClient } from '../../../src/log/kafka/client/index.ts'
import { CheckedTopics, checkIntervalMs, missingIntervalMs } from '../../../src/log/kafka/topics/target-topics.ts'
import { priorities, topicNames } from '../../../streams/topics/topics.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** A broker that only lists topics. */
function broker(patterns: string[] = []) {
  const seen = { topics: [] as string[], lists: 0 }
  const admin = {
    topics: async () => {
      seen.lists++
      return seen.topics
    },
    partitionsOf: async (topics: string[]) =>
      new Map(topics.map((name) => [name, [{ partitionId: 0, leader: 1, replicas: [1] }]])),
    settingsOf: async () => new Map(),
  } as unknown as BrokerAdmin
  const client = {
    withAdmin: async (_doing: string, ask: (admin: BrokerAdmin) => unknown) => ask(admin),
    counts: { learn() {}, forget() {} },
  } as unknown as KafkaClient
  const checked = new CheckedTopics(client, silent, { patterns, prefix: 't.', pools: [] })
  return { seen, checked }
}

const { executions } = topicNames('t.')
const poolTopics = priorities.flatMap((priority) => [executions('gpu', priority), executions('gpu', priority, true)])

test('a pool that got its topics is known before jobs are checked again, and looked for no longer than they wait', async () => {
  const { seen, checked } = broker()
  await checked.start()
  const after = async (ms: number): Promise<void> => {
    await vi.advanceTimersByTimeAsync(ms)
    await checked.check()
  }
  vi.advanceTimersByTime(10 * checkIntervalMs)
  expect(seen.lists).toBe(1)
  expect(checked.poolProblem('gpu')).toContain('duelog topics apply --pools gpu')

  await checked.check()
  seen.topics = poolTopics
  await vi.advanceTimersByTimeAsync(checkIntervalMs)
  // The first question is answered by what is known, and would itself lead to a check.
  expect(checked.poolProblem('gpu')).toBeUndefined()

  await after(900_000)
  const { lists } = seen
  await vi.advanceTimersByTimeAsync(10 * checkIntervalMs)
  expect(seen.lists).toBe(lists)
  await checked.stop()
  expect(checked.poolProblem('other')).toContain('no topics')
  await vi.advanceTimersByTimeAsync(2 * checkIntervalMs)
  expect(vi.getTimerCount()).toBe(0)
})

test('listeners hear once that a missing pool or topic exists, 5 s later at most, whoever asked how often', async () => {
  const { seen, checked } = broker(['orders'])
  await checked.start()
  let calls = 0
  const end = checked.onAppeared(() => calls++)
  for (let times = 0; times < 100; times++) {
    expect(checked.poolProblem('gpu')).toContain('no topics')
    expect(checked.problem({ name: 'orders', partition: null }, 1)).toContain('does not exist')
  }
  const { lists } = seen
  // All but one of its topics are not enough.
  seen.topics = poolTopics.slice(1)
  await vi.advanceTimersByTimeAsync(missingIntervalMs)
  expect([seen.lists - lists, calls, checked.appeared]).toEqual([1, 0, 0])
  seen.topics = poolTopics
  await vi.advanceTimersByTimeAsync(missingIntervalMs)
  expect([calls, checked.appeared, checked.poolProblem('gpu')]).toEqual([1, 1, undefined])
  seen.topics = [...poolTopics, 'orders']
  await vi.advanceTimersByTimeAsync(missingIntervalMs)
  expect([calls, checked.problem({ name: 'orders', partition: null }, 1)]).toEqual([2, undefined])
  await vi.advanceTimersByTimeAsync(2 * missingIntervalMs)
  expect(calls).toBe(2)
  end()
  await checked.stop()
  expect(vi.getTimerCount()).toBe(0)
})
