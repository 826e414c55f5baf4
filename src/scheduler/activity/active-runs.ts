/**
 * The jobs of a partition with active runs, the number of runs by status and pool, and how late handlers started. Soft state, for people. It
 * follows from what is applied, so a new owner knows at first only the jobs that it has applied itself. It finds the others by the timers of
 * their runs.
 */
import type { ActiveRun } from '../../../schemas/index.ts'
import { type Job, timerBound, timerOfKey, waitsForHandler, waitsForPool, waitsForWorker } from '../../../streams/state/index.ts'
import { poolOf as poolOfTarget } from '../../../streams/targets/index.ts'
import { percentileOf } from '../../../streams/text/index.ts'
import type { PartitionStore, PoolRuns, RunsUnderWay, StartLateness } from '../../ground/ports/index.ts'

/** Jobs that are remembered. Further jobs are neither counted nor listed. */
export const activeJobsMax = 100_000
/** Pools that are counted one by one. */
const poolsMax = 1_000

type Counts = Required<RunsUnderWay>

export class ActiveRuns {
  readonly #jobs = new Map<string, { counts: Counts; pool: string | undefined }>()
  /** Run numbers by job: those that wait for a worker with their handler, or were sent to one worker that has not started them. */
  readonly #workerBound = new Map<string, number[]>()
  readonly #total = countOf([])
  readonly #pools = new Map<string, Counts>()
  readonly lateness = new RecentLateness()
  /** Whether the jobs that others have applied are known. */
  #isComplete = false
  #learning: Promise<void> | undefined

  /** The active runs that a job has now. `pool`: that of its definition; undefined if its runs go to no worker. */
  set(jobId: string, active: readonly ActiveRun[], pool?: string): void {
    const before = this.#jobs.get(jobId)
    if (before !== undefined) this.#count(before.counts, before.pool, -1)
    if (active.length === 0 || (before === undefined && this.#jobs.size >= activeJobsMax)) {
      this.#jobs.delete(jobId)
      this.#noteWorkerBound(jobId, [])
      return
    }
    this.#noteWorkerBound(jobId, active)
    const counts = countOf(active)
    this.#jobs.set(jobId, { counts, pool })
    this.#count(counts, pool, 1)
  }

  has(jobId: string): boolean {
    return this.#jobs.has(jobId)
  }

  get counts(): Counts {
    return { ...this.#total }
  }

  get byPool(): PoolRuns[] {
    return Array.from(this.#pools, ([pool, counts]) => ({ pool, ...counts }))
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
    this.#pools.clear()
    Object.assign(this.#total, countOf([]))
    this.#isComplete = false
  }

  /** Calls `learn` for the jobs that others have applied, once. If it rejects, the next call begins again. */
  async learned(learn: () => Promise<void>): Promise<void> {
    if (this.#isComplete) return
    this.#learning ??= learn()
      .then(() => {
        this.#isComplete = true
      })
      .finally(() => {
        this.#learning = undefined
      })
    await this.#learning
  }

  #noteWorkerBound(jobId: string, active: readonly ActiveRun[]): void {
    const bound = active.filter(isWorkerBound)
    const runNos = bound.map(({ runNo }) => runNo)
    if (runNos.length > 0) this.#workerBound.set(jobId, runNos)
    else if (this.#workerBound.size > 0) this.#workerBound.delete(jobId)
  }

  #count(counts: Counts, pool: string | undefined, sign: 1 | -1): void {
    add(this.#total, counts, sign)
    if (pool === undefined) return
    const ofPool = this.#pools.get(pool) ?? (this.#pools.size < poolsMax ? countOf([]) : undefined)
    if (ofPool === undefined) return
    add(ofPool, counts, sign)
    if (ofPool.dispatched + ofPool.running + ofPool.waiting > 0) this.#pools.set(pool, ofPool)
    else this.#pools.delete(pool)
  }
}

/** The pool of a job's runs; undefined if they go to no worker. */
export const poolOf = ({ definition }: Job): string | undefined =>
  definition?.spec === undefined ? undefined : (poolOfTarget(definition.spec.target) ?? undefined)

const isWorkerBound = (run: ActiveRun): boolean => waitsForHandler(run) || waitsForWorker(run)

const statuses = ['dispatched', 'running', 'waiting', 'withoutHandler', 'inPausedPools'] as const

function add(to: Counts, counts: Counts, sign: 1 | -1): void {
  for (const status of statuses) to[status] += sign * counts[status]
}

function countOf(active: readonly ActiveRun[]): Counts {
  const counts: Counts = { dispatched: 0, running: 0, waiting: 0, withoutHandler: 0, inPausedPools: 0 }
  for (const run of active) {
    counts[run.status === 'RUNNING' ? 'running' : run.status === 'DISPATCHED' ? 'dispatched' : 'waiting']++
    if (waitsForPool(run)) counts.inPausedPools++
    else if (waitsForHandler(run)) counts.withoutHandler++
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

const minutes = 5
const minuteMs = 60_000
/** Each class ends 25% above the one before it, the first at 1 ms, the last beyond a day. */
const classes = 84
const boundOf = (index: number): number => 1.25 ** index

interface Minute {
  /** Minutes since the epoch. */
  at: number
  starts: number
  maxMs: number
  counts: Uint32Array
}

/** How late the handlers of a partition started in the last minutes, as their workers reported. */
export class RecentLateness {
  /** By minute; the oldest is overwritten. */
  readonly #minutes: (Minute | undefined)[] = []

  add(lateMs: readonly number[], nowMs: number): void {
    if (lateMs.length === 0) return
    const minute = this.#minuteOf(nowMs)
    for (const late of lateMs) {
      const index = late <= 1 ? 0 : Math.min(classes - 1, Math.ceil(Math.log(late) / Math.log(1.25)))
      minute.counts[index] = (minute.counts[index] ?? 0) + 1
      minute.starts++
      minute.maxMs = Math.max(minute.maxMs, late)
    }
  }

  /** Null: nothing has started. Percentiles are exact to 25%. */
  view(nowMs: number): StartLateness | null {
    const oldest = Math.floor(nowMs / minuteMs) - minutes
    const recent = this.#minutes.flatMap((minute) => (minute !== undefined && minute.at > oldest ? [minute] : []))
    const starts = recent.reduce((sum, minute) => sum + minute.starts, 0)
    if (starts === 0) return null
    const maxMs = Math.max(...recent.map((minute) => minute.maxMs))
    const counts = Array.from({ length: classes }, (_, index): [number, number] => [
      boundOf(index),
      recent.reduce((sum, minute) => sum + (minute.counts[index] ?? 0), 0),
    ])
    const percentile = (share: number): number => Math.min(maxMs, Math.round(percentileOf(counts, share) ?? 0))
    return { starts, p50Ms: percentile(0.5), p99Ms: percentile(0.99), maxMs }
  }

  #minuteOf(nowMs: number): Minute {
    const at = Math.floor(nowMs / minuteMs)
    const known = this.#minutes[at % minutes]
    if (known?.at === at) return known
    const begun = { at, starts: 0, maxMs: 0, counts: new Uint32Array(classes) }
    this.#minutes[at % minutes] = begun
    return begun
  }
}
