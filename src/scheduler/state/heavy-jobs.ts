/**
 * Which jobs of a partition are heavy, as far as they were met since it was opened: what would fill the memory, or hold up all others, is
 * known before it is read again. Soft state.
 */
import { BoundedMap } from '../../concurrency/index.ts'

/** A job weighs what the store has of its definition and of what its runs were made with. One below this is light. */
export const heavyBytesMin = 65_536
/** Heavy jobs that are remembered; the oldest is forgotten first. */
const jobsMax = 20_000

export class HeavyJobs {
  readonly #bytes = new BoundedMap<string, number>(jobsMax)

  set(jobId: string, bytes: number): void {
    if (bytes < heavyBytesMin) this.#bytes.delete(jobId)
    else this.#bytes.renew(jobId, bytes)
  }

  /** Bytes of a heavy job; 0 for a light one, and for one that was not met. */
  of(jobId: string): number {
    return this.#bytes.get(jobId) ?? 0
  }

  clear(): void {
    this.#bytes.clear()
  }
}
