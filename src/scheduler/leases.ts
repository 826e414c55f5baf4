/**
 * When each running attempt was last heard of. Soft state: it is not logged, and a new owner grants every running attempt a full
 * lease, so a heartbeat costs no write.
 */
import type { AttemptId } from '../../streams/job.ts'

export class Leases {
  readonly #seenAt = new Map<string, number>()
  #floorMs: number

  /** Nothing counts as silent before `grantedAtMs`. */
  constructor(grantedAtMs: number) {
    this.#floorMs = grantedAtMs
  }

  grant(atMs: number): void {
    this.#floorMs = atMs
    this.#seenAt.clear()
  }

  heard(jobId: string, attempt: AttemptId, atMs: number): void {
    this.#seenAt.set(keyOf(jobId, attempt), atMs)
  }

  ended(jobId: string, attempt: AttemptId): void {
    this.#seenAt.delete(keyOf(jobId, attempt))
  }

  seenAt(jobId: string, attempt: AttemptId): number {
    return Math.max(this.#seenAt.get(keyOf(jobId, attempt)) ?? 0, this.#floorMs)
  }
}

const keyOf = (jobId: string, { runNo, attempt, specOffset }: AttemptId): string =>
  `${jobId}\0${specOffset}\0${runNo}\0${attempt}`
