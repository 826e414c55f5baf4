/** Where the next time of a job moves by the time zone rules of this process, from what the API says of the job. */
import type { JobDefinition } from '../../../schemas/index.ts'
import { definitionFromJson } from '../../../streams/definitions/index.ts'
import { followsZone, nextByRules } from '../../../streams/schedules/index.ts'
import type { Definition, JobAnswer } from '../jobs/index.ts'

/** What an API that knows of changing rules says of the place of a job in its schedule. */
export interface PlaceAnswer {
  anchorAt: string
  decidedFor: { at: string; offsetMs: number } | null
  latestFiredFor: string | null
}

export interface JobMove {
  timezone: string
  /** The next time as it stands. */
  from: number
  /** By the rules of this process: null for never, undefined where that cannot be told. */
  to: number | null | undefined
}

/** No change of rules has moved a time by more: so far back a job is taken to have begun of which that is not said. */
const movedMsMax = 26 * 3_600_000

/** Undefined for a job that has no next time, or none in a time zone. */
export function moveOf(job: JobAnswer & { place?: PlaceAnswer }): JobMove | undefined {
  const spec = specOf(job.definition)
  if (spec === undefined || job.nextFireAt === null || !followsZone(spec)) return undefined
  const from = Date.parse(job.nextFireAt)
  const { timezone, rrule, dtstart } = spec.schedule
  if (job.place === undefined) {
    // An earlier Duelog. Where a rule begins by itself is not said, so its times are not known.
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

/** Its schedule alone: what else is in the definition may be hidden from whoever asks. */
function specOf(definition: Definition | null): JobDefinition | undefined {
  if (definition === null) return undefined
  const { schedule, startAt, endAt } = definition
  const window = { ...(startAt !== undefined && { startAt }), ...(endAt !== undefined && { endAt }) }
  const read = definitionFromJson({ id: 'job', schedule, ...window, target: { handler: 'noop' } })
  return read.ok ? read.definition : undefined
}
