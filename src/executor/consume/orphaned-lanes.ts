/** Finds out whether the last readers of lanes may have died: they have not closed what they had read. */
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../clock/index.ts'
import { withTimeout } from '../../concurrency/index.ts'
import type { Logger } from '../../logging/index.ts'
import { isClosed, type Log, restartsOf } from '../../ports/index.ts'
import type { Lane } from './lane.ts'

/** How long a look may take, and how long one without an answer takes. */
const lookMs = 2_000

export interface OrphanedLanesOptions {
  log: Log
  names: TopicNames
  pool: string
  clock: Clock
  logger: Logger
}

/**
 * Sets isOrphaned of these lanes, and what their last readers told of untracked runs. Leaves both unknown without an answer: a worker that
 * counted anew would start such a run more often. It never rejects.
 */
export async function lookForOrphans(lanes: readonly Lane[], options: OrphanedLanesOptions): Promise<void> {
  const { clock, logger, pool } = options
  const epochs = lanes.map(({ epoch }) => epoch)
  const told = await withTimeout(clock, lookMs, toldOf(lanes, options))
  if (told === undefined) return
  for (const [at, lane] of lanes.entries()) {
    if (lane.epoch !== epochs[at]) continue
    const metadata = told.get(`${lane.topic}/${lane.partition}`)
    lane.isOrphaned = !isClosed(metadata, clock.nowMs())
    lane.restarted(restartsOf(metadata))
  }
  const partitions = lanes.filter(({ isOrphaned }) => isOrphaned).length
  if (partitions === 0) return
  logger.info(
    { event: 'partitions-orphaned', pool, partitions },
    'The last workers of some partitions did not say that they left. What they may have started starts again, one by one at first.',
  )
}

/** The metadata of their committed offsets. */
async function toldOf(lanes: readonly Lane[], { log, names, pool, logger }: OrphanedLanesOptions): Promise<Map<string, string>> {
  try {
    const told = new Map<string, string>()
    const admin = await log.admin()
    const topics = [...new Set(lanes.map(({ topic }) => topic))]
    const committed = await admin
      .committedOf(names.group(`exec.${pool}`), topics)
      .finally(() => void admin.close().catch(() => {}))
    for (const [topic, offsets] of committed)
      for (const { partition, metadata } of offsets) if (metadata !== undefined) told.set(`${topic}/${partition}`, metadata)
    return told
  } catch (error) {
    logger.debug({ event: 'offsets-not-read', err: error }, 'The committed offsets could not be read.')
    // The next look begins when the time for this one is over.
    return new Promise(() => {})
  }
}
