/**
 * When each running attempt was last heard of. Soft state: it is not logged, and a new owner grants every running attempt a full
 * lease, so a heartbeat costs no write.
 */
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

  heard(jobId: string, runNo: number, attempt: number, atMs: number): void {
    this.#seenAt.set(keyOf(jobId, runNo, attempt), atMs)
  }

  ended(jobId: string, runNo: number, attempt: number): void {
    this.#seenAt.delete(keyOf(jobId, runNo, attempt))
  }

  seenAt(jobId: string, runNo: number, attempt: number): number {
    return Math.max(this.#seenAt.get(keyOf(jobId, runNo, attempt)) ?? 0, this.#floorMs)
  }
}

const keyOf = (jobId: string, runNo: number, attempt: number): string => `${jobId}\0${runNo}\0${attempt}`
