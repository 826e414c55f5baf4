/** Standbys of a member of a co-partitioned group. A part of the log port (log.ts). */

export interface StandbyOptions {
  /** Wanted standbys of each partition, limited by the number of members. The highest number of any member counts. */
  wanted: number
  /** Topics that standbys read. */
  topics: string[]
  /** Partitions that this member has locally, with offsets. The member with the highest offset is preferred as next owner. Called at each join. */
  copies: () => [partition: number, offset: number][]
  /** Absent: a partition is assigned at once, whether the member is warm or not. */
  warmth?: WarmthOptions
}

/**
 * Warm handover. A member that is to own a partition of another owner, or to replace another standby, first follows it additionally, until
 * it joins again and reports that it is warm there.
 */
export interface WarmthOptions {
  /**
   * The group assigns it in addition to `topics` if the member is to become warm. Nobody reads it for that. An owner reads
   * another topic in addition.
   */
  topic: string
  /** Partitions that it fires, or could fire at once. Called at each join. */
  warm: () => number[]
}
