/**
 * The delay of an occurrence after its nominal time. It follows from job id and nominal time alone, so a replay decides the same, and
 * jobs with one schedule are spread evenly. It is less than the time to the next occurrence, so the occurrences of a job keep their order.
 */
import { hashFraction } from '../hashing/index.ts'
import { latestFire, nextFire, type ScheduleSource } from './next-fire.ts'

export type JitteredSource = ScheduleSource & { jitterMs: number }

/** The due time of an occurrence: its nominal time without jitter, else up to jitterMs later and before the next nominal time. */
export function dueAtOf(definition: JitteredSource, anchorAt: number, jobId: string, nominal: number): number {
  if (definition.jitterMs === 0) return nominal
  // With from END the next time is not known until the run has ended.
  const next = definition.schedule.from === 'END' ? null : nextFire(definition, anchorAt, nominal)
  const rangeMs = next === null ? definition.jitterMs : Math.min(definition.jitterMs, next - nominal - 1)
  return nominal + Math.floor(hashFraction(`${jobId}/${nominal}`) * (rangeMs + 1))
}

/** The last occurrence after `after` that is due at `now`, jitter included; null when there is none. */
export function latestDue(
  definition: JitteredSource,
  anchorAt: number,
  jobId: string,
  after: number,
  now: number,
): number | null {
  const latest = latestFire(definition, anchorAt, after, now)
  if (latest === null || dueAtOf(definition, anchorAt, jobId, latest) <= now) return latest
  // The previous occurrence was due before the nominal time of this one.
  return latestFire(definition, anchorAt, after, latest - 1)
}
