/**
 * One opening of a partition: its store, its input, what is known beside them, and its life. It is made when the store has been opened, and dropped at the next error, so nothing of it survives a reopen. What does is in
 * assignment.ts. The phases are functions over it: restore.ts, standby.ts, takeover.ts, run-loop.ts. partition.ts runs them in
 * order.
 */
import type { Owner } from '../../../schemas/index.ts'
import type { Timer } from '../../../streams/state/index.ts'
import { atSteady } from '../../ground/clock/index.ts'
import type { WakeSignal } from '../../ground/concurrency/index.ts'
import type { PartitionStore, TransactionalWriter } from '../../ground/ports/index.ts'
import { Activity } from '../activity/index.ts'
import {
  type CommitContext,
  type CycleOptions,
  type CycleResult,
  type FailureIsolation,
  LocalStore,
  logPosition,
  type PartitionHook,
  runCommitCycle,
  saveCheckpoint,
} from '../commit/index.ts'
import { PartitionInput } from '../input/index.ts'
import { AdmissionQueue } from '../limits/index.ts'
import type { Shared } from '../options/index.ts'
import type { Checkpoint } from '../state/index.ts'
import type { Assignment, Phase, SchedulerResources } from './assignment.ts'
import { PartitionLife, RestoreProgress } from './partition-life.ts'

/** What the open of a store found. */
export interface Opened {
  store: PartitionStore
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
  readonly resources: SchedulerResources
  readonly signal: WakeSignal
  readonly failureIsolation: FailureIsolation
  readonly local: LocalStore
  readonly input: PartitionInput
  readonly activity: Activity
  readonly life: PartitionLife
  readonly admissionQueue: AdmissionQueue
  readonly hooks: readonly PartitionHook[]
  readonly restoreProgress: RestoreProgress
  /** How far the store has read job-state, its last claim, and whether the log is proved to be the one it was built from. */
  readonly read: { stateOffset: number; claimedAt: number; isProven: boolean }
  /** Set by the claim. */
  writer: TransactionalWriter | undefined
  /** Due time of the oldest timer that was not taken when the current commit cycle began. */
  dueAt = Number.POSITIVE_INFINITY
  #cycleSince = Number.POSITIVE_INFINITY
  #hasCommitted = false
  #isStoreOpen = true

  constructor(assignment: Assignment, opened: Opened) {
    const { partition, shared, partitionReader, resources } = assignment
    this.assignment = assignment
    this.partition = partition
    this.shared = shared
    this.resources = resources
    this.signal = assignment.signal
    this.failureIsolation = assignment.failureIsolation
    this.local = new LocalStore(partition, shared, opened.store, { ...opened, activeJobs: resources.activeJobsMax })
    this.activity = new Activity(assignment.activity)
    this.life = new PartitionLife(assignment, () => this.local.tombstoneGuard.check())
    this.admissionQueue = new AdmissionQueue(shared.codecs)
    this.hooks = assignment.hooks
    const applied = { jobs: opened.jobsOffset, state: opened.stateOffset, commands: 0, events: 0 }
    this.input = new PartitionInput({
      place: { partition, shared, resources, signal: assignment.signal },
      ...{ reader: partitionReader, bytesMax: resources.inputBufferBytesMax, applied },
      receives: () => this.life.receives,
    })
    assignment.applied = this.input.positions.applied
    this.read = { stateOffset: opened.stateOffset, claimedAt: opened.claim?.claimedAt ?? 0, isProven: false }
    this.restoreProgress = new RestoreProgress(
      { partition, shared, life: this.life, positions: this.input.positions },
      opened.ends,
    )
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

  enter(phase: Phase): void {
    this.life.enter(phase)
    this.restoreProgress.measureRestore()
  }

  /** Lets go of what others share, and closes writer and store. */
  async end(): Promise<void> {
    for (const hook of this.hooks) hook.closed?.()
    this.input.end()
    this.resources.heavy.leave(this)
    this.restoreProgress.end()
    this.local.zones.end()
    await this.writer?.close().catch(() => undefined)
    await this.closeStore().catch((err) =>
      this.shared.logger.warn({ event: 'store-not-closed', err, partition: this.partition }, 'A store did not close cleanly.'),
    )
  }

  /** Nothing reads the store from here on. A second call does nothing. */
  async closeStore(): Promise<void> {
    if (!this.#isStoreOpen) return
    this.#isStoreOpen = false
    await this.local.store.close()
  }

  /** The savedAtMs that a write to the store may carry now. */
  get savedAtMs(): number {
    return this.local.tombstoneGuard.savedAtMs(
      this.life.phase === 'active' || (this.life.phase === 'following' && this.restoreProgress.behindRecords === 0),
    )
  }

  /** Runs one commit cycle. Without a writer it applies only what is decided already. */
  async runCommitCycle(timers: Timer[] = [], options: CycleOptions = {}): Promise<CycleResult> {
    this.life.check()
    const { waits } = this.assignment
    this.#cycleSince = this.shared.clock.steadyMs()
    waits.cycleBegins()
    const result = await this.assignment
      .alone(() => runCommitCycle(this, timers, options))
      .finally(() => {
        this.#cycleSince = Number.POSITIVE_INFINITY
        waits.cycleEnds()
      })
    if (result.appliedCount > 0) this.life.progress()
    this.#hasCommitted ||= result.committed
    if (result.committed) this.resources.readingPace.hurry()
    if (this.input.buffer.roomy) this.input.backpressure.make()
    return result
  }

  /** `evenIfKnown`: log also if only the time zone rules differ from what the changelog says. */
  async logPosition(evenIfKnown = false): Promise<void> {
    this.life.check()
    await logPosition(this, evenIfKnown)
  }

  /** Lets an idle store record that it is current. A member that is alive in the group reads all records. */
  async keepFresh(): Promise<void> {
    if (!this.local.tombstoneGuard.isDue) return
    await this.assignment.orClosed(this.input.reader.nextHeartbeat())
    await this.assignment.alone(() => saveCheckpoint(this))
    this.local.tombstoneGuard.recorded()
  }

  /** Whether a hook wants a commit cycle. */
  get areHooksPressing(): boolean {
    return this.hooks.some(({ isPressing }) => isPressing)
  }

  /** When something besides timers must be checked. */
  get wakeAt(): number {
    return Math.min(
      this.admissionQueue.wakeAt,
      atSteady(this.shared.clock, this.assignment.leavingAt),
      this.input.reports.wakeAtMs,
    )
  }
}
