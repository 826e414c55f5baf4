/**
 * Cancelled attempts that this worker does not run yet. An attempt that arrives later, from a backlog, is dropped before it
 * starts. A forgotten cancellation only costs the run of a handler whose report is ignored.
 */

import type { Execution, WorkerControl } from '../../../../schemas/index.ts'
import { cutText } from '../../../../streams/text/index.ts'
import { BoundedMap } from '../../../ground/concurrency/index.ts'

/** Cancellations that are remembered. The oldest go first. */
export const cancelsKeptMax = 100_000

/** Longest reason that is kept; owners write sentences. */
const reasonCharsMax = 1_000

export type AttemptKey = Pick<WorkerControl, 'jobId' | 'runNo' | 'attempt'>

export interface Cancellation extends AttemptKey {
  /** Null: any definition. */
  specOffset: number | null
  reason: string
  /** When the owner wrote it, by its clock, epoch ms. */
  atMs: number
}

export function cancellationOf({ jobId, runNo, attempt, specOffset, reason }: WorkerControl, atMs: number): Cancellation {
  return { jobId, runNo, attempt, specOffset, reason: cutText(reason, reasonCharsMax), atMs }
}

/**
 * Whether a cancellation for this job, run and attempt number means this attempt. A job that was deleted and defined again counts
 * from 1 again. An attempt that was dispatched from another definition is not meant. If the owner names no definition, an attempt
 * dispatched later is not meant.
 */
export function isMeant({ dispatchedAt, specOffset }: Execution, cancellation: Cancellation): boolean {
  return cancellation.specOffset === null ? dispatchedAt <= cancellation.atMs : cancellation.specOffset === specOffset
}

export class Cancellations {
  readonly #kept = new BoundedMap<string, Cancellation>(cancelsKeptMax)

  get size(): number {
    return this.#kept.size
  }

  add(cancellation: Cancellation): void {
    this.#kept.renew(attemptKey(cancellation), cancellation)
  }

  /** Whether the attempt is cancelled. The cancellation is then forgotten, because the attempt does not come again. */
  take(execution: Execution): boolean {
    if (this.#kept.size === 0) return false
    const key = attemptKey(execution)
    const cancellation = this.#kept.get(key)
    return cancellation !== undefined && isMeant(execution, cancellation) && this.#kept.delete(key)
  }
}

export const attemptKey = ({ jobId, runNo, attempt }: AttemptKey): string => `${jobId}\0${runNo}\0${attempt}`
