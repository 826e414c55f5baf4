/** The times of a schedule without a job. */
import { dstNote, nextFire } from '../schedules/index.ts'
import { isoTime, type Problem } from '../text/index.ts'
import { definitionFromJson } from './definition-json.ts'
import { noOccurrenceProblem } from './schedule-rules.ts'
import { scheduleWarnings } from './warnings.ts'

export interface ScheduleFire {
  at: string | number
  atMs: number
  /** What daylight saving does to it. */
  note?: string
}
export type SchedulePreview = { ok: true; fires: ScheduleFire[]; warnings: string[] } | { ok: false; problems: Problem[] }

/** The first times after `from`, epoch ms. */
export function previewOf(schedule: Record<string, unknown>, from: number, count: number): SchedulePreview {
  const read = definitionFromJson({ schedule, target: { handler: 'preview' } })
  if (!read.ok) return { ok: false, problems: read.problems }
  const fires: ScheduleFire[] = []
  // Delays and intervals count from the start of the preview, as if the broker had received the job then.
  let before = from
  let at = nextFire(read.definition, from, from)
  const problem = at === null ? noOccurrenceProblem(read.definition, from) : undefined
  if (problem !== undefined) return { ok: false, problems: [problem] }
  while (at !== null && fires.length < count) {
    const note = dstNote(read.definition, from, before, at)
    fires.push({ at: isoTime(at), atMs: at, ...(note === undefined ? {} : { note }) })
    before = at
    at = nextFire(read.definition, from, at)
  }
  return { ok: true, fires, warnings: scheduleWarnings(read.definition) }
}
