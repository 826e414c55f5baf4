/**
 * Attempts that their owners have cancelled and that this worker does not run: one that it meets later, on its way here through a backlog,
 * is dropped before it starts. A cancellation that was forgotten only costs the run of a handler whose report nobody takes.
 */
import type { Execution, WorkerControl } from '../../../schemas/index.ts'

/** Cancellations that are remembered; the oldest go first. */
export const cancelsKeptMax = 100_000

/** Of why; owners write sentences. */
const reasonCharsMax = 1_000

export type AttemptKey = Pick<WorkerControl, 'jobId' | 'runNo' | 'attempt'>

export interface Cancellation extends AttemptKey {
  /** Null: of whatever definition. */
  specOffset: number | null
  reason: string
  /** When it was written, by the owner's clock, epoch ms. */
  atMs: number
}

export function cancellationOf({ jobId, runNo, attempt, specOffset, reason }: WorkerControl, atMs: number): Cancellation {
  return { jobId, runNo, attempt, specOffset, reason: reason.slice(0, reasonCharsMax), atMs }
}

/**
 * Whether the attempt, which has the job, run and number of the cancellation, is the very one. A job that was deleted and defined anew
 * counts from 1 again: what was dispatched from another definition is not meant, or, where the owner names none, what was dispatched later.
 */
export function isMeant({ dispatchedAt, specOffset }: Execution, cancellation: Cancellation): boolean {
  return cancellation.specOffset === null ? dispatchedAt <= cancellation.atMs : cancellation.specOffset === specOffset
}

export class Cancellations {
  readonly #kept = new Map<string, Cancellation>()

  get size(): number {
    return this.#kept.size
  }

  add(cancellation: Cancellation): void {
    const key = attemptKey(cancellation)
    // Deleted first, so that it becomes the latest.
    this.#kept.delete(key)
    this.#kept.set(key, cancellation)
    if (this.#kept.size <= cancelsKeptMax) return
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest)
      return
    }
  }

  /** Whether the attempt is cancelled. It is then forgotten: it will not come again. */
  take(execution: Execution): boolean {
    if (this.#kept.size === 0) return false
    const key = attemptKey(execution)
    const cancellation = this.#kept.get(key)
    return cancellation !== undefined && isMeant(execution, cancellation) && this.#kept.delete(key)
  }
}

export const attemptKey = ({ jobId, runNo, attempt }: AttemptKey): string => `${jobId}\0${runNo}\0${attempt}`
