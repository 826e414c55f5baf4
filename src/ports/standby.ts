/** What a member of a co-partitioned group says of the copies that it keeps of partitions of others. A part of the log port (log.ts). */

export interface StandbyOptions {
  /** Of each partition, as far as there are members. The highest that any member says counts. */
  wanted: number
  /** What they read. */
  topics: string[]
  /** Partition numbers that this member has locally, and how far: whoever is furthest is preferred as heir. Asked at each join. */
  copies: () => [partition: number, offset: number][]
  /** Absent: what it is to have it is given at once, whether it is warm or not. */
  warmth?: WarmthOptions
}

/**
 * A member that is to own a partition which another fires, or to follow it in the place of another, follows it besides first, until it has
 * said, by joining anew, that it is warm there.
 */
export interface WarmthOptions {
  /** Assigned besides `topics` where the member is awaited; it is not to be read for that. An owner reads another one besides. */
  topic: string
  /** Partition numbers that it fires, or could fire at once. Asked at each join. */
  warm: () => number[]
}
