/** How far a partition is from the ends of its logs, for people, for metrics, and for whoever reads a copy. */
import type { PartitionStore } from '../../ports/index.ts'
import type { ReadSource } from '../input/index.ts'
import type { Shared } from '../options/index.ts'

/** The partition, as it is at any time. */
interface Place {
  readonly partition: number
  readonly shared: Pick<Shared, 'metrics'>
  readonly phase: string
  readonly role: string
  readonly store: PartitionStore | undefined
  /** Up to where the store has all of a log that readers are shown. */
  done(source: 'state' | 'jobs'): number
}

export class RestoreProgress {
  readonly #place: Place
  /** Where the log that is being restored ended when that began. */
  restoreEnd = 0
  /** And where its reading began. */
  restoreBegin = 0
  /** Where the logs ended when last heard of; absent while there is no store that is fit to be read. */
  ends: { state: number; jobs: number } | undefined
  /** Records of changelog and definitions that came since the way to the active phase began. */
  read = 0

  constructor(place: Place) {
    this.#place = place
  }

  get restoreRemaining(): number {
    const { phase } = this.#place
    if (phase === 'active' || phase === 'following' || phase === 'closed') return 0
    // What is shown to nobody is never folded, and done all the same.
    return Math.max(0, this.restoreEnd - this.#place.done(phase === 'restoring' ? 'state' : 'jobs'))
  }

  get restoreTotal(): number {
    return this.restoreRemaining === 0 ? 0 : Math.max(this.restoreRemaining, this.restoreEnd - this.restoreBegin)
  }

  /**
   * Records that the store lacks, as far as is known; null while there is no store to read. A transaction's end counts as none, nor does what
   * was passed and is shown to nobody: where a log ends with what a client has aborted, nobody ever has more.
   */
  get behindRecords(): number | null {
    const place = this.#place
    if (this.ends === undefined || place.store === undefined) return null
    const state = this.ends.state - place.done('state')
    return Math.max(0, state > 1 ? state : 0) + Math.max(0, this.ends.jobs - place.done('jobs'))
  }

  /** Must be told of all that is read. `end`: where that log ends. */
  heardOf(source: ReadSource, records: number, end: number): void {
    if (source !== 'state' && source !== 'jobs') return
    this.read += records
    if (this.ends !== undefined) this.ends[source] = Math.max(this.ends[source], end)
  }

  forget(): void {
    this.ends = undefined
    this.measureBehind()
  }

  measureRestore(): void {
    const { partition, shared } = this.#place
    shared.metrics.restoreRemaining.set({ partition }, this.restoreRemaining)
  }

  measureBehind(): void {
    const { partition, shared, role } = this.#place
    shared.metrics.standbyBehind.set({ partition }, role === 'standby' ? (this.behindRecords ?? 0) : 0)
  }
}
