/**
 * The memory of a partition from its assignment to its end, and how its phases wait: for records, for a time, or for the end.
 * The phases are functions over it: restore.ts, takeover.ts, run-loop.ts. partition.ts runs them in order.
 */
import type { Timer } from '../../../streams/state/index.ts'
import { atSteady, trustedMs } from '../../clock/index.ts'
import { WakeSignal } from '../../concurrency/index.ts'
import { DuelogError, type ErrorCode, messageOf } from '../../errors/index.ts'
import type { PartitionStore, PositionReset, TransactionalWriter } from '../../ports/index.ts'
import { ActiveRuns, Leases, WorkerWatch } from '../activity/index.ts'
import {
  batchRecordsMax,
  type CommitContext,
  type CycleOptions,
  type CycleResult,
  FailureIsolation,
  logPosition,
  runCommitCycle,
  saveCheckpoint,
} from '../commit/index.ts'
import {
  AppliedWaits,
  Backpressure,
  EventsWatermark,
  InputBuffer,
  type PartitionReader,
  type ReadSource,
  type Source,
} from '../input/index.ts'
import { AdmissionQueue } from '../limits/index.ts'
import type { Shared } from '../options/index.ts'
import { SearchIndex } from '../queries/index.ts'
import { emptyChangelogState, type ForeignChangelog, HeavyJobs, lookMs, StoreFailures, TombstoneGuard } from '../state/index.ts'
import { type TimeIndex, ZoneRulesState } from '../timers/index.ts'
import { Closed, Interruption, RoleChanged } from './interruption.ts'
import type { SchedulerResources } from './process-context.ts'
import { RestoreProgress } from './restore-progress.ts'

export type Phase = 'restoring' | 'warming' | 'following' | 'claiming' | 'draining' | 'active' | 'closed'
/** What the group assigned to this member: to own the partition, or to keep a standby copy. */
export type PartitionRole = 'owner' | 'standby'

/** After this time without a record the reader may be at the end: control records and aborted records appear in no batch. */
export const quietMs = 2_000

/**
 * A store that lacks at most this many records is warm: they are read in a fraction of a second. It equals what a restore
 * leaves for the claim.
 */
const warmRecordsMax = 1_000
/**
 * A partition that fired stays warm for this time while it reopens. A cut-off from one broker is reported later
 * (kafka/brokers/broker-isolation.ts).
 */
const firedMsMax = 10_000

export class PartitionContext {
  readonly partition: number
  readonly shared: Shared
  readonly partitionReader: PartitionReader
  readonly resources: SchedulerResources
  readonly inputBuffer: InputBuffer
  readonly leases = new Leases(0)
  readonly activeRuns = new ActiveRuns()
  readonly workers = new WorkerWatch()
  readonly searchIndex = new SearchIndex()
  readonly restoreProgress = new RestoreProgress(this)
  readonly tombstoneGuard: TombstoneGuard
  readonly zones: ZoneRulesState
  readonly signal: WakeSignal
  readonly backpressure: Backpressure
  /** Survives a reopen, because a failed commit cycle ends in a reopen. */
  readonly failureIsolation = new FailureIsolation(batchRecordsMax)
  readonly heavyJobs = new HeavyJobs()
  /** Survives a reopen, because it counts reopens. */
  readonly storeFailures: StoreFailures
  /** Commit cycles that applied something since the partition was opened last. */
  turnsDone = 0
  admissionQueue: AdmissionQueue
  reports: EventsWatermark
  phase: Phase = 'restoring'
  role: PartitionRole
  store: PartitionStore | undefined
  writer: TransactionalWriter | undefined
  applied: CommitContext['applied'] = { jobs: 0, commands: 0, events: 0, state: 0 }
  changelogState: CommitContext['changelogState'] = emptyChangelogState()
  /** True if no position was found although there are records on the topic of reports. */
  mayBeLost = false
  /** Whether reports of runs were read since the claim. */
  hasReports = false
  /** Offset of our claim. Before the claim: of the claim under which the store last applied records; -1 if there is none. */
  claimOffset = -1
  /** Set while job-state is not the log that the store was built from. */
  otherLog: ForeignChangelog | undefined
  /**
   * How far the store has read job-state, the last claim it has read, and whether the log is proved to be the one it was built
   * from.
   */
  read = { stateOffset: 0, claimedAt: 0, isProven: false }
  /** Whether the store has exactly the timers and index keys that follow from its jobs. It is kept so then. */
  isExact = false
  /** Due time of the oldest timer that was not taken when the current commit cycle began. */
  dueAt = Number.POSITIVE_INFINITY
  closing = false
  /** Start of the current commit cycle, by the steady clock; Infinity between cycles. */
  cycleSince = Number.POSITIVE_INFINITY
  /** Why the partition cannot continue until an operator grants or sets something. Survives a reopen. For people. */
  trouble: string | null = null
  /** Survives a reopen. For people. */
  lastReset: PositionReset | null = null
  /** Latest time, by the steady clock, until which a partition fires after the group gave it to another member. */
  leavingAt = Number.POSITIVE_INFINITY
  get isLeaving(): boolean {
    return this.leavingAt !== Number.POSITIVE_INFINITY
  }
  /** Whether it fires, or could after little more than a claim: the records it lacks are read in a moment. */
  get isWarm(): boolean {
    const { phase, role, closing } = this
    if (phase === 'active') return true
    // A process whose clock is not trusted takes nothing over, because it could not fire.
    if (trustedMs(this.shared.clock) === undefined) return false
    if (phase === 'claiming' || phase === 'draining') return true
    if (closing || phase === 'closed') return false
    // A partition that restarts counts as warm until its store is open and its lag is known, or until the open takes too long.
    // A standby stays warm only while it follows.
    const { behindRecords } = this.restoreProgress
    if (role === 'owner' && behindRecords === null)
      return this.shared.clock.steadyMs() - this.#firedAt < firedMsMax && !this.storeFailures.isBroken
    return (role === 'owner' || phase === 'following') && behindRecords !== null && behindRecords <= warmRecordsMax
  }
  /** When it last fired before it left the active phase, by the steady clock. */
  #firedAt = Number.NEGATIVE_INFINITY
  readonly waits = new AppliedWaits(() => this.applied)
  readonly #closed = new Interruption()
  #interrupted = new Interruption()
  #alone: Promise<unknown> = Promise.resolve()
  /** By the steady clock. */
  #progressAt = 0
  /** The error of receiving records. */
  fault: { error: unknown } | undefined

  constructor(
    partition: number,
    role: PartitionRole,
    shared: Shared,
    partitionReader: PartitionReader,
    resources: SchedulerResources,
  ) {
    this.partition = partition
    this.role = role
    this.shared = shared
    this.partitionReader = partitionReader
    this.resources = resources
    this.tombstoneGuard = new TombstoneGuard(shared.clock, shared.tombstoneRetentionMs)
    this.zones = new ZoneRulesState(partition, shared)
    this.storeFailures = new StoreFailures(shared.clock)
    this.signal = new WakeSignal(shared.clock)
    this.inputBuffer = new InputBuffer(resources.inputBufferBytesMax)
    this.backpressure = new Backpressure(this.inputBuffer, partitionReader, shared.clock)
    this.admissionQueue = new AdmissionQueue(shared.codecs)
    this.reports = new EventsWatermark(this)
  }

  enter(phase: Phase): void {
    const before = this.phase
    this.phase = phase
    if (phase === 'active') {
      this.trouble = null
    } else if (before === 'active') this.#firedAt = this.shared.clock.steadyMs()
    this.storeFailures.entered(phase === 'active' || phase === 'following')
    this.#progressAt = this.shared.clock.steadyMs()
    this.restoreProgress.measureRestore()
    this.resources.phaseChanged()
  }

  /** Starts the close: every wait throws Closed from now on. */
  beginClose(): void {
    this.closing = true
    this.#closed.reject(new Closed())
    this.#interrupted.reject(new Closed())
    this.signal.wake()
  }

  /** Ends the current life, so that another one starts in another role. */
  interrupt(): void {
    this.fail(new RoleChanged())
    this.#interrupted.reject(new RoleChanged())
  }

  /** Rejects when the current life must end. */
  get interrupted(): Promise<never> {
    return this.#interrupted.promise
  }

  /** The error code under which metrics count the reopen. */
  failedWith(error: unknown): ErrorCode {
    const code = error instanceof DuelogError ? error.code : 'internal'
    this.trouble = code === 'kafka-denied' || code === 'bad-config' ? messageOf(error) : null
    return code
  }

  /** Ends the current phase with this error: its next wait or commit cycle throws it. */
  fail(error: unknown): void {
    this.fault ??= { error }
    this.signal.wake()
  }

  /** Clears everything that is not in the store. */
  forget(): void {
    this.backpressure.make()
    this.fault = undefined
    if (!this.closing) this.#interrupted = new Interruption()
    this.isExact = false
    this.otherLog = undefined
    this.restoreProgress.forget()
    this.zones.forget()
    this.inputBuffer.clear()
    this.resources.heavy.leave(this)
    this.activeRuns.clear()
    this.heavyJobs.clear()
    this.turnsDone = 0
    this.searchIndex.clear()
    this.admissionQueue = new AdmissionQueue(this.shared.codecs)
    this.reports = new EventsWatermark(this)
    this.store = undefined
    this.writer = undefined
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
    await this.signal.wait(Math.min(untilMs, this.shared.clock.nowMs() + lookMs))
    this.#check()
  }

  #check(): void {
    if (this.closing) throw new Closed()
    if (this.fault !== undefined) throw this.fault.error
    this.tombstoneGuard.check()
  }

  /** The savedAtMs that a write to the store may carry now. */
  get savedAtMs(): number {
    return this.tombstoneGuard.savedAtMs(
      this.phase === 'active' || (this.phase === 'following' && this.restoreProgress.behindRecords === 0),
    )
  }

  /** Waits for this time, whatever arrives, unless the partition closes first. */
  rest(forMs: number): Promise<void> {
    const { clock } = this.shared
    return this.orClosed(new Promise((resolve) => clock.at(clock.nowMs() + forMs, resolve)))
  }

  /** Resolves with the promise's value, unless the partition closes first. */
  orClosed<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#closed.promise])
  }

  /** Runs one commit cycle. Without a writer it applies only what is decided already. */
  async runCommitCycle(
    store: PartitionStore,
    index: TimeIndex,
    timers: Timer[] = [],
    options: CycleOptions = {},
  ): Promise<CycleResult> {
    this.#check()
    this.cycleSince = this.shared.clock.steadyMs()
    this.waits.cycleBegins()
    const result = await this.alone(() => runCommitCycle(this.#commitContext(store, index), timers, options)).finally(() => {
      this.cycleSince = Number.POSITIVE_INFINITY
      this.waits.cycleEnds()
    })
    if (result.appliedCount > 0) this.progress()
    if (result.committed) this.turnsDone++
    if (this.inputBuffer.roomy) this.backpressure.make()
    return result
  }

  /** Runs tasks that read the store and write by what they read, one after another. */
  alone<T>(task: () => T | Promise<T>): Promise<T> {
    const done = this.#alone.then(task)
    this.#alone = done.catch(() => undefined)
    return done
  }

  /** `evenIfKnown`: log also if only the time zone rules differ from what the changelog says. */
  logPosition(store: PartitionStore, index: TimeIndex, evenIfKnown = false): Promise<void> {
    this.#check()
    return logPosition(this.#commitContext(store, index), evenIfKnown)
  }

  /** Lets an idle store record that it is current. A member that is alive in the group reads all records. */
  async keepFresh(store: PartitionStore, index: TimeIndex): Promise<void> {
    if (!this.tombstoneGuard.isDue) return
    await this.orClosed(this.partitionReader.nextHeartbeat())
    await this.alone(() => saveCheckpoint(this.#commitContext(store, index)))
    this.tombstoneGuard.said()
  }

  /** When something besides timers must be checked. */
  get wakeAt(): number {
    return Math.min(this.admissionQueue.wakeAt, atSteady(this.shared.clock, this.leavingAt), this.reports.wakeAtMs)
  }

  /** Whether all visible records of an input before `end` are part of the store. */
  hasApplied(source: Source, end: number): boolean {
    if (this.applied[source] >= end) return true
    return this.partitionReader.reach(source) >= end && this.applied[source] >= this.partitionReader.next(source)
  }

  /**
   * How far an input is applied if everything before `next` is: all received records, and what the reader has passed after
   * them. A closing or failed partition receives nothing more, but its reader still passes records. Those are not applied.
   */
  #doneTo(source: ReadSource, next: number): number {
    const receives = this.partitionReader.isOpen(source) && !this.closing && !this.fault
    const isAll = receives && next >= this.partitionReader.next(source)
    return isAll ? Math.max(next, this.partitionReader.reach(source)) : next
  }

  /** Offset before which the store has all visible records of a log. */
  done(source: ReadSource): number {
    return this.#doneTo(source, this.applied[source])
  }

  /** For each input the applied offset, and the end of its log if it is known. */
  inputs(): { source: Source; done: number; end: number }[] {
    return (['jobs', 'commands', 'events'] as const).map((source) => {
      const done = this.done(source)
      return { source, done, end: Math.max(done, this.partitionReader.end(source)) }
    })
  }

  /** Whether the changelog has another position of this input. */
  isUnlogged(source: Source): boolean {
    const { applied, changelogState } = this
    if (source === 'jobs') return applied.jobs > changelogState.jobsOffset
    return this.done(source) !== changelogState[`${source}Offset`]
  }

  #commitContext(store: PartitionStore, index: TimeIndex): CommitContext {
    const {
      shared,
      partition,
      claimOffset,
      isExact,
      inputBuffer,
      leases,
      activeRuns,
      admissionQueue,
      writer,
      applied,
      changelogState,
      resources,
      reports,
    } = this
    const { nonTransactionalWriter, commits: slots } = resources
    const { failureIsolation, heavyJobs, workers, savedAtMs, zones } = this
    const watched = { inputBuffer, leases, workers, activeRuns, admissionQueue, failureIsolation, heavyJobs }
    const isOfReplacedChangelog = this.otherLog !== undefined
    const place = { shared, partition, claimOffset, savedAtMs, zones, isExact, isOfReplacedChangelog, store, index }
    const doneTo = this.#doneTo.bind(this)
    const hasReports = (): boolean => this.hasReports
    return { ...place, ...watched, writer, nonTransactionalWriter, slots, reports, applied, changelogState, doneTo, hasReports }
  }
}
