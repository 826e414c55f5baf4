/** How far a partition is from the ends of its logs, for people, for metrics, and for readers of a standby. */
import type { LogPositions, ReadSource } from '../input/index.ts'
import type { Shared } from '../options/index.ts'

/** The current state of the partition. */
interface Place {
  readonly partition: number
  readonly shared: Pick<Shared, 'metrics'>
  readonly phase: string
  readonly role: string
  readonly positions: Pick<LogPositions, 'done'>
}

export class RestoreProgress {
  readonly #place: Place
  /** End of the log when its restore began. */
  restoreEnd = 0
  /** Offset where the restore began to read. */
  restoreBegin = 0
  /** Last known ends of the logs. */
  readonly #ends: { state: number; jobs: number }
  /** Records of changelog and definitions that arrived since the way to the active phase began. */
  read = 0

  constructor(place: Place, ends: { state: number; jobs: number }) {
    this.#place = place
    this.#ends = { ...ends }
  }

  get restoreRemaining(): number {
    const { phase } = this.#place
    if (phase === 'active' || phase === 'following' || phase === 'closed') return 0
    // Records that no reader is shown are never applied, but they count as done.
    return Math.max(0, this.restoreEnd - this.#place.positions.done(phase === 'restoring' ? 'state' : 'jobs'))
  }

  get restoreTotal(): number {
    return this.restoreRemaining === 0 ? 0 : Math.max(this.restoreRemaining, this.restoreEnd - this.restoreBegin)
  }

  /**
   * Number of records that the store lacks, by the last known ends. The end of a transaction counts as none, and so do records
   * that no reader is shown: after an aborted transaction at the end of a log no store ever has more.
   */
  get behindRecords(): number {
    const place = this.#place
    const state = this.#ends.state - place.positions.done('state')
    return Math.max(0, state > 1 ? state : 0) + Math.max(0, this.#ends.jobs - place.positions.done('jobs'))
  }

  /** Call it for all records read. `end`: the end of that log. */
  received(source: ReadSource, records: number, end: number): void {
    if (source !== 'state' && source !== 'jobs') return
    this.read += records
    this.#ends[source] = Math.max(this.#ends[source], end)
  }

  /** No store can be read any more. */
  end(): void {
    const { partition, shared } = this.#place
    shared.metrics.standbyBehind.set({ partition }, 0)
    shared.metrics.restoreRemaining.set({ partition }, 0)
  }

  measureRestore(): void {
    const { partition, shared } = this.#place
    shared.metrics.restoreRemaining.set({ partition }, this.restoreRemaining)
  }

  measureBehind(): void {
    const { partition, shared, role } = this.#place
    shared.metrics.standbyBehind.set({ partition }, role === 'standby' ? this.behindRecords : 0)
  }
}
