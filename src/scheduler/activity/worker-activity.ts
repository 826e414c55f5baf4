/** The running attempts of each worker, from reports since this owner took the partition. Soft state for people who ask. */
import type { ExecutionEvent } from '../../../schemas/index.ts'
import { BoundedMap } from '../../concurrency/index.ts'
import type { WorkerRuns } from '../../ports/index.ts'

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
