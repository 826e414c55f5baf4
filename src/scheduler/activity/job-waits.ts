/** Callers that wait for a change of a job, for example for the end of a run. Soft state: a new owner does not know them. */
import { DuelogError } from '../../errors/index.ts'

/** Callers that may wait for jobs of one partition at once. Further ones are refused. */
export const jobWaitsMax = 10_000

/** `end`: the caller no longer waits. */
export interface JobWait {
  /** True once the job has changed in the store; false if the partition ended first, or the caller. */
  changed: Promise<boolean>
  end(): void
}

export class JobWaits {
  readonly #waiting = new Map<string, Set<(changed: boolean) => void>>()
  #size = 0

  /** How many wait. */
  get size(): number {
    return this.#size
  }

  /** Waits for the next change. Begin to wait before the job is read, or a change in between is missed. Throws `overloaded`. */
  begin(jobId: string): JobWait {
    if (this.#size >= jobWaitsMax)
      throw new DuelogError(
        'overloaded',
        `${jobWaitsMax} callers wait for runs of this partition already; ask again later. Nothing is lost.`,
      )
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiting = this.#waiting.get(jobId) ?? new Set()
    this.#waiting.set(jobId, waiting.add(resolve))
    this.#size++
    const end = (): void => {
      if (waiting.delete(resolve)) this.#size--
      if (waiting.size === 0 && this.#waiting.get(jobId) === waiting) this.#waiting.delete(jobId)
      resolve(false)
    }
    return { changed: promise, end }
  }

  has(jobId: string): boolean {
    return this.#waiting.has(jobId)
  }

  /** These jobs are in the store as they are now. */
  changed(jobIds: Iterable<string>): void {
    if (this.#size === 0) return
    for (const id of jobIds) {
      const waiting = this.#waiting.get(id)
      if (waiting === undefined) continue
      this.#waiting.delete(id)
      this.#release(waiting, true)
    }
  }

  /** Any job may have changed: the store was opened again, with what the changelog had. */
  anyChanged(): void {
    this.changed([...this.#waiting.keys()])
  }

  /** The partition has ended. */
  refuse(): void {
    for (const waiting of this.#waiting.values()) this.#release(waiting, false)
    this.#waiting.clear()
  }

  #release(waiting: Set<(changed: boolean) => void>, changed: boolean): void {
    this.#size -= waiting.size
    for (const resolve of waiting) resolve(changed)
    waiting.clear()
  }
}
