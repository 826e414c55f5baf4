/** Which jobs a forecast or a list of due jobs is about. */
import { nextFire } from '../../../streams/schedules/index.ts'
import type { Job } from '../../../streams/state/index.ts'
import type { DueFilter } from '../../ports/index.ts'
import { poolOf } from '../activity/index.ts'
import type { Recurrence } from './recurrence.ts'

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
