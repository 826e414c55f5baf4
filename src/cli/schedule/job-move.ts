/** Where the next time of a job moves under the time zone rules of this process, computed from the API's data about the job. */
import type { JobDefinition } from '../../../schemas/index.ts'
import { definitionFromJson } from '../../../streams/definitions/index.ts'
import { followsZone, nextByRules } from '../../../streams/schedules/index.ts'
import type { Job } from '../../answers/index.ts'

export interface JobMove {
  timezone: string
  /** The current next time. */
  from: number
  /** The next time by the rules of this process; null for never, undefined when it cannot be computed. */
  to: number | null | undefined
}

/** No change of rules has moved a time by more. A job without a reported begin is assumed to have begun this long before. */
const movedMsMax = 26 * 3_600_000

/** Undefined for a job without a next time or without a time zone. */
export function moveOf(job: Job): JobMove | undefined {
  const spec = specOf(job.definition)
  if (spec === undefined || job.nextFireAt === null || !followsZone(spec)) return undefined
  const from = Date.parse(job.nextFireAt)
  const { timezone, rrule, dtstart } = spec.schedule
  if (job.place === undefined) {
    // An earlier version of Duelog. It does not report the implicit begin of a rule, so the times are unknown.
    if (rrule !== null && dtstart === null && spec.startAt === null) return { timezone, from, to: undefined }
    const anchorAt = from - movedMsMax
    return {
      timezone,
      from,
      to: nextByRules(spec, { ...unknown, anchorAt, latestFiredFor: anchorAt, nextFireAt: from }, 0).nextFireAt,
    }
  }
  const { anchorAt, decidedFor, latestFiredFor } = job.place
  const place = {
    anchorAt: Date.parse(anchorAt),
    nextFireAt: from,
    decidedFor: decidedFor === null ? null : { at: Date.parse(decidedFor.at), offsetMs: decidedFor.offsetMs },
    latestFiredFor: latestFiredFor === null ? null : Date.parse(latestFiredFor),
    skipped: job.skipped,
  }
  return { timezone, from, to: nextByRules(spec, place, 0).nextFireAt }
}

const unknown = { decidedFor: null, skipped: 0 }

/** Only the schedule: other fields of the definition may be redacted for the caller. */
function specOf(definition: Job['definition']): JobDefinition | undefined {
  if (definition === null) return undefined
  const { schedule, startAt, endAt } = definition
  const window = { ...(startAt !== undefined && { startAt }), ...(endAt !== undefined && { endAt }) }
  const read = definitionFromJson({ id: 'job', schedule, ...window, target: { handler: 'noop' } })
  return read.ok ? read.definition : undefined
}
