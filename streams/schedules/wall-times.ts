/**
 * Times on the clock on the wall, as ms of a calendar without zones: 2030-03-31 02:30 is what Date.UTC makes of it. What repeats in
 * a zone is computed in them, and streams/schedules/zoned-times.ts says at which instants they come true.
 */
export interface WallTimes {
  /** First time strictly after another and not after `notAfter`, by default the horizon; null when there is none. Nothing is searched behind it. */
  next(after: number, notAfter?: number): number | null
  /** Last time at or before another and not before `notBefore`, by default the first of all; null when there is none. */
  latest(notAfter: number, notBefore?: number): number | null
  /** Number of times after `after` and not after `notAfter`, at most `max`. */
  count(after: number, notAfter: number, max: number): number
}

/** What a cron expression or a rule names. */
export interface Recurrence {
  /**
   * It names every hour, or none: it goes by elapsed time. A repeated hour then has its times again and a skipped hour has none,
   * whatever the policy, so that no step is lost or doubled.
   */
  everyHour: boolean
  /** Its times where local time is so far from UTC. They differ only for a rule that counts elapsed units. */
  wall(offsetMs: number): WallTimes
}

export const dayMs = 86_400_000

/** West of Greenwich clocks show the last day before 1970 when our time begins: no search goes further back. */
export const earliestWall = -dayMs

/** From the year 3000 on there are no occurrences: no search goes further. */
export const horizonAt = Date.UTC(3000, 0, 1)

/** Day number since 1970 of a wall-clock time. */
export const dayOf = (wall: number): number => Math.floor(wall / dayMs)
