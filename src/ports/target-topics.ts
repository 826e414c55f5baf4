/** Port to the topics for records of a partition's transaction. Part of log.ts. */

/** Topics of users that may be written to in a partition's transaction. */
export interface TargetTopics {
  /** Why a record of this size cannot be written there now, or undefined. */
  problem(place: { name: string; partition: number | null }, bytes: number): string | undefined
  /**
   * Looks up a topic again that was missing. Undefined if there is nothing to wait for: the topic exists, it is not allowed, or the last
   * lookup was a moment ago. It never rejects.
   */
  seek(topic: string): Promise<void> | undefined
  /** Why nothing can be dispatched to the pool now: its topics are missing. Undefined if they exist. */
  poolProblem(pool: string): string | undefined
  /** Retention of the topics of the pool in ms, by the last lookup. Infinity: for ever, or unknown. Absent: for ever. */
  keptMs?(pool: string): number
  /** Like `seek`, for the topics of a pool. */
  seekPool(pool: string): Promise<void> | undefined
  /** How often a topic or a pool that was missing for some job was found. Absent: nothing is looked for. */
  readonly appeared?: number
  /** The listener is called when `appeared` has grown. The result ends that. */
  onAppeared?(listener: () => void): () => void
  /** A transaction with records for these topics failed. Resolves when it is known again which topics can be written to. */
  failed(topics: Iterable<string>, error: unknown): Promise<void>
}
