/** Offsets of many topics from the real broker, compared with those of one topic at a time. */
import { expect, onTestFinished, test } from 'vitest'
import type { TopicPlan } from '../../../streams/topics/topics.ts'
import { openLog, openWriter, uniquePrefix } from '../harness.ts'

test('offsets of many topics are those of each, and a topic that does not exist is absent', async () => {
  const prefix = uniquePrefix()
  const topics = ['a', 'b', 'c'].map((name) => `${prefix}${name}`)
  const log = openLog()
  const plans: TopicPlan[] = topics.map((topic) => ({ topic, schema: 'execution', config: {} }))
  await log.ensureTopics({ plans, partitions: 3, replication: 1 })
  const writer = await openWriter()
  const record = { key: 'k', value: Buffer.from('v'), headers: {} }
  await writer.write([0, 1, 1].map((partition) => ({ topic: topics[1] as string, partition, ...record })))
  const admin = await log.admin()
  onTestFinished(() => admin.close())
  const found = await admin.offsetsOf([...topics, `${prefix}nowhere`])
  expect([...found.keys()].sort()).toEqual(topics)
  expect(found.get(topics[1] as string)).toEqual([
    { partition: 0, earliest: 0, next: 1 },
    { partition: 1, earliest: 0, next: 2 },
    { partition: 2, earliest: 0, next: 0 },
  ])
  for (const topic of topics) expect(found.get(topic)).toEqual(await admin.offsets(topic))
  expect(await admin.committedOf(`${prefix}group`, topics)).toEqual(new Map(topics.map((topic) => [topic, []])))
})
