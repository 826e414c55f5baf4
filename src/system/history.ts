/** Creates and starts the history of this process. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { topicPlans } from '../../streams/topics/index.ts'
import type { History } from '../history/index.ts'
import type { Scheduler } from '../scheduler/index.ts'
import type { ProcessContext } from './process-context.ts'

/** An owner in the same process has priority: the history joins when the partitions fire, or at the latest after this time. */
const ownerFirstMs = 30_000
/** Undefined: this process does not have the role. */
export async function historyOf(parts: ProcessContext, clusterId: string | undefined): Promise<History | undefined> {
  const { config, logger, log, codecs, names, instance, metrics, clock } = parts
  if (!config.roles.has('history')) return undefined
  const [{ History }, { peerNote }] = await Promise.all([import('../history/index.ts'), import('../api/index.ts')])
  const plan = topicPlans(names, config.pools, config).find(({ topic }) => topic === names.runs)
  const topicRetentionMs = Number(plan?.config['retention.ms'])
  return new History({
    log,
    codec: codecs.endedRun,
    names,
    instance,
    userData: () => peerNote(parts.url, config.apiTokens),
    path: join(config.dataDir, 'history', 'runs.sqlite'),
    url: config.historyUrl,
    clusterId,
    retentionMs: config.historyRetentionMs ?? topicRetentionMs,
    clock,
    metrics,
    logger,
  })
}

/** Nothing waits for it, because nothing else needs it. Call it when the URL of this process is known. */
export function startHistory(
  history: History | undefined,
  scheduler: Scheduler | undefined,
  { undo }: Pick<ProcessContext, 'undo'>,
): void {
  if (history === undefined) return
  undo.push(() => history.stop())
  const ready = scheduler?.ready().catch(() => undefined) ?? Promise.resolve()
  void Promise.race([ready, setTimeout(ownerFirstMs, undefined, { ref: false })]).then(() => history.start())
}
