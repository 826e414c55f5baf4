/** What all partitions answer together: their views, the limits in use, and forecasts. */
import { isoTime } from '../../../../streams/text/index.ts'
import type { TopicNames } from '../../../../streams/topics/index.ts'
import type { DueCounts, DueJobs, DueRange, LimitUse, LogAdmin } from '../../../ground/ports/index.ts'
import { inRarity } from '../../../ground/records/index.ts'
import type { OwnerDirectory, PartitionOwnerView } from '../../peers/index.ts'

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

/** Keys in one answer. */
export const limitsListedMax = 200

export interface LimitsOptions {
  owners: Pick<OwnerDirectory, 'ask'>
  partitions: number
}

export interface LimitView extends Omit<LimitUse, 'nextAt'> {
  partition: number
  nextAt?: string
}

/** A partition whose owner does not answer is named, and the others are shown. */
export async function listLimits({ owners, partitions }: LimitsOptions): Promise<{ limits: LimitView[]; missing: number[] }> {
  const numbers = Array.from({ length: partitions }, (_, partition) => partition)
  const answers = await Promise.allSettled(numbers.map((partition) => owners.ask(partition, (owner) => owner.limits(partition))))
  const limits = answers.flatMap((answer, partition) =>
    answer.status === 'fulfilled' ? answer.value.map((use) => viewOf(partition, use)) : [],
  )
  return {
    limits: limits.sort((a, b) => b.waiting - a.waiting || b.held - a.held || (a.key < b.key ? -1 : 1)).slice(0, limitsListedMax),
    missing: numbers.filter((partition) => answers[partition]?.status === 'rejected'),
  }
}

const viewOf = (partition: number, { nextAt, ...use }: LimitUse): LimitView =>
  nextAt === undefined ? { partition, ...use } : { partition, ...use, nextAt: String(isoTime(nextAt)) }

export function forecastOf(counts: readonly DueCounts[], { from, to, bucketMs }: DueRange): Record<string, unknown> {
  const total = (pick: (of: DueCounts) => number): number => counts.reduce((sum, of) => sum + pick(of), 0)
  const buckets = Array.from({ length: Math.ceil((to - from) / bucketMs) }, (_, index) => ({
    at: isoTime(from + index * bucketMs),
    next: Math.round(total(({ next }) => next[index] ?? 0)),
    later: Math.round(total(({ later }) => later[index] ?? 0)),
  }))
  return {
    from: isoTime(from),
    to: isoTime(to),
    bucketMs,
    buckets,
    overdue: total(({ overdue }) => overdue),
    jobs: Math.round(total(({ jobs }) => jobs)),
    sampled: total(({ sampled }) => sampled),
    estimate: counts.some(({ jobs, sampled, cut }) => cut || sampled < Math.round(jobs)),
    until: isoTime(Math.min(...counts.map(({ until }) => until), to)),
  }
}

export function dueJobsOf(
  parts: readonly DueJobs[],
  { from, to, limit }: { from: number; to: number; limit: number },
): Record<string, unknown> {
  const jobs = parts.flatMap((part) => part.jobs).sort(inRarity)
  return {
    from: isoTime(from),
    to: isoTime(to),
    jobs: jobs.slice(0, limit).map(({ id, at, count }) => ({ id, at: isoTime(at), count })),
    found: parts.reduce((sum, { found }) => sum + found, 0),
    complete: parts.every(({ complete }) => complete),
  }
}
