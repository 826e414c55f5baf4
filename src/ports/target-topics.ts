/** The port to the topics that records of a partition's transaction may go to. Part of log.ts. */

/** Topics of the user's that may be written to inside a partition's transaction. */
export interface TargetTopics {
  /** Why a record of so many bytes cannot be written there now, or undefined when it can. */
  problem(place: { name: string; partition: number | null }, bytes: number): string | undefined
  /**
   * Looks anew for a topic that was not there at the last look. Undefined when there is nothing to wait for: it is there, it is not
   * allowed, or the last look was a moment ago. It never rejects.
   */
  seek(topic: string): Promise<void> | undefined
  /** Why nothing can be dispatched to the pool now: its topics are missing. Undefined when they are there. */
  poolProblem(pool: string): string | undefined
  /** How long the topics of the pool keep what is dispatched, in ms, by the last look. Infinity: for ever, or not known. Absent: for ever. */
  keptMs?(pool: string): number
  /** As `seek`, for the topics of a pool. */
  seekPool(pool: string): Promise<void> | undefined
  /** A transaction with records for these topics failed. Resolves when it is known again which of them can be written to. */
  failed(topics: Iterable<string>, error: unknown): Promise<void>
}
