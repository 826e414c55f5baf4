/**
 * The heavy jobs of a partition that were read since it was opened. A heavy job could fill the memory or delay all others, so it is
 * known before it is read again. Soft state.
 */
import { BoundedMap } from '../../concurrency/index.ts'

/** The weight of a job is the size of its definition and of the snapshots of its runs. Below this weight a job is light. */
export const heavyBytesMin = 65_536
/** Heavy jobs that are remembered. The oldest is forgotten first. */
const jobsMax = 20_000

export class HeavyJobs {
  readonly #bytes = new BoundedMap<string, number>(jobsMax)

  set(jobId: string, bytes: number): void {
    if (bytes < heavyBytesMin) this.#bytes.delete(jobId)
    else this.#bytes.renew(jobId, bytes)
  }

  /** Bytes of a heavy job; 0 for a light or unknown job. */
  of(jobId: string): number {
    return this.#bytes.get(jobId) ?? 0
  }
}
