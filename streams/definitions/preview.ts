/** What its author sees of a definition before it is written: warnings, and the times of its schedule. */

import type { JobDefinition } from '../../schemas/index.ts'
import { dstNote, nextFire } from '../schedules/index.ts'
import { isoOf, isoTime, type Problem, quoted } from '../text/index.ts'
import { limitWarnings } from './cross-field-rules.ts'
import { definitionFromJson } from './definition-json.ts'
import { noOccurrenceProblem } from './schedule-rules.ts'

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

/** Warnings about a valid definition, as sentences. */
export function definitionWarnings(id: string, definition: JobDefinition, partitions: number): string[] {
  return [
    ...limitWarnings(id, definition, partitions),
    ...scheduleWarnings(definition),
    ...[tombstoneWarning(definition)].filter((warning) => warning !== undefined),
  ]
}

/** Those about the schedule alone. */
export const scheduleWarnings = (definition: Pick<JobDefinition, 'schedule'>): string[] =>
  [weekdayWarning(definition), dtstartWarning(definition)].filter((warning) => warning !== undefined)

/** Quartz and AWS have the question mark, and count weekdays in another way. */
function weekdayWarning({ schedule: { cron } }: Pick<JobDefinition, 'schedule'>): string | undefined {
  const weekday = cron?.trim().split(/\s+/).at(-1) ?? ''
  if (!cron?.includes('?') || !/\d/.test(weekday.replace(/[#/]\d+/g, ''))) return undefined
  return `schedule.cron is ${quoted(cron)}: here 1 is Monday, and 0 and 7 are Sunday. Quartz and AWS, which write ? too, count from 1 = Sunday. Names, such as MON-FRI, mean the same everywhere.`
}

/** A rule that does not name its dtstart: RFC 5545 leaves open what that means. */
function dtstartWarning({ schedule }: Pick<JobDefinition, 'schedule'>): string | undefined {
  const { rrule, dtstart } = schedule
  if (rrule === null || dtstart === null) return undefined
  const source = { schedule: { ...schedule, exdates: [] }, startAt: null, endAt: null }
  const first = nextFire(source, dtstart - 1, dtstart - 1)
  if (first === dtstart || first === null) return undefined
  return `schedule.dtstart is ${isoOf(dtstart)}, at which the rule is not due: its first time is ${isoOf(first)}. RFC 5545 leaves open what such a rule means; other calendars may begin with dtstart, or count INTERVAL otherwise.`
}

function tombstoneWarning({ target: { topic }, payload }: JobDefinition): string | undefined {
  if (topic === null || payload !== null) return undefined
  return `The job has no payload, so each run writes a record without a value to ${topic.name}. In a compacted topic that deletes the key.`
}
