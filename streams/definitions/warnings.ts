/** What a definition may say, but hardly means. */
import type { JobDefinition } from '../../schemas/index.ts'
import { nextFire } from '../schedules/index.ts'
import { isoOf, quoted } from '../text/index.ts'
import { limitWarnings } from './limit-rules.ts'

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
