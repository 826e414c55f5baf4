/**
 * The jobs of a partition with active runs, and the number of runs by status. Soft state, for people. It follows from what is
 * applied, so a new owner knows at first only the jobs that it has applied itself. It finds the others by the timers of their
 * runs.
 */
import type { ActiveRun } from '../../../schemas/index.ts'
import { timerBound, timerOfKey } from '../../../streams/state/index.ts'
import type { PartitionStore, RunsUnderWay } from '../../ports/index.ts'

/** Jobs that are remembered. Further jobs are neither counted nor listed. */
export const activeJobsMax = 100_000

export class ActiveRuns {
  readonly #jobs = new Map<string, RunsUnderWay>()
  readonly #total: RunsUnderWay = { dispatched: 0, running: 0, waiting: 0 }
  /** Whether the timers of runs were read since the partition became active. */
  complete = false

  /** The active runs that a job has now. */
  set(jobId: string, active: readonly ActiveRun[]): void {
    const before = this.#jobs.get(jobId)
    if (before !== undefined) this.#count(before, -1)
    if (active.length === 0 || (before === undefined && this.#jobs.size >= activeJobsMax)) {
      this.#jobs.delete(jobId)
      return
    }
    const now = countOf(active)
    this.#jobs.set(jobId, now)
    this.#count(now, 1)
  }

  has(jobId: string): boolean {
    return this.#jobs.has(jobId)
  }

  get counts(): RunsUnderWay {
    return { ...this.#total }
  }

  /** Ids of the jobs with active runs, in no order. */
  get ids(): string[] {
    return [...this.#jobs.keys()]
  }

  clear(): void {
    this.#jobs.clear()
    this.#total.dispatched = this.#total.running = this.#total.waiting = 0
    this.complete = false
  }

  #count({ dispatched, running, waiting }: RunsUnderWay, sign: 1 | -1): void {
    this.#total.dispatched += sign * dispatched
    this.#total.running += sign * running
    this.#total.waiting += sign * waiting
  }
}

function countOf(active: readonly ActiveRun[]): RunsUnderWay {
  const counts: RunsUnderWay = { dispatched: 0, running: 0, waiting: 0 }
  for (const { status } of active) counts[status === 'RUNNING' ? 'running' : status === 'DISPATCHED' ? 'dispatched' : 'waiting']++
  return counts
}

/** Timers that one scan reads. */
const timersReadMax = 20_000
/** The longest lease is one hour, so the lease of each running attempt ends within it. */
const horizonMs = 3_600_000

/** Jobs with a run timer that is due soon: each active run has one. */
export async function idsOfRunTimers(store: PartitionStore, nowMs: number): Promise<string[]> {
  const to = timerBound(nowMs + horizonMs)
  const entries = await store.scan({ from: timerBound(0), to, limit: timersReadMax, keysOnly: true })
  const timers = entries.map(({ key }) => timerOfKey(key))
  return [...new Set(timers.filter(({ runNo }) => runNo > 0).map(({ jobId }) => jobId))]
}
