/** Whether a worker finds the topics of its pool. The brokers alone would say that some topic does not exist. */
import { type TopicNames, topicsOfPool } from '../../streams/topics/index.ts'
import { DuelogError } from '../errors/index.ts'

/** Rejects with DuelogError `unsafe-topic`, which names the pool and what to do. `topics`: those that this worker may see. */
export async function requirePoolTopics(topics: () => Promise<string[]>, names: TopicNames, pool: string): Promise<void> {
  const existing = new Set(await topics())
  const missing = topicsOfPool(names, pool).find((topic) => !existing.has(topic))
  if (missing === undefined) return
  // A worker has the right to see this topic in any case.
  if (!existing.has(names.control))
    throw new DuelogError(
      'unsafe-topic',
      `There is no Duelog here: ${names.control} does not exist, or this worker may not see it. Start Duelog first, which creates its topics, or name its topicPrefix and its brokers. With ACLs, grant Describe on its topics.`,
    )
  throw new DuelogError(
    'unsafe-topic',
    `Pool ${pool} has no topics: ${missing} does not exist, or this worker may not see it. Create them with \`duelog topics apply --pools ${pool}\`, or start Duelog with ${pool} in DUELOG_POOLS, and start the worker again; or name another pool. With ACLs, grant Describe on them.`,
  )
}
