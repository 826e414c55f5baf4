/** The state of each partition: as its owner sees it, and how far the logs go past that. */
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { LogAdmin } from '../../ports/index.ts'
import type { OwnerDirectory, PartitionOwnerView } from './owner-directory.ts'

export async function listPartitions(
  owners: OwnerDirectory,
  admin: Pick<LogAdmin, 'offsets'>,
  names: TopicNames,
): Promise<Record<string, unknown>[]> {
  const ends = async (topic: string): Promise<Map<number, number>> =>
    new Map((await admin.offsets(topic)).map(({ partition, next }) => [partition, next]))
  const [jobs, commands, events] = await Promise.all([ends(names.jobs), ends(names.commands), ends(names.events)])
  // Asked after the logs: an owner may be further than the logs were then, but never as far behind as they have grown since.
  const [views, standbys] = await Promise.all([owners.views(), owners.standbys()])
  return views.map((view) => {
    const {
      partition,
      jobsOffset,
      commandsOffset,
      eventsOffset,
      restoreRemaining,
      restoreTotal,
      role: _role,
      behindRecords: _behind,
      zoneRules = null,
      zoneWalk = null,
      lastReset = null,
      openTransaction = null,
      standing = null,
      lateness = null,
      isCurrent: _current,
      pools: _pools,
      ...rest
    } = view
    const followers = standbys.get(partition) ?? []
    const behind = (end: number | undefined, at: number): number => Math.max(0, (end ?? 0) - at)
    return {
      ...{ partition, ...rest, restoreRemaining, restoreTotal, restoreShare: shareOf(view), jobsOffset },
      standbys: followers,
      zoneRules,
      zoneRulesDiffer: zoneRules !== null && followers.some((other) => other.zoneRules !== null && other.zoneRules !== zoneRules),
      zoneWalk,
      standing,
      lateness,
      lastReset: lastReset === null ? null : { ...lastReset, at: new Date(lastReset.at).toISOString() },
      openTransaction:
        openTransaction === null ? null : { ...openTransaction, since: new Date(openTransaction.since).toISOString() },
      lag:
        view.phase === 'active'
          ? {
              jobs: behind(jobs.get(partition), jobsOffset),
              commands: behind(commands.get(partition), commandsOffset),
              events: behind(events.get(partition), eventsOffset),
            }
          : null,
    }
  })
}

/** Completed share of the restore; null if nothing is restored. */
function shareOf({ phase, restoreRemaining, restoreTotal }: PartitionOwnerView): number | null {
  if (phase === 'closed') return null
  if (phase === 'active' || restoreTotal === 0) return 1
  return Math.round((1 - restoreRemaining / restoreTotal) * 1_000) / 1_000
}
