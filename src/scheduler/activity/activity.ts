/** What the owner of a partition knows of its runs, workers and waiting callers. Soft state: none of it is logged. */
import { type ExecutionEvent, fieldOf, jobDefinitionSchema } from '../../../schemas/index.ts'
import type { AttemptId, Job } from '../../../streams/state/index.ts'
import { BoundedMap } from '../../ground/concurrency/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { Heartbeat, WorkerRuns } from '../../ground/ports/index.ts'
import { ActiveRuns, poolOf } from './active-runs.ts'
import { StandingJobs } from './standing-jobs.ts'

/** The part that is kept when the partition is opened again. */
export class KeptActivity {
  readonly leases = new Leases(0)
  readonly workers = new WorkerWatch()
  readonly jobWaits = new JobWaits()
}

export class Activity {
  readonly leases: Leases
  readonly workers: WorkerWatch
  readonly jobWaits: JobWaits
  readonly activeRuns = new ActiveRuns()
  readonly standing = new StandingJobs()

  constructor({ leases, workers, jobWaits } = new KeptActivity()) {
    this.leases = leases
    this.workers = workers
    this.jobWaits = jobWaits
  }

  /** This process fires from now on: nobody was silent before. */
  begin(nowMs: number): void {
    this.leases.grant(nowMs)
    this.workers.clear()
  }

  /** A decision has made `after` of `before`. */
  decided(before: Job, after: Job): void {
    const [then, now] = [before.state?.active ?? [], after.state?.active ?? []]
    if (then !== now || (now.length > 0 && !this.activeRuns.has(after.id))) this.activeRuns.set(after.id, now, poolOf(after))
    this.standing.changed(before, after)
  }

  /** A report of a worker. Attempts that no worker runs leave no worker in memory. */
  reported(job: Job, event: ExecutionEvent, atMs: number): void {
    if (isActive(job, event)) this.workers.reported(event, atMs)
  }

  heartbeat(job: Job, event: ExecutionEvent, heartbeat: Heartbeat, nowMs: number): void {
    if (!isActive(job, event)) return
    // A clock that was ahead at reading must not extend a lease.
    const checkedAt = Math.min(heartbeat.checkedAt, nowMs)
    this.leases.note(job.id, event, { ...heartbeat, checkedAt })
    this.reported(job, event, checkedAt)
  }

  /** STARTED is a report of the worker too, and may arrive long after the start. */
  started(job: Job, event: ExecutionEvent, nowMs: number): void {
    const { progress, message } = event
    const said = { progress, message, ...this.leases.last(job.id, event) }
    if (isActive(job, event)) this.leases.note(job.id, event, { ...said, checkedAt: nowMs })
  }
}

/** Whether the attempt is in-flight: it was dispatched and has not ended. */
function isActive({ state }: Job, { runNo, attempt, specOffset }: AttemptId): boolean {
  const run = state?.active.find((candidate) => candidate.runNo === runNo)
  return (run?.status === 'DISPATCHED' || run?.status === 'RUNNING') && run.attempt === attempt && run.specOffset === specOffset
}

/** Longest lease that a definition may have. An attempt without a heartbeat for this long is over. */
const leaseMsMax = fieldOf(jobDefinitionSchema, 'leaseMs').maximum ?? Number.POSITIVE_INFINITY
/** Up to this number of attempts, none is swept. */
const sweptFromMin = 10_000

/**
 * The last heartbeat of each running attempt. Soft state: it is not logged, so a heartbeat costs no write. Instead a new owner grants
 * every running attempt a full lease.
 */
export class Leases {
  readonly #heartbeats = new Map<string, Heartbeat>()
  #floorMs: number
  /** Above this number of attempts, those whose end nobody reported are removed. */
  #sweptFrom = sweptFromMin

  /** Nothing counts as silent before `grantedAtMs`. */
  constructor(grantedAtMs: number) {
    this.#floorMs = grantedAtMs
  }

  grant(atMs: number): void {
    this.#floorMs = atMs
    this.#heartbeats.clear()
  }

  /** False: the attempt is unknown. The caller notes it once it knows that it is active, so that unknown attempts do not fill the memory. */
  renew(jobId: string, attempt: AttemptId, heartbeat: Heartbeat): boolean {
    const key = keyOf(jobId, attempt)
    if (!this.#heartbeats.has(key)) return false
    this.#heartbeats.set(key, heartbeat)
    return true
  }

  /** The heartbeat of an attempt that is active. */
  note(jobId: string, attempt: AttemptId, heartbeat: Heartbeat): void {
    this.#heartbeats.set(keyOf(jobId, attempt), heartbeat)
    if (this.#heartbeats.size > this.#sweptFrom) this.#sweep(heartbeat.checkedAt - leaseMsMax)
  }

  ended(jobId: string, attempt: AttemptId): void {
    this.#heartbeats.delete(keyOf(jobId, attempt))
  }

  seenAt(jobId: string, attempt: AttemptId): number {
    return Math.max(this.last(jobId, attempt)?.checkedAt ?? 0, this.#floorMs)
  }

  /** Number of known attempts. */
  get size(): number {
    return this.#heartbeats.size
  }

  /** The last heartbeat that this owner has read of an attempt. */
  last(jobId: string, attempt: AttemptId): Heartbeat | undefined {
    return this.#heartbeats.get(keyOf(jobId, attempt))
  }

  #sweep(beforeMs: number): void {
    for (const [key, { checkedAt }] of this.#heartbeats) if (checkedAt < beforeMs) this.#heartbeats.delete(key)
    this.#sweptFrom = Math.max(sweptFromMin, this.#heartbeats.size * 2)
  }
}

const keyOf = (jobId: string, { runNo, attempt, specOffset }: AttemptId): string =>
  `${jobId}\0${specOffset}\0${runNo}\0${attempt}`

/** The running attempts of each worker, from reports since this owner took the partition. Soft state for people who ask. */

/** Attempts that are remembered. The oldest go first; those are attempts whose end nobody reported. */
const attemptsMax = 100_000
/** Workers that are remembered after their last report. */
const workersMax = 1_000
/** Runs that are named for one worker. All are counted. */
export const namedRunsMax = 20

type Report = Pick<ExecutionEvent, 'type' | 'jobId' | 'runNo' | 'attempt' | 'specOffset' | 'worker'>

export class WorkerWatch {
  /** Running attempts in the order of their first report. */
  readonly #running = new BoundedMap<string, { worker: string; runId: string }>(attemptsMax)
  readonly #heardAt = new BoundedMap<string, number>(workersMax)

  clear(): void {
    this.#running.clear()
    this.#heardAt.clear()
  }

  reported(report: Report, nowMs: number): void {
    // RETRY_DUE comes from the retry forwarder, not from a worker.
    if (report.type === 'RETRY_DUE' || report.worker === '') return
    this.#heardAt.renew(report.worker, nowMs)
    const key = `${report.jobId}\0${report.specOffset}\0${report.runNo}\0${report.attempt}`
    if (report.type === 'STARTED' || report.type === 'HEARTBEAT')
      this.#running.set(key, { worker: report.worker, runId: `${report.jobId}/${report.runNo}` })
    else this.#running.delete(key)
  }

  view(): WorkerRuns[] {
    const views = new Map<string, WorkerRuns>()
    for (const [worker, heardAt] of this.#heardAt) views.set(worker, { worker, heardAt, running: 0, runIds: [] })
    for (const { worker, runId } of this.#running.values()) {
      const view = views.get(worker)
      if (view === undefined) continue
      view.running++
      if (view.runIds.length < namedRunsMax) view.runIds.push(runId)
    }
    return [...views.values()]
  }
}

/** Callers that wait for a change of a job, for example for the end of a run. Soft state: a new owner does not know them. */

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
