/**
 * What was last heard of each running attempt, and when. Soft state: it is not logged, and a new owner grants every running attempt a full
 * lease, so a heartbeat costs no write.
 */
import { fieldOf, jobDefinitionSchema } from '../../../schemas/index.ts'
import type { AttemptId } from '../../../streams/state/index.ts'
import type { Heartbeat } from '../../ports/index.ts'

/** Longest lease that a definition may have: what was not heard of for so long is over. */
const leaseMsMax = fieldOf(jobDefinitionSchema, 'leaseMs').maximum ?? Number.POSITIVE_INFINITY
/** Attempts that are kept without looking for those that are over. */
const sweptFromMin = 10_000

export class Leases {
  readonly #heard = new Map<string, Heartbeat>()
  #floorMs: number
  /** Attempts whose end nobody reported are looked for when there are so many. */
  #sweptFrom = sweptFromMin

  /** Nothing counts as silent before `grantedAtMs`. */
  constructor(grantedAtMs: number) {
    this.#floorMs = grantedAtMs
  }

  grant(atMs: number): void {
    this.#floorMs = atMs
    this.#heard.clear()
  }

  /** False: nothing is known of the attempt. Whoever finds it active notes it; what nobody runs must not fill the memory. */
  heard(jobId: string, attempt: AttemptId, heartbeat: Heartbeat): boolean {
    const key = keyOf(jobId, attempt)
    if (!this.#heard.has(key)) return false
    this.#heard.set(key, heartbeat)
    return true
  }

  /** Of an active attempt. */
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

  /** Attempts that are known. */
  get size(): number {
    return this.#heard.size
  }

  /** The last heartbeat of an attempt, if this owner has heard one. */
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
