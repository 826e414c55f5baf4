/**
 * How long the broker may hold back a fetch that finds no records. New records end each wait at once, so its length only limits
 * what happens at the end of a fetch: heartbeats, resumes, seeks and leaving the group.
 *
 *   busy: records, a join, a seek, a pause or a resume within the last 10 s ──► the short wait
 *   quiet ──► until the next heartbeat is due, so that no heartbeat is later than with short waits
 */

/** Time without any change after which a reader is quiet. */
const quietAfterMs = 10_000
/** A wait ends this much after the heartbeat is due, so that the heartbeat is not left for the next wait. */
const marginMs = 5

interface PollWaitOptions {
  /** LogSettings.fetchWaitMs. */
  shortMs: number
  /** Time until the next heartbeat is due; 0 while a caller waits for one. */
  heartbeats: { readonly dueInMs: number }
  /** Whether a partition is paused. */
  hasPaused(): boolean
  /**
   * Whether a quiet reader with a paused partition also waits longer. Only if its heartbeats are frequent: a resume takes effect
   * at the end of the wait.
   */
  longWhilePaused: boolean
}

export class PollWait {
  readonly #options: PollWaitOptions
  #busyAtMs = Number.NEGATIVE_INFINITY

  constructor(options: PollWaitOptions) {
    this.#options = options
  }

  /** Something happened that may be followed by more. */
  busy(): void {
    this.#busyAtMs = performance.now()
  }

  /** The wait of the next fetch. */
  get ms(): number {
    const { shortMs, heartbeats, hasPaused, longWhilePaused } = this.#options
    const isBusy = performance.now() - this.#busyAtMs < quietAfterMs
    if (isBusy || (!longWhilePaused && hasPaused())) return shortMs
    return Math.max(shortMs, Math.ceil(heartbeats.dueInMs) + marginMs)
  }

  /** For kafkajs, which reads it for each fetch. It only adds and encodes it, so an object with valueOf works like a number. */
  get asNumber(): number {
    return { valueOf: () => this.ms } as unknown as number
  }
}
