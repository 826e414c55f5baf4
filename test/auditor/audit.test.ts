/** An audit of a system that runs: it reads up to the ends that the log has at its beginning. */
import { afterEach, expect, test, vi } from 'vitest'
import { audit } from '../../src/tools/auditor/audit.ts'
import { at, graceMs, ninth } from './history.ts'

const { read } = vi.hoisted(() => ({ read: { toEnd: async (_options: unknown): Promise<void> => {} } }))

vi.mock('../../src/log/cluster/index.ts', async () => {
  const { topicNames } = await import('../../streams/topics/topics.ts')
  const names = topicNames('p.')
  const topics = [names.jobs, names.state, names.deadLetters, names.events, names.control, names.pauses]
  const log = { topics: async () => [...topics, 'p.executions.default.normal'], readToEnd: (given: unknown) => read.toEnd(given) }
  return { clusterOf: () => ({ log, names, openReadingCodecs: async () => ({}) }) }
})
vi.mock('../../src/log/store/index.ts', async () => {
  const { memoryStore } = await import('../tools/memory-store.ts')
  return { rocksStores: () => ({ open: async () => ({ store: { ...memoryStore(), close: async () => {} } }) }) }
})
vi.mock('../../src/tools/auditor/reading/index.ts', async (original) => ({
  ...(await original<object>()),
  factOf: async (_names: unknown, _codecs: unknown, record: { fact: object }) => record.fact,
}))

afterEach(() => void vi.useRealTimers())

test.each([
  { what: 'what falls due while it reads is not overdue', beganAt: at(10) - 1, kinds: [] },
  { what: 'what was due before is', beganAt: at(10) + graceMs + 1, kinds: ['overdue'] },
])('$what', async ({ beganAt, kinds }) => {
  vi.useFakeTimers({ toFake: ['Date'], now: beganAt })
  read.toEnd = async (given) => {
    const { onRecord } = given as { onRecord(record: object): Promise<void> }
    for (const { topic, fact } of ninth().logged) await onRecord({ topic, fact, timestampMs: fact.at, byBroker: false })
    vi.setSystemTime(at(20))
  }
  const signal = new AbortController().signal
  const { findings } = await audit({
    cluster: { brokers: [] },
    from: undefined,
    to: undefined,
    graceMs,
    onProgress: () => {},
    signal,
  })
  expect(findings.map(({ kind }) => kind)).toEqual(kinds)
})
