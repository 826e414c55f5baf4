/**
 * How much later than its nominal time an occurrence is due. It follows from job id and nominal time alone, so a replay decides alike
 * and jobs of one schedule are spread evenly. It stays below the time to the next occurrence, so a job's own keep their order.
 */
import { hashFraction } from '../hashing/index.ts'
import { latestFire, nextFire, type ScheduleSource } from './next-fire.ts'

export type JitteredSource = ScheduleSource & { jitterMs: number }

/** When an occurrence is due: its nominal time without jitter, else up to jitterMs later and before the next nominal time. */
export function dueAtOf(definition: JitteredSource, anchorAt: number, jobId: string, nominal: number): number {
  if (definition.jitterMs === 0) return nominal
  // From the END of a run there is no next time until it has ended.
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
  // The one before was due before the nominal time of this one.
  return latestFire(definition, anchorAt, after, latest - 1)
}
