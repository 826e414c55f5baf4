/** The occurrences that a recurring job still has, counted without a look at each where that is possible, and which jobs are asked about. */
import type { JobDefinition } from '../../../schemas/index.ts'
import { firstFire, nextFire, type ScheduleSource, stepsSpent } from '../../../streams/schedules/index.ts'
import type { Job } from '../../../streams/state/index.ts'
import type { DueFilter, DueRange } from '../../ground/ports/index.ts'
import { poolOf } from '../activity/index.ts'

/** What a recurring job still has to do, without its payload: thousands of them are in memory together. */
export interface Recurrence {
  source: ScheduleSource
  expireAt: number | null
  anchorAt: number
  first: number
  left: number
}

/** False for `from: END`, because the next time depends on the unknown duration of a run. */
const recursByItself = ({ schedule: { at, delayMs, from } }: JobDefinition): boolean =>
  at === null && delayMs === null && from !== 'END'

/** Undefined if nothing follows its next occurrence. */
export function recurrenceOf({ definition, state }: Job): Recurrence | undefined {
  const spec = definition?.spec
  if (definition === undefined || spec === undefined || !recursByItself(spec)) return undefined
  const { schedule, startAt, endAt, expireAt, maxRuns } = spec
  const left = (maxRuns === null ? Number.MAX_SAFE_INTEGER : maxRuns - (state?.scheduledRuns ?? 0)) - 1
  const anchorAt = state?.anchorAt ?? definition.appendedAt
  const first = state?.nextFireAt ?? firstFire(spec, anchorAt)
  return first === null ? undefined : { source: { schedule, startAt, endAt }, expireAt, anchorAt, first, left }
}

/**
 * Counts the occurrences of a job after the next one, which is counted already. It yields after each search. True: the share of the job
 * was used up; the rest is assumed to continue at the same rate.
 */
export function* addingFires(
  counts: number[],
  recurrence: Recurrence | undefined,
  range: DueRange,
  share: { occurrences: number; steps: number },
): Generator<void, boolean> {
  if (recurrence === undefined) return false
  const { source, expireAt, anchorAt, first, left } = recurrence
  const to = Math.min(range.to, expireAt ?? range.to, (source.endAt ?? range.to) + 1)
  const add = (at: number, count: number): void => {
    const bucket = Math.floor((at - range.from) / range.bucketMs)
    if (bucket >= 0 && bucket < counts.length) counts[bucket] = (counts[bucket] ?? 0) + count
  }
  const { everyMs } = source.schedule
  if (everyMs !== null) {
    addPoints(counts, { first, everyMs, left, to }, range)
    return false
  }
  let [last, searched] = [first, 0]
  for (let made = 0; made < left; made++) {
    const before = stepsSpent()
    const fire = nextFire(source, anchorAt, last)
    searched += stepsSpent() - before
    yield
    if (fire === null || fire >= to) return false
    if (made === share.occurrences || searched > share.steps) {
      const meanMs = (fire - first) / (made + 1)
      // The range may begin years later, and have steps of a millisecond.
      const skippedMs = Math.max(0, range.from - fire)
      let at = fire + skippedMs
      for (made += skippedMs / meanMs; at < to && made < left; at += range.bucketMs, made += range.bucketMs / meanMs)
        add(at, Math.min(range.bucketMs, to - at) / meanMs)
      return true
    }
    add(fire, 1)
    last = fire
  }
  return false
}

/** The points of an interval after `first` and before `to`, at most `left`, without looking at each. */
function addPoints(
  counts: number[],
  { first, everyMs, left, to }: { first: number; everyMs: number; left: number; to: number },
  { from, bucketMs }: DueRange,
): void {
  /** Points after the first one and before an instant. */
  const before = (at: number): number => Math.min(left, Math.max(0, Math.ceil((Math.min(at, to) - first) / everyMs) - 1))
  let counted = before(from)
  for (let bucket = 0; bucket < counts.length; bucket++) {
    const upTo = before(from + (bucket + 1) * bucketMs)
    counts[bucket] = (counts[bucket] ?? 0) + upTo - counted
    counted = upTo
  }
}

/** Whether the filter leaves any job out. */
export const isFiltered = ({ tag, handler, pool, periodMsMin }: DueFilter): boolean =>
  tag !== undefined || handler !== undefined || pool !== undefined || periodMsMin !== undefined

/** Whether the job has each name of the filter. */
export function hasNames(job: Job, { tag, handler, pool }: DueFilter): boolean {
  const spec = job.definition?.spec
  if (tag !== undefined && !spec?.tags.includes(tag)) return false
  if (handler !== undefined && spec?.target.handler !== handler) return false
  return pool === undefined || poolOf(job) === pool
}

/** Whether its next two occurrences are so far apart as the filter wants. It may search for the second one. */
export function isRare(recurrence: Recurrence | undefined, { periodMsMin }: DueFilter): boolean {
  if (periodMsMin === undefined || recurrence === undefined || recurrence.left < 1) return true
  const { source, anchorAt, first } = recurrence
  const second = source.schedule.everyMs === null ? nextFire(source, anchorAt, first) : first + source.schedule.everyMs
  return second === null || second - first >= periodMsMin
}
