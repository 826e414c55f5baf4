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
  readonly #heard = new Map<string, Heartbeat>()
  #floorMs: number
  /** Above this number of attempts, those whose end nobody reported are removed. */
  #sweptFrom = sweptFromMin

  /** Nothing counts as silent before `grantedAtMs`. */
  constructor(grantedAtMs: number) {
    this.#floorMs = grantedAtMs
  }

  grant(atMs: number): void {
    this.#floorMs = atMs
    this.#heard.clear()
  }

  /** False: the attempt is unknown. The caller notes it once it knows that it is active, so that unknown attempts do not fill the memory. */
  heard(jobId: string, attempt: AttemptId, heartbeat: Heartbeat): boolean {
    const key = keyOf(jobId, attempt)
    if (!this.#heard.has(key)) return false
    this.#heard.set(key, heartbeat)
    return true
  }

  /** The heartbeat of an attempt that is active. */
  note(jobId: string, attempt: AttemptId, heartbeat: Heartbeat): void {
    this.#heard.set(keyOf(jobId, attempt), heartbeat)
    if (this.#heard.size > this.#sweptFrom) this.#sweep(heartbeat.checkedAt - leaseMsMax)
  }

  ended(jobId: string, attempt: AttemptId): void {
    this.#heard.delete(keyOf(jobId, attempt))
  }

  seenAt(jobId: string, attempt: AttemptId): number {
    return Math.max(this.last(jobId, attempt)?.checkedAt ?? 0, this.#floorMs)
  }

  /** Number of known attempts. */
  get size(): number {
    return this.#heard.size
  }

  /** The last heartbeat that this owner has read of an attempt. */
  last(jobId: string, attempt: AttemptId): Heartbeat | undefined {
    return this.#heard.get(keyOf(jobId, attempt))
  }

  #sweep(beforeMs: number): void {
    for (const [key, { checkedAt }] of this.#heard) if (checkedAt < beforeMs) this.#heard.delete(key)
    this.#sweptFrom = Math.max(sweptFromMin, this.#heard.size * 2)
  }
}

const keyOf = (jobId: string, { runNo, attempt, specOffset }: AttemptId): string =>
  `${jobId}\0${specOffset}\0${runNo}\0${attempt}`
