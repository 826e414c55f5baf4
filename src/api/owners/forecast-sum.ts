/** The counts of all partitions as one answer. */
import { isoTime } from '../../../streams/text/index.ts'
import type { DueCounts, DueRange } from '../../ports/index.ts'

export function forecastOf(counts: readonly DueCounts[], { from, to, bucketMs }: DueRange): Record<string, unknown> {
  const total = (pick: (of: DueCounts) => number): number => counts.reduce((sum, of) => sum + pick(of), 0)
  const buckets = Array.from({ length: Math.ceil((to - from) / bucketMs) }, (_, index) => ({
    at: isoTime(from + index * bucketMs),
    next: total(({ next }) => next[index] ?? 0),
    later: Math.round(total(({ later }) => later[index] ?? 0)),
  }))
  return {
    from: isoTime(from),
    to: isoTime(to),
    bucketMs,
    buckets,
    overdue: total(({ overdue }) => overdue),
    jobs: total(({ jobs }) => jobs),
    sampled: total(({ sampled }) => sampled),
    estimate: counts.some(({ jobs, sampled, cut }) => cut || sampled < jobs),
    until: isoTime(Math.min(...counts.map(({ until }) => until), to)),
  }
}
