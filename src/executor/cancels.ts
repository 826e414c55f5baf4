/**
 * Attempts that their owners have cancelled and that this worker does not run: one that it meets later, on its way here through a backlog,
 * is dropped before it starts. A cancellation that was forgotten only costs the run of a handler whose report nobody takes.
 */
import type { WorkerControl } from '../../schemas/generated.ts'

/** Cancellations that are remembered; the oldest go first. */
export const CANCELS_KEPT_MAX = 100_000

export type AttemptId = Pick<WorkerControl, 'jobId' | 'runNo' | 'attempt'>

export class Cancels {
  readonly #kept = new Set<string>()

  get size(): number {
    return this.#kept.size
  }

  add(attempt: AttemptId): void {
    this.#kept.add(attemptKey(attempt))
    if (this.#kept.size <= CANCELS_KEPT_MAX) return
    for (const oldest of this.#kept) {
      this.#kept.delete(oldest)
      return
    }
  }

  /** Whether the attempt is cancelled. It is then forgotten: it will not come again. */
  take(attempt: AttemptId): boolean {
    return this.#kept.size > 0 && this.#kept.delete(attemptKey(attempt))
  }
}

export const attemptKey = ({ jobId, runNo, attempt }: AttemptId): string => `${jobId}\0${runNo}\0${attempt}`
