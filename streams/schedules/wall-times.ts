/**
 * Wall-clock times, as ms of a calendar without zones: 2030-03-31 02:30 is the value that Date.UTC gives. Recurrences are computed in
 * wall-clock times; streams/schedules/zoned-times.ts converts them to instants.
 */
export interface WallTimes {
  /** First time strictly after another and not after `notAfter`, by default the horizon; null when there is none. The search ends at `notAfter`. */
  next(after: number, notAfter?: number): number | null
  /** Last time at or before another and not before `notBefore`, by default the first of all; null when there is none. */
  latest(notAfter: number, notBefore?: number): number | null
  /** Number of times after `after` and not after `notAfter`, at most `max`. */
  count(after: number, notAfter: number, max: number): number
}

/** The times that a cron expression or a rule names. */
export interface Recurrence {
  /**
   * The recurrence names every hour, or none, so it counts elapsed time. A repeated hour then has its times twice and a skipped hour
   * has none, with any policy, so that no interval is lost or doubled.
   */
  everyHour: boolean
  /** Its times for an offset from UTC. They depend on the offset only for a rule that counts elapsed units. */
  wall(offsetMs: number): WallTimes
}

export const dayMs = 86_400_000

/** The earliest searched time. At the epoch, clocks west of Greenwich still show the last day of 1969. */
export const earliestWall = -dayMs

/** The end of all searches: from the year 3000 on there are no occurrences. */
export const horizonAt = Date.UTC(3000, 0, 1)

/** Day number since 1970 of a wall-clock time. */
export const dayOf = (wall: number): number => Math.floor(wall / dayMs)
