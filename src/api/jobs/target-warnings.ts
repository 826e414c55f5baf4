/** Warnings of a plan about targets that are not there: their jobs would be INVALID. */
import type { JobDefinition } from '../../../schemas/index.ts'
import { type TopicNames, topicsOfPool } from '../../../streams/topics/index.ts'

/** `existing`: all topics that this process may see. Undefined: the target is there. */
export function targetWarning(
  { target: { topic, pool } }: Pick<JobDefinition, 'target'>,
  existing: ReadonlySet<string>,
  names: Pick<TopicNames, 'executions'>,
): string | undefined {
  if (topic !== null) {
    if (existing.has(topic.name)) return undefined
    return `Topic ${topic.name} does not exist, or this process may not see it. The job is invalid until it exists.`
  }
  const missing = topicsOfPool(names, pool).find((name) => !existing.has(name))
  if (missing === undefined) return undefined
  return `Pool ${pool} has no topics (${missing} does not exist, or this process may not see it). The job is invalid until they exist: create them with \`duelog topics apply --pools ${pool}\`, or start workers with the pool in DUELOG_POOLS; or name another pool.`
}
