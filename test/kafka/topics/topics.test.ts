import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { type TopicPlan, topicNames, topicPlans } from '../../../streams/topics/topics.ts'
import { openLog, uniquePrefix } from '../harness.ts'

const log = openLog()
const ensure = (plans: TopicPlan[], partitions = 2) => log.ensureTopics({ plans, partitions, replication: 1 })

/** Creates a topic as another program would. */
async function createByHand(topic: string, config: Record<string, string>, partitions = 2): Promise<void> {
  await ensure([{ topic, config, schema: 'execution' }], partitions)
}

const planned = (prefix: string, name: 'jobs' | 'state' | 'events'): TopicPlan => {
  const plan = topicPlans(topicNames(prefix), []).find(({ topic }) => topic === topicNames(prefix)[name])
  if (!plan) throw new Error(name)
  return plan
}

describe('ensureTopics', () => {
  test('creates missing topics, and finds them right the next time', async () => {
    const plans = topicPlans(topicNames(uniquePrefix()), ['default'])
    const first = await ensure(plans)
    expect(first.partitions).toBe(2)
    expect([...first.created].sort()).toEqual(plans.map(({ topic }) => topic).sort())
    expect(await ensure(plans)).toEqual({ partitions: 2, created: [] })
    const writer = await log.writer()
    await writer.write([{ topic: plans[0]?.topic ?? '', key: 'k', value: null }])
    await writer.close()
  })

  test('reports a recreated topic if other topics of ours show that it is lost, and nothing about new pools', async () => {
    const names = topicNames(uniquePrefix())
    const told: unknown[] = []
    const loud = openLog({ logger: pino({ level: 'error' }, { write: (line: string) => void told.push(JSON.parse(line)) }) })
    const ensureLoudly = (plans: TopicPlan[]) => loud.ensureTopics({ plans, partitions: 1, replication: 1 })
    const plans = topicPlans(names, [])
    await ensureLoudly(plans.filter(({ topic }) => topic !== names.events))
    expect(told).toEqual([])
    const writer = await log.writer()
    await writer.write([{ topic: names.jobs, partition: 0, key: 'k', value: null }])
    await writer.close()
    await ensureLoudly(plans)
    expect(told).toMatchObject([{ lost: [names.events], present: names.jobs }])
    await ensureLoudly(topicPlans(names, ['reports']))
    expect(told).toHaveLength(1)
  })

  test('lets two processes start at the same time', async () => {
    const plans = topicPlans(topicNames(uniquePrefix()), ['default'])
    const both = await Promise.all([ensure(plans), openLog().ensureTopics({ plans, partitions: 2, replication: 1 })])
    expect(both.map(({ partitions }) => partitions)).toEqual([2, 2])
  })

  test('keeps the number of partitions that jobs has, also for topics that come later', async () => {
    const names = topicNames(uniquePrefix())
    await ensure(topicPlans(names, []), 3)
    const later = await ensure(topicPlans(names, ['reports']), 8)
    expect(later.partitions).toBe(3)
    const admin = await log.admin()
    expect(await admin.offsets(names.executions('reports', 'HIGH'))).toHaveLength(3)
    await admin.close()
  })

  const refusals: [string, 'jobs' | 'state' | 'events', Record<string, string>, RegExp][] = [
    ['jobs that are deleted by age', 'jobs', { 'cleanup.policy': 'delete' }, /cleanup\.policy = delete; needed: compact/],
    ['state that is compacted and deleted', 'state', { 'cleanup.policy': 'compact,delete' }, /needed: compact/],
    ["jobs with the producer's clock", 'jobs', { 'message.timestamp.type': 'CreateTime' }, /needed: LogAppendTime/],
    [
      'tombstones that go too early',
      'state',
      { 'delete.retention.ms': '1000' },
      /delete\.retention\.ms = 1000; needed: at least/,
    ],
    ['definitions compacted at once', 'jobs', { 'min.compaction.lag.ms': '0' }, /min\.compaction\.lag\.ms = 0/],
    ['events that are compacted', 'events', { 'cleanup.policy': 'compact' }, /needed: delete/],
    [
      'events that go within the hour',
      'events',
      { 'retention.ms': '3600000' },
      /retention\.ms = 3600000; needed: at least 86400000/,
    ],
  ]
  test.each(refusals)('refuses %s', async (_, name, change, reason) => {
    const prefix = uniquePrefix()
    const plan = planned(prefix, name)
    await createByHand(plan.topic, { ...plan.config, ...change })
    const refused = ensure([plan])
    await expect(refused).rejects.toMatchObject({ code: 'unsafe-topic', message: expect.stringContaining(plan.topic) })
    await expect(refused).rejects.toThrow(reason)
  })

  test('refuses another number of partitions than jobs has, and creates nothing then', async () => {
    const names = topicNames(uniquePrefix())
    const plans = topicPlans(names, [])
    await createByHand(names.jobs, planned(names.jobs.replace(/jobs$/, ''), 'jobs').config, 2)
    await createByHand(names.events, { 'cleanup.policy': 'delete' }, 3)
    await expect(ensure(plans)).rejects.toThrow(/number of partitions = 3; needed: 2/)
    const admin = await log.admin()
    await expect(admin.offsets(names.state)).rejects.toThrow()
    await admin.close()
  })

  test('accepts events that are kept for ever', async () => {
    const plan = planned(uniquePrefix(), 'events')
    await createByHand(plan.topic, { ...plan.config, 'retention.ms': '-1' })
    expect((await ensure([plan])).created).toEqual([])
  })

  test('reports how many replicas the cluster can hold, and creates nothing', async () => {
    const names = topicNames(uniquePrefix())
    const ensured = log.ensureTopics({ plans: topicPlans(names, []), partitions: 1, replication: 9 })
    await expect(ensured).rejects.toMatchObject({
      code: 'bad-config',
      message: expect.stringContaining('Set DUELOG_REPLICATION=1'),
    })
    expect((await log.topics()).filter((topic) => topic === names.jobs)).toEqual([])
  })

  test('reports that no broker can be reached', async () => {
    const nowhere = openLog({ brokers: ['127.0.0.1:1'] })
    await expect(nowhere.ensureTopics({ plans: [], partitions: 1, replication: 1 })).rejects.toMatchObject({
      code: 'broker-unavailable',
    })
  })
})
