/**
 * One opening of a partition: its store, what is known beside it, and how its phases wait, for records or for a time. It is made
 * when the store has been opened, and dropped at the next error, so nothing of it survives a reopen. What does is in
 * assignment.ts. The phases are functions over it: restore.ts, standby.ts, takeover.ts, run-loop.ts. partition.ts runs them in
 * order.
 */
import type { Owner } from '../../../schemas/index.ts'
import type { Timer } from '../../../streams/state/index.ts'
import { atSteady, trustedMs } from '../../clock/index.ts'
import type { WakeSignal } from '../../concurrency/index.ts'
import type { PartitionStore, TransactionalWriter } from '../../ports/index.ts'
import { ActiveRuns, type JobWaits, type Leases, StandingJobs, type WorkerWatch } from '../activity/index.ts'
import {
  BulkChanges,
  type CommitContext,
  type CycleOptions,
  type CycleResult,
  type FailureIsolation,
  logPosition,
  runCommitCycle,
  saveCheckpoint,
} from '../commit/index.ts'
import { Backpressure, EventsWatermark, InputBuffer, LogPositions, type PartitionReader, readSources } from '../input/index.ts'
import { AdmissionQueue } from '../limits/index.ts'
import type { Shared } from '../options/index.ts'
import type { WrittenIds } from '../queries/index.ts'
import { type Checkpoint, type ForeignChangelog, HeavyJobs, idleCheckMs, TombstoneGuard } from '../state/index.ts'
import { TimeIndex, ZoneRulesState } from '../timers/index.ts'
import { type Assignment, Closed, Interruption, type PartitionRole, type Phase, type SchedulerResources } from './assignment.ts'
import { RestoreProgress } from './restore-progress.ts'

/** After this time without a record the reader may be at the end: control records and aborted records appear in no batch. */
export const quietMs = 2_000

/** What the open of a store found. */
export interface Opened {
  store: PartitionStore
  written: WrittenIds
  /** The checkpoint of the store, and the last claim in it. Undefined in a new store. */
  local: Checkpoint | undefined
  claim: Owner | undefined
  /** The next offsets to read. */
  jobsOffset: number
  stateOffset: number
  /** Ends of the logs. */
  ends: { state: number; jobs: number }
  /** Whether the store has exactly the timers and index keys that follow from its jobs. It is kept so then. */
  isExact: boolean
}

export class PartitionContext implements CommitContext {
  readonly assignment: Assignment
  readonly partition: number
  readonly shared: Shared
  readonly partitionReader: PartitionReader
  readonly resources: SchedulerResources
  readonly signal: WakeSignal
  readonly leases: Leases
  readonly workers: WorkerWatch
  readonly jobWaits: JobWaits
  readonly failureIsolation: FailureIsolation
  readonly store: PartitionStore
  readonly index: TimeIndex
  readonly written: WrittenIds
  readonly inputBuffer: InputBuffer
  readonly backpressure: Backpressure
  readonly activeRuns = new ActiveRuns()
  readonly standing = new StandingJobs()
  readonly heavyJobs = new HeavyJobs()
  readonly admissionQueue: AdmissionQueue
  readonly bulk: BulkChanges
  readonly reports: EventsWatermark
  readonly restoreProgress: RestoreProgress
  readonly tombstoneGuard: TombstoneGuard
  readonly zones: ZoneRulesState
  readonly positions: LogPositions
  /** How far the store has read job-state, its last claim, and whether the log is proved to be the one it was built from. */
  readonly read: { stateOffset: number; claimedAt: number; isProven: boolean }
  /** Set by the claim. */
  writer: TransactionalWriter | undefined
  /** Offset of our claim. Before the claim: of the claim under which the store last applied records; -1 if there is none. */
  claimOffset: number
  isExact: boolean
  /** Set while job-state is not the log that the store was built from. */
  otherLog: ForeignChangelog | undefined
  /** Due time of the oldest timer that was not taken when the current commit cycle began. */
  dueAt = Number.POSITIVE_INFINITY
  #cycleSince = Number.POSITIVE_INFINITY
  #hasCommitted = false
  /** By the steady clock. */
  #progressAt: number
  /** The error that ends this opening. */
  #fault: { error: unknown } | undefined
  readonly #interrupted = new Interruption()
  #isStoreOpen = true

  constructor(assignment: Assignment, opened: Opened) {
    const { partition, shared, partitionReader, resources } = assignment
    const { store, local, claim } = opened
    this.assignment = assignment
    this.partition = partition
    this.shared = shared
    this.partitionReader = partitionReader
    this.resources = resources
    this.signal = assignment.signal
    this.leases = assignment.leases
    this.workers = assignment.workers
    this.jobWaits = assignment.jobWaits
    this.failureIsolation = assignment.failureIsolation
    this.store = store
    this.index = new TimeIndex(store)
    this.written = opened.written
    this.inputBuffer = new InputBuffer(resources.inputBufferBytesMax)
    this.backpressure = new Backpressure(this.inputBuffer, partitionReader, shared.clock)
    this.admissionQueue = new AdmissionQueue(shared.codecs)
    this.bulk = new BulkChanges(shared.clock, assignment.announced, () => this.signal.wake())
    this.reports = new EventsWatermark(this)
    this.tombstoneGuard = new TombstoneGuard(shared.clock, shared.tombstoneRetentionMs)
    this.tombstoneGuard.begin(local?.savedAtMs)
    this.zones = new ZoneRulesState(partition, shared)
    this.zones.opened(local, claim)
    const applied = { jobs: opened.jobsOffset, state: opened.stateOffset, commands: 0, events: 0 }
    this.positions = new LogPositions(partitionReader, () => !this.closing && !this.#fault, applied)
    assignment.applied = this.positions.applied
    this.read = { stateOffset: opened.stateOffset, claimedAt: claim?.claimedAt ?? 0, isProven: false }
    this.claimOffset = local?.claimOffset ?? -1
    this.isExact = opened.isExact
    this.#progressAt = shared.clock.steadyMs()
    this.restoreProgress = new RestoreProgress(this, opened.ends)
  }

  get phase(): Phase {
    return this.assignment.phase
  }

  get role(): PartitionRole {
    return this.assignment.role
  }

  get closing(): boolean {
    return this.assignment.closing
  }

  get isWarm(): boolean {
    return this.assignment.isWarm(this.behindRecords)
  }

  /** Records that the store lacks, by the last known ends; null once it is closed. */
  get behindRecords(): number | null {
    return this.#isStoreOpen ? this.restoreProgress.behindRecords : null
  }

  /** Start of the current commit cycle, by the steady clock; Infinity between cycles. */
  get cycleSince(): number {
    return this.#cycleSince
  }

  /** Whether a commit cycle has applied something. */
  get hasCommitted(): boolean {
    return this.#hasCommitted
  }

  get isOfReplacedChangelog(): boolean {
    return this.otherLog !== undefined
  }

  /** Rejects when this opening must end. */
  get interrupted(): Promise<never> {
    return this.#interrupted.promise
  }

  enter(phase: Phase): void {
    this.#progressAt = this.shared.clock.steadyMs()
    this.assignment.enter(phase)
    this.restoreProgress.measureRestore()
  }

  /** Starts the close of the partition: every wait throws Closed from now on. */
  beginClose(): void {
    this.assignment.beginClose()
    this.#interrupted.reject(new Closed())
  }

  /** Ends this opening with this error, also where it waits for a slot or for a heartbeat. */
  interrupt(error: Error): void {
    this.fail(error)
    this.#interrupted.reject(error)
  }

  /** Ends the current phase with this error: its next wait or commit cycle throws it. Nothing more is read until it is opened again. */
  fail(error: unknown): void {
    this.#fault ??= { error }
    for (const source of readSources) this.partitionReader.close(source)
    this.signal.wake()
  }

  /** Lets go of what others share, and closes writer and store. */
  async end(): Promise<void> {
    this.bulk.refuse()
    this.inputBuffer.clear()
    this.backpressure.make()
    this.resources.heavy.leave(this)
    this.restoreProgress.end()
    this.zones.end()
    await this.writer?.close().catch(() => undefined)
    await this.closeStore().catch((err) =>
      this.shared.logger.warn({ event: 'store-not-closed', err, partition: this.partition }, 'A store did not close cleanly.'),
    )
  }

  /** Nothing reads the store from here on. A second call does nothing. */
  async closeStore(): Promise<void> {
    if (!this.#isStoreOpen) return
    this.#isStoreOpen = false
    await this.store.close()
  }

  /** Call it whenever records arrived or were applied. */
  progress(): void {
    this.#progressAt = this.shared.clock.steadyMs()
  }

  /** Sleeps until a record arrives. False: none arrived for quietMs, so the end may be reached. */
  async more(): Promise<boolean> {
    const { clock } = this.shared
    if (clock.steadyMs() - this.#progressAt >= quietMs) return false
    await this.nap(atSteady(clock, this.#progressAt + quietMs))
    return true
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.nap(Number.POSITIVE_INFINITY)
  }

  /** Resolves when the wall clock is trusted. The scheduler wakes the partition then. */
  untilTrusted(): Promise<void> {
    return this.until(() => trustedMs(this.shared.clock) !== undefined)
  }

  async nap(untilMs: number): Promise<void> {
    this.#check()
    await this.signal.wait(Math.min(untilMs, this.shared.clock.nowMs() + idleCheckMs))
    this.#check()
  }

  #check(): void {
    if (this.closing) throw new Closed()
    if (this.#fault !== undefined) throw this.#fault.error
    this.tombstoneGuard.check()
  }

  /** The savedAtMs that a write to the store may carry now. */
  get savedAtMs(): number {
    return this.tombstoneGuard.savedAtMs(
      this.phase === 'active' || (this.phase === 'following' && this.restoreProgress.behindRecords === 0),
    )
  }

  /** Runs one commit cycle. Without a writer it applies only what is decided already. */
  async runCommitCycle(timers: Timer[] = [], options: CycleOptions = {}): Promise<CycleResult> {
    this.#check()
    const { waits } = this.assignment
    this.#cycleSince = this.shared.clock.steadyMs()
    waits.cycleBegins()
    const result = await this.assignment
      .alone(() => runCommitCycle(this, timers, options))
      .finally(() => {
        this.#cycleSince = Number.POSITIVE_INFINITY
        waits.cycleEnds()
      })
    if (result.appliedCount > 0) this.progress()
    this.#hasCommitted ||= result.committed
    if (result.committed) this.resources.readingPace.hurry()
    if (this.inputBuffer.roomy) this.backpressure.make()
    return result
  }

  /** `evenIfKnown`: log also if only the time zone rules differ from what the changelog says. */
  async logPosition(evenIfKnown = false): Promise<void> {
    this.#check()
    await logPosition(this, evenIfKnown)
  }

  /** Lets an idle store record that it is current. A member that is alive in the group reads all records. */
  async keepFresh(): Promise<void> {
    if (!this.tombstoneGuard.isDue) return
    await this.assignment.orClosed(this.partitionReader.nextHeartbeat())
    await this.assignment.alone(() => saveCheckpoint(this))
    this.tombstoneGuard.recorded()
  }

  /** When something besides timers must be checked. */
  get wakeAt(): number {
    return Math.min(this.admissionQueue.wakeAt, atSteady(this.shared.clock, this.assignment.leavingAt), this.reports.wakeAtMs)
  }
}
