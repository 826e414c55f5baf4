/** Which partition a key belongs to. */
import fc from 'fast-check'
import { Partitioners } from 'kafkajs'
import { describe, expect, it } from 'vitest'
import { keyPartitionOf, partitionOf, topicNames, topicPlans } from '../../../streams/topics/topics.ts'

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[{}ab]{0,8}$/))
const count = fc.integer({ min: 1, max: 256 })
const plain = text.filter((part) => !/[{}]/.test(part))
const tag = plain.filter((part) => part !== '')

/** The partition that Kafka's Java client and kafkajs choose for a key. */
function foreign(key: string, partitions: number): number {
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => {
    return { partitionId, leader: 1, partitionErrorCode: 0, replicas: [], isr: [] }
  })
  return Partitioners.DefaultPartitioner()({ topic: 't', partitionMetadata, message: { key, value: null } })
}

describe('the topics of a cluster', () => {
  const plans = () => topicPlans(topicNames('a.'), ['default', 'gpu'])
  const days = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text) / 86_400_000)
  it('have names that never change: clients, grants and old logs use them', () => {
    const lanes = ['high', 'normal', 'low'].flatMap((priority) => [priority, `${priority}.ahead`])
    expect(
      plans()
        .map(({ topic }) => topic)
        .toSorted(),
    ).toEqual(
      [
        ...[
          'a.jobs',
          'a.job-state',
          'a.job-commands',
          'a.execution-events',
          'a.executions.dlq',
          'a.worker-control',
          'a.audit',
          'a.runs',
          'a.run-logs',
          'a.operations',
          'a.pauses',
        ],
        ...['1s', '5s', '30s', '2m', '10m', '1h'].map((tier) => `a.retry.${tier}`),
        ...['default', 'gpu'].flatMap((pool) => lanes.map((lane) => `a.executions.${pool}.${lane}`)),
      ].toSorted(),
    )
    expect(topicNames('a.').group('exec.gpu')).toBe('a.exec.gpu')
    expect(topicNames('a.').executions('gpu', 'LOW')).toBe('a.executions.gpu.low')
  })
  it.each([
    ['a.jobs', 'job-definition', 'compact', 7],
    ['a.job-state', 'job-state', 'compact', 7],
    ['a.job-commands', 'job-command', 'delete', 7],
    ['a.execution-events', 'execution-event', 'delete', 7],
    ['a.executions.dlq', 'dead-letter', 'delete', 30],
    ['a.worker-control', 'worker-control', 'delete', 1 / 24],
    ['a.audit', 'audit-event', 'delete', 90],
    ['a.runs', 'ended-run', 'delete', 90],
    ['a.run-logs', 'run-log', 'delete', 7],
    ['a.operations', 'operation', 'compact', 7],
    ['a.pauses', 'pause', 'compact', 7],
    ['a.retry.1h', 'execution', 'delete', 7],
    ['a.executions.gpu.high.ahead', 'execution', 'delete', 7],
  ])('%s holds %s records and is kept by %s, for %d days', (topic, schema, policy, kept) => {
    const plan = plans().find((each) => each.topic === topic) ?? expect.fail()
    const { config } = plan
    expect([plan.schema, config['cleanup.policy']]).toEqual([schema, policy])
    expect(days(config[policy === 'compact' ? 'delete.retention.ms' : 'retention.ms'])).toBe(kept)
  })
  it('keep ended runs and lines of run.log for as long as the settings say; with 0 nobody writes them, and the topic has the default', () => {
    const kept = (runsRetentionMs: number, runLogsRetentionMs: number): (string | undefined)[] => {
      const made = topicPlans(topicNames('a.'), [], { runsRetentionMs, runLogsRetentionMs })
      return ['a.runs', 'a.run-logs'].map((name) => made.find(({ topic }) => topic === name)?.config['retention.ms'])
    }
    expect([kept(172_800_000, 86_400_000), kept(0, 0)]).toEqual([
      ['172800000', '86400000'],
      ['7776000000', '604800000'],
    ])
  })
  it('have the time of their broker if an owner judges by it', () => {
    const all = plans()
    const timed = all.filter(({ config }) => config['message.timestamp.type'] === 'LogAppendTime')
    expect(all.filter((plan) => !timed.includes(plan)).map(({ topic }) => topic)).toEqual([
      'a.executions.dlq',
      'a.worker-control',
      'a.audit',
      'a.runs',
      'a.operations',
      'a.pauses',
    ])
  })
  it('accept what writers send in one batch, whatever the limit of the brokers', () => {
    for (const { config } of plans()) expect(Number(config['max.message.bytes'])).toBeGreaterThanOrEqual(1_048_588)
  })
  it('keep each definition for a day before a newer one may replace it', () => {
    expect(days(plans().find(({ topic }) => topic === 'a.jobs')?.config['min.compaction.lag.ms'])).toBe(1)
  })
})

describe('the partition of a job id', () => {
  it('without a tag is the one that any client with murmur2 chooses', () => {
    fc.assert(
      fc.property(
        plain.filter((id) => id !== ''),
        count,
        (id, partitions) => {
          expect(partitionOf(id, partitions)).toBe(foreign(id, partitions))
          expect(partitionOf(Buffer.from(id), partitions)).toBe(partitionOf(id, partitions))
        },
      ),
    )
  })
  it('with a tag is that of the tag, whatever is around it', () => {
    fc.assert(
      fc.property(plain, tag, text, count, (before, shared, after, partitions) => {
        expect(partitionOf(`${before}{${shared}}${after}`, partitions)).toBe(foreign(shared, partitions))
      }),
    )
  })
  it('is the same for text and bytes, and within the count, whatever the id', () => {
    fc.assert(
      fc.property(text, count, (id, partitions) => {
        const found = partitionOf(id, partitions)
        expect(found).toBe(partitionOf(Buffer.from(id), partitions))
        expect(Number.isInteger(found) && found >= 0 && found < partitions).toBe(true)
      }),
    )
  })
  it.each([
    ['{customer-7}invoice', 'customer-7'],
    ['invoice{customer-7}', 'customer-7'],
    ['a{b}c{d}', 'b'],
    ['a{b{c}d', 'b{c'],
    ['}{a}', 'a'],
    ['{ü€}x', 'ü€'],
    ['a{}b', 'a{}b'],
    ['a{}{b}', 'a{}{b}'],
    ['a{b', 'a{b'],
    ['a}b', 'a}b'],
    ['a}b{', 'a}b{'],
    ['{}', '{}'],
  ])('of %s follows %s', (id, hashed) => {
    for (const partitions of [2, 7, 64]) expect(partitionOf(id, partitions)).toBe(keyPartitionOf(hashed, partitions))
  })
  it('spreads tags like ids', () => {
    const counts = new Array<number>(8).fill(0)
    for (let n = 0; n < 8_000; n++) {
      const partition = partitionOf(`{tag-${n}}job`, 8)
      counts[partition] = (counts[partition] ?? 0) + 1
    }
    for (const each of counts) expect(Math.abs(each - 1_000)).toBeLessThan(150)
  })
})

describe('the partition of any other key', () => {
  it('is the one that any client with murmur2 chooses, braces or not', () => {
    fc.assert(
      fc.property(
        text.filter((key) => key !== ''),
        count,
        (key, partitions) => {
          expect(keyPartitionOf(key, partitions)).toBe(foreign(key, partitions))
        },
      ),
    )
  })
})
