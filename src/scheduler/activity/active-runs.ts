/**
 * The jobs of a partition with active runs, and the number of runs by status. Soft state, for people. It follows from what is
 * applied, so a new owner knows at first only the jobs that it has applied itself. It finds the others by the timers of their
 * runs.
 */
import type { ActiveRun } from '../../../schemas/index.ts'
import { timerBound, timerOfKey, waitsForHandler } from '../../../streams/state/index.ts'
import type { PartitionStore, RunsUnderWay } from '../../ports/index.ts'

/** Jobs that are remembered. Further jobs are neither counted nor listed. */
export const activeJobsMax = 100_000

export class ActiveRuns {
  readonly #jobs = new Map<string, RunsUnderWay>()
  /** Run numbers by job: those that wait for a worker with their handler, or were sent to one worker that has not started them. */
  readonly #workerBound = new Map<string, number[]>()
  readonly #total: RunsUnderWay = { dispatched: 0, running: 0, waiting: 0, withoutHandler: 0 }
  /** Whether the timers of runs were read since the partition became active. */
  complete = false

  /** The active runs that a job has now. */
  set(jobId: string, active: readonly ActiveRun[]): void {
    const before = this.#jobs.get(jobId)
    if (before !== undefined) this.#count(before, -1)
    if (active.length === 0 || (before === undefined && this.#jobs.size >= activeJobsMax)) {
      this.#jobs.delete(jobId)
      this.#noteWorkerBound(jobId, [])
      return
    }
    this.#noteWorkerBound(jobId, active)
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

  /** Runs that depend on which workers their pool has. */
  get workerBound(): ReadonlyMap<string, readonly number[]> {
    return this.#workerBound
  }

  clear(): void {
    this.#jobs.clear()
    this.#workerBound.clear()
    Object.assign(this.#total, countOf([]))
    this.complete = false
  }

  #noteWorkerBound(jobId: string, active: readonly ActiveRun[]): void {
    const bound = active.filter(isWorkerBound)
    const runNos = bound.map(({ runNo }) => runNo)
    if (runNos.length > 0) this.#workerBound.set(jobId, runNos)
    else if (this.#workerBound.size > 0) this.#workerBound.delete(jobId)
  }

  #count({ dispatched, running, waiting, withoutHandler }: RunsUnderWay, sign: 1 | -1): void {
    this.#total.dispatched += sign * dispatched
    this.#total.running += sign * running
    this.#total.waiting += sign * waiting
    this.#total.withoutHandler += sign * withoutHandler
  }
}

const isWorkerBound = (run: ActiveRun): boolean => waitsForHandler(run) || (run.status === 'DISPATCHED' && run.routedTo !== null)

function countOf(active: readonly ActiveRun[]): RunsUnderWay {
  const counts: RunsUnderWay = { dispatched: 0, running: 0, waiting: 0, withoutHandler: 0 }
  for (const run of active) {
    counts[run.status === 'RUNNING' ? 'running' : run.status === 'DISPATCHED' ? 'dispatched' : 'waiting']++
    if (waitsForHandler(run)) counts.withoutHandler++
  }
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
