/** Warnings that a definition alone does not show: about a target that is not there, and a job that has already run. */
import type { JobDefinition } from '../../../schemas/index.ts'
import { isoTime } from '../../../streams/text/index.ts'
import { type TopicNames, topicsOfPool } from '../../../streams/topics/index.ts'
import type { JobView } from '../../ports/index.ts'

/** Its job would be INVALID. `existing`: all topics that this process may see. Undefined: the target is there. */
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

/** A job fires once for one instant: a repeated write of a job must not run it again. With another payload, that may surprise. */
export function firedBeforeWarning({ status, definition, offset, lastRun }: JobView): string | undefined {
  const at = definition?.schedule.at ?? null
  if (status !== 'COMPLETED' || at === null || lastRun?.scheduledFor !== at || lastRun.specOffset === offset) return undefined
  return `The job has already run for ${isoTime(at)}, and does not run for it again. Trigger it, or give it another time or delayMs.`
}
