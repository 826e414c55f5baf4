/**
 * What a partition has in memory from its assignment to its end, and how its phases wait: for records, for a time, or for the end.
 * The phases are functions over it: restore.ts, takeover.ts, run-loop.ts; partition.ts leads from one to the next.
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
/** What the group wants of this member: to fire, or to keep a copy. */
export type PartitionRole = 'owner' | 'standby'

/** Reading that brings nothing for so long may be at the end: what is left are control records and aborted ones, which no batch shows. */
export const quietMs = 2_000

/** A copy that lacks no more is warm: it is read in a fraction of a second. As many as a restore leaves for the claim. */
const warmRecordsMax = 1_000
/** Who has fired is warm for so long while it is opened again. A cut-off from one broker is told later (kafka/brokers/broker-isolation.ts). */
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
  /** Outlives a reopening, which is how a turn that failed ends. */
  readonly failureIsolation = new FailureIsolation(batchRecordsMax)
  readonly heavyJobs = new HeavyJobs()
  /** Outlives a reopening, which is what it counts. */
  readonly storeFailures: StoreFailures
  /** Turns that did something since the partition was opened last. */
  turnsDone = 0
  admissionQueue: AdmissionQueue
  reports: EventsWatermark
  phase: Phase = 'restoring'
  role: PartitionRole
  store: PartitionStore | undefined
  writer: TransactionalWriter | undefined
  applied: CommitContext['applied'] = { jobs: 0, commands: 0, events: 0, state: 0 }
  changelogState: CommitContext['changelogState'] = emptyChangelogState()
  /** No position was found, and there are records where workers report. */
  mayBeLost = false
  /** Reports of runs were read since the claim. */
  hasReports = false
  /** Our claim, or before it the one under which the store folded jobs last; -1: never. */
  claimOffset = -1
  /** While job-state is not the log that the store was made from. */
  otherLog: ForeignChangelog | undefined
  /** Up to where the store has read job-state, and the last claim it has read; whether the log has proved to be the one it was made from. */
  read = { stateOffset: 0, claimedAt: 0, isProven: false }
  /** Whether the store has just those timers and index keys that follow from its jobs, and is to be kept so. */
  isExact = false
  /** When the oldest timer that was not handed out when the present turn began is due. */
  dueAt = Number.POSITIVE_INFINITY
  closing = false
  /** When the turn at hand began, by the steady clock; Infinity between turns. */
  cycleSince = Number.POSITIVE_INFINITY
  /** Why it cannot go on until somebody grants or sets something; outlives a reopening, for people. */
  trouble: string | null = null
  /** Outlives a reopening, for people. */
  lastReset: PositionReset | null = null
  /** When a partition that was given to another member stops firing at the latest, by the steady clock. */
  leavingAt = Number.POSITIVE_INFINITY
  get isLeaving(): boolean {
    return this.leavingAt !== Number.POSITIVE_INFINITY
  }
  /** It fires, or could after little more than a claim: what it lacks then is read in a moment. */
  get isWarm(): boolean {
    const { phase, role, closing } = this
    if (phase === 'active') return true
    // Who does not trust its clock takes nothing over: to be given what another fires would end that.
    if (trustedMs(this.shared.clock) === undefined) return false
    if (phase === 'claiming' || phase === 'draining') return true
    if (closing || phase === 'closed') return false
    // What begins anew has what it had, until its store is open and says what it lacks, or does not open for long. A standby keeps it only
    // while it follows.
    const { behindRecords } = this.restoreProgress
    if (role === 'owner' && behindRecords === null)
      return this.shared.clock.steadyMs() - this.#firedAt < firedMsMax && !this.storeFailures.isBroken
    return (role === 'owner' || phase === 'following') && behindRecords !== null && behindRecords <= warmRecordsMax
  }
  /** When it fired last, as far as it has left that, by the steady clock. */
  #firedAt = Number.NEGATIVE_INFINITY
  readonly waits = new AppliedWaits(() => this.applied)
  readonly #closed = new Interruption()
  #interrupted = new Interruption()
  #alone: Promise<unknown> = Promise.resolve()
  /** By the steady clock. */
  #progressAt = 0
  /** What went wrong while records were taken in. */
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

  /** Begins the end: every wait throws Closed from now on. */
  beginClose(): void {
    this.closing = true
    this.#closed.reject(new Closed())
    this.#interrupted.reject(new Closed())
    this.signal.wake()
  }

  /** Ends the life at hand, so that another begins: in another role. */
  interrupt(): void {
    this.fail(new RoleChanged())
    this.#interrupted.reject(new RoleChanged())
  }

  /** Rejects when the life at hand has to end. */
  get interrupted(): Promise<never> {
    return this.#interrupted.promise
  }

  /** The code by which the metrics count what the partition is reopened for. */
  failedWith(error: unknown): ErrorCode {
    const code = error instanceof DuelogError ? error.code : 'internal'
    this.trouble = code === 'kafka-denied' || code === 'bad-config' ? messageOf(error) : null
    return code
  }

  /** Ends the phase at hand with this error: its next wait or turn throws it. */
  fail(error: unknown): void {
    this.fault ??= { error }
    this.signal.wake()
  }

  /** Forgets all that is not in the store. */
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

  /** Must be told whenever records came or were folded. */
  progress(): void {
    this.#progressAt = this.shared.clock.steadyMs()
  }

  /** Sleeps until something came. False: nothing has for so long that there may be nothing more. */
  async more(): Promise<boolean> {
    const { clock } = this.shared
    if (clock.steadyMs() - this.#progressAt >= quietMs) return false
    await this.nap(atSteady(clock, this.#progressAt + quietMs))
    return true
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.nap(Number.POSITIVE_INFINITY)
  }

  /** Resolves when the wall clock may be decided by; the scheduler wakes us then. */
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

  /** What the store may say of itself when it is written now. */
  get savedAtMs(): number {
    return this.tombstoneGuard.savedAtMs(
      this.phase === 'active' || (this.phase === 'following' && this.restoreProgress.behindRecords === 0),
    )
  }

  /** Waits so long whatever comes, unless the partition closes first. */
  rest(forMs: number): Promise<void> {
    const { clock } = this.shared
    return this.orClosed(new Promise((resolve) => clock.at(clock.nowMs() + forMs, resolve)))
  }

  /** The promise's value, unless the partition closes first. */
  orClosed<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#closed.promise])
  }

  /** One turn. Without a writer only what is decided already is folded. */
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

  /** Runs what reads the store and writes to it by what it read, one after another. */
  alone<T>(task: () => T | Promise<T>): Promise<T> {
    const done = this.#alone.then(task)
    this.#alone = done.catch(() => undefined)
    return done
  }

  /** `evenIfKnown`: also where the changelog says all of it but by which time zone rules next times stand. */
  logPosition(store: PartitionStore, index: TimeIndex, evenIfKnown = false): Promise<void> {
    this.#check()
    return logPosition(this.#commitContext(store, index), evenIfKnown)
  }

  /** Lets an idle store say that it is up to date; a member that the group still hears of reads whatever comes. */
  async keepFresh(store: PartitionStore, index: TimeIndex): Promise<void> {
    if (!this.tombstoneGuard.isDue) return
    await this.orClosed(this.partitionReader.nextHeartbeat())
    await this.alone(() => saveCheckpoint(this.#commitContext(store, index)))
    this.tombstoneGuard.said()
  }

  /** When something of the partition besides its timers wants to be looked at. */
  get wakeAt(): number {
    return Math.min(this.admissionQueue.wakeAt, atSteady(this.shared.clock, this.leavingAt), this.reports.wakeAtMs)
  }

  /** Whether all that stands in an input topic before `end`, and can be seen, is part of the store. */
  hasApplied(source: Source, end: number): boolean {
    if (this.applied[source] >= end) return true
    return this.partitionReader.reach(source) >= end && this.applied[source] >= this.partitionReader.next(source)
  }

  /**
   * How far an input is done where all before `next` is: all that was received, and what the reader has passed behind that. Who closes, or
   * has failed, receives nothing more, and the reader passes that all the same: it is not done.
   */
  #doneTo(source: ReadSource, next: number): number {
    const receives = this.partitionReader.isOpen(source) && !this.closing && !this.fault
    const isAll = receives && next >= this.partitionReader.next(source)
    return isAll ? Math.max(next, this.partitionReader.reach(source)) : next
  }

  /** Up to where the store has all of a log that readers are shown. */
  done(source: ReadSource): number {
    return this.#doneTo(source, this.applied[source])
  }

  /** How far each input is done, and where it ends as far as that is known. */
  inputs(): { source: Source; done: number; end: number }[] {
    return (['jobs', 'commands', 'events'] as const).map((source) => {
      const done = this.done(source)
      return { source, done, end: Math.max(done, this.partitionReader.end(source)) }
    })
  }

  /** Whether the changelog says something else of how far an input is done. */
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
