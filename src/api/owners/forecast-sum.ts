/** The counts, and the jobs that are due, of all partitions as one answer. */
import { isoTime } from '../../../streams/text/index.ts'
import { type DueCounts, type DueJobs, type DueRange, inRarity } from '../../ports/index.ts'

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
