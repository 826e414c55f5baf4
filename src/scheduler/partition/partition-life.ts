/** The life of one opening of a partition: how its phases wait, for records or for a time, what ends it, and how far it is from the ends of its logs. */
import { atSteady, trustedMs } from '../../ground/clock/index.ts'
import { type LogPositions, type ReadSource, readSources } from '../input/index.ts'
import type { Shared } from '../options/index.ts'
import { idleCheckMs } from '../state/index.ts'
import { type Assignment, Closed, Interruption, type PartitionRole, type Phase } from './assignment.ts'

/** After this time without a record the reader may be at the end: control records and aborted records appear in no batch. */
export const quietMs = 2_000

export class PartitionLife {
  readonly #assignment: Assignment
  readonly #checkStore: () => void
  /** By the steady clock. */
  #progressAt: number
  /** The error that ends this opening. */
  #fault: { error: unknown } | undefined
  readonly #interrupted = new Interruption()

  /** `checkStore`: throws if the store must not be used any more. */
  constructor(assignment: Assignment, checkStore: () => void) {
    this.#assignment = assignment
    this.#checkStore = checkStore
    this.#progressAt = assignment.shared.clock.steadyMs()
  }

  get phase(): Phase {
    return this.#assignment.phase
  }

  get role(): PartitionRole {
    return this.#assignment.role
  }

  get closing(): boolean {
    return this.#assignment.closing
  }

  /** False once nothing more is taken from the reader. */
  get receives(): boolean {
    return !this.closing && this.#fault === undefined
  }

  /** Rejects when this opening must end. */
  get interrupted(): Promise<never> {
    return this.#interrupted.promise
  }

  enter(phase: Phase): void {
    this.progress()
    this.#assignment.enter(phase)
  }

  /** Starts the close of the partition: every wait throws Closed from now on. */
  beginClose(): void {
    this.#assignment.beginClose()
    this.#interrupted.reject(new Closed())
  }

  /** Ends this opening with this error, also where it waits for a slot or for a heartbeat. */
  interrupt(error: Error): void {
    this.fail(error)
    this.#interrupted.reject(error)
  }

  /** Ends the current phase with this error: its next wait or commit cycle throws it. Nothing more is read until it is opened again. */
  fail(error: unknown): void {
    const { partitionReader, signal } = this.#assignment
    this.#fault ??= { error }
    for (const source of readSources) partitionReader.close(source)
    signal.wake()
  }

  /** Call it whenever records arrived or were applied. */
  progress(): void {
    this.#progressAt = this.#assignment.shared.clock.steadyMs()
  }

  /** Sleeps until a record arrives. False: none arrived for quietMs, so the end may be reached. */
  async more(): Promise<boolean> {
    const { clock } = this.#assignment.shared
    if (clock.steadyMs() - this.#progressAt >= quietMs) return false
    await this.nap(atSteady(clock, this.#progressAt + quietMs))
    return true
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.nap(Number.POSITIVE_INFINITY)
  }

  /** Resolves when the wall clock is trusted. The scheduler wakes the partition then. */
  untilTrusted(): Promise<void> {
    return this.until(() => trustedMs(this.#assignment.shared.clock) !== undefined)
  }

  async nap(untilMs: number): Promise<void> {
    const { signal, shared } = this.#assignment
    this.check()
    await signal.wait(Math.min(untilMs, shared.clock.nowMs() + idleCheckMs))
    this.check()
  }

  /** Throws what ends this opening. */
  check(): void {
    if (this.closing) throw new Closed()
    if (this.#fault !== undefined) throw this.#fault.error
    this.#checkStore()
  }
}

/** The current state of the partition. */
interface Place {
  readonly partition: number
  readonly shared: Pick<Shared, 'metrics'>
  readonly life: { readonly phase: string; readonly role: string }
  readonly positions: Pick<LogPositions, 'done'>
}

/** How far a partition is from the ends of its logs, for people, for metrics, and for readers of a standby. */
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
    const { phase } = this.#place.life
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
    const { partition, shared, life } = this.#place
    shared.metrics.standbyBehind.set({ partition }, life.role === 'standby' ? this.behindRecords : 0)
  }
}
