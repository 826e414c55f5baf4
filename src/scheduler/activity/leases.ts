/**
 * The last heartbeat of each running attempt. Soft state: it is not logged, so a heartbeat costs no write. Instead a new owner grants
 * every running attempt a full lease.
 */
import { fieldOf, jobDefinitionSchema } from '../../../schemas/index.ts'
import type { AttemptId } from '../../../streams/state/index.ts'
import type { Heartbeat } from '../../ports/index.ts'

/** Longest lease that a definition may have. An attempt without a heartbeat for this long is over. */
const leaseMsMax = fieldOf(jobDefinitionSchema, 'leaseMs').maximum ?? Number.POSITIVE_INFINITY
/** Up to this number of attempts, none is swept. */
const sweptFromMin = 10_000

export class Leases {
  readonly #heartbeats = new Map<string, Heartbeat>()
  #floorMs: number
  /** Above this number of attempts, those whose end nobody reported are removed. */
  #sweptFrom = sweptFromMin

  /** Nothing counts as silent before `grantedAtMs`. */
  constructor(grantedAtMs: number) {
    this.#floorMs = grantedAtMs
  }

  grant(atMs: number): void {
    this.#floorMs = atMs
    this.#heartbeats.clear()
  }

  /** False: the attempt is unknown. The caller notes it once it knows that it is active, so that unknown attempts do not fill the memory. */
  renew(jobId: string, attempt: AttemptId, heartbeat: Heartbeat): boolean {
    const key = keyOf(jobId, attempt)
    if (!this.#heartbeats.has(key)) return false
    this.#heartbeats.set(key, heartbeat)
    return true
  }

  /** The heartbeat of an attempt that is active. */
  note(jobId: string, attempt: AttemptId, heartbeat: Heartbeat): void {
    this.#heartbeats.set(keyOf(jobId, attempt), heartbeat)
    if (this.#heartbeats.size > this.#sweptFrom) this.#sweep(heartbeat.checkedAt - leaseMsMax)
  }

  ended(jobId: string, attempt: AttemptId): void {
    this.#heartbeats.delete(keyOf(jobId, attempt))
  }

  seenAt(jobId: string, attempt: AttemptId): number {
    return Math.max(this.last(jobId, attempt)?.checkedAt ?? 0, this.#floorMs)
  }

  /** Number of known attempts. */
  get size(): number {
    return this.#heartbeats.size
  }

  /** The last heartbeat that this owner has read of an attempt. */
  last(jobId: string, attempt: AttemptId): Heartbeat | undefined {
    return this.#heartbeats.get(keyOf(jobId, attempt))
  }

  #sweep(beforeMs: number): void {
    for (const [key, { checkedAt }] of this.#heartbeats) if (checkedAt < beforeMs) this.#heartbeats.delete(key)
    this.#sweptFrom = Math.max(sweptFromMin, this.#heartbeats.size * 2)
  }
}

const keyOf = (jobId: string, { runNo, attempt, specOffset }: AttemptId): string =>
  `${jobId}\0${specOffset}\0${runNo}\0${attempt}`
