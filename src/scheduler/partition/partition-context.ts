/**
 * What a partition has in memory from its assignment to its end, and how its phases wait: for records, for a time, or for the end.
 * The phases are functions over it: restore.ts, takeover.ts, run-loop.ts; partition.ts leads from one to the next.
 */
import type { Timer } from '../../../streams/state/index.ts'
import { atSteady, trustedMs } from '../../clock/index.ts'
import { Signal } from '../../concurrency/index.ts'
import { DuelogError, type ErrorCode, messageOf } from '../../errors/index.ts'
import type { PartitionStore, PositionReset, TransactionalWriter } from '../../ports/index.ts'
import { Leases, UnderWay, WorkerWatch } from '../activity/index.ts'
import {
  batchRecordsMax,
  logPosition,
  Narrowing,
  saveLocal,
  type TurnContext,
  type TurnOptions,
  type TurnResult,
  turn,
} from '../commit/index.ts'
import { AppliedWaits, EventsWatermark, type Feed, type FeedSource, Flow, Mailbox, type Source } from '../input/index.ts'
import { Admissions } from '../limits/index.ts'
import type { Shared } from '../options/index.ts'
import { Catalogue } from '../queries/index.ts'
import { type ForeignChangelog, Freshness, lookMs, nothingLogged, StoreFailures, Weights } from '../state/index.ts'
import { type TimeIndex, ZoneStanding } from '../timers/index.ts'
import { Closed, Interruption, RoleChanged } from './interruption.ts'
import type { PartitionShares } from './process-context.ts'
import { CatchUp } from './restore-progress.ts'

export type Phase = 'restoring' | 'warming' | 'following' | 'claiming' | 'draining' | 'active' | 'closed'
/** What the group wants of this member: to fire, or to keep a copy. */
export type PartitionRole = 'owner' | 'standby'

/** Reading that brings nothing for so long may be at the end: what is left are control records and aborted ones, which no batch shows. */
export const quietMs = 2_000

/** A copy that lacks no more is warm: it is read in a fraction of a second. As many as a restore leaves for the claim. */
const warmRecordsMax = 1_000
/** Who has fired is warm for so long while it is opened again. A cut-off from one broker is told later (kafka/brokers/broker-isolation.ts). */
const firedMsMax = 10_000

export class Ownership {
  readonly partition: number
  readonly shared: Shared
  readonly feed: Feed
  readonly shares: PartitionShares
  readonly mailbox: Mailbox
  readonly leases = new Leases(0)
  readonly underWay = new UnderWay()
  readonly workers = new WorkerWatch()
  readonly catalogue = new Catalogue()
  readonly catchUp = new CatchUp(this)
  readonly freshness: Freshness
  readonly zones: ZoneStanding
  readonly signal: Signal
  readonly flow: Flow
  /** Outlives a reopening, which is how a turn that failed ends. */
  readonly narrowing = new Narrowing(batchRecordsMax)
  readonly weights = new Weights()
  /** Outlives a reopening, which is what it counts. */
  readonly storeFailures: StoreFailures
  /** Turns that did something since the partition was opened last. */
  turnsDone = 0
  admissions: Admissions
  reports: EventsWatermark
  phase: Phase = 'restoring'
  role: PartitionRole
  store: PartitionStore | undefined
  writer: TransactionalWriter | undefined
  applied: TurnContext['applied'] = { jobs: 0, commands: 0, events: 0, state: 0 }
  logged: TurnContext['logged'] = nothingLogged()
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
  turnSince = Number.POSITIVE_INFINITY
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
    const { behindRecords } = this.catchUp
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

  constructor(partition: number, role: PartitionRole, shared: Shared, feed: Feed, shares: PartitionShares) {
    this.partition = partition
    this.role = role
    this.shared = shared
    this.feed = feed
    this.shares = shares
    this.freshness = new Freshness(shared.clock, shared.tombstoneRetentionMs)
    this.zones = new ZoneStanding(partition, shared)
    this.storeFailures = new StoreFailures(shared.clock)
    this.signal = new Signal(shared.clock)
    this.mailbox = new Mailbox(shares.mailboxBytesMax)
    this.flow = new Flow(this.mailbox, feed, shared.clock)
    this.admissions = new Admissions(shared.codecs)
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
    this.catchUp.measureRestore()
    this.shares.phaseChanged()
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
    this.flow.make()
    this.fault = undefined
    if (!this.closing) this.#interrupted = new Interruption()
    this.isExact = false
    this.otherLog = undefined
    this.catchUp.forget()
    this.zones.forget()
    this.mailbox.clear()
    this.shares.heavy.leave(this)
    this.underWay.clear()
    this.weights.clear()
    this.turnsDone = 0
    this.catalogue.clear()
    this.admissions = new Admissions(this.shared.codecs)
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
    this.freshness.check()
  }

  /** What the store may say of itself when it is written now. */
  get savedAtMs(): number {
    return this.freshness.savedAtMs(this.phase === 'active' || (this.phase === 'following' && this.catchUp.behindRecords === 0))
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
  async turn(store: PartitionStore, index: TimeIndex, timers: Timer[] = [], options: TurnOptions = {}): Promise<TurnResult> {
    this.#check()
    this.turnSince = this.shared.clock.steadyMs()
    this.waits.turnBegins()
    const result = await this.alone(() => turn(this.#turnContext(store, index), timers, options)).finally(() => {
      this.turnSince = Number.POSITIVE_INFINITY
      this.waits.turnEnds()
    })
    if (result.folded > 0) this.progress()
    if (result.committed) this.turnsDone++
    if (this.mailbox.roomy) this.flow.make()
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
    return logPosition(this.#turnContext(store, index), evenIfKnown)
  }

  /** Lets an idle store say that it is up to date; a member that the group still hears of reads whatever comes. */
  async keepFresh(store: PartitionStore, index: TimeIndex): Promise<void> {
    if (!this.freshness.isDue) return
    await this.orClosed(this.feed.nextHeartbeat())
    await this.alone(() => saveLocal(this.#turnContext(store, index)))
    this.freshness.said()
  }

  /** When something of the partition besides its timers wants to be looked at. */
  get wakeAt(): number {
    return Math.min(this.admissions.wakeAt, atSteady(this.shared.clock, this.leavingAt), this.reports.wakeAtMs)
  }

  /** Whether all that stands in an input topic before `end`, and can be seen, is part of the store. */
  hasFolded(source: Source, end: number): boolean {
    if (this.applied[source] >= end) return true
    return this.feed.reach(source) >= end && this.applied[source] >= this.feed.next(source)
  }

  /**
   * How far an input is done where all before `next` is: all that was received, and what the reader has passed behind that. Who closes, or
   * has failed, receives nothing more, and the reader passes that all the same: it is not done.
   */
  #doneTo(source: FeedSource, next: number): number {
    const receives = this.feed.isOpen(source) && !this.closing && !this.fault
    const isAll = receives && next >= this.feed.next(source)
    return isAll ? Math.max(next, this.feed.reach(source)) : next
  }

  /** Up to where the store has all of a log that readers are shown. */
  done(source: FeedSource): number {
    return this.#doneTo(source, this.applied[source])
  }

  /** How far each input is done, and where it ends as far as that is known. */
  inputs(): { source: Source; done: number; end: number }[] {
    return (['jobs', 'commands', 'events'] as const).map((source) => {
      const done = this.done(source)
      return { source, done, end: Math.max(done, this.feed.end(source)) }
    })
  }

  /** Whether the changelog says something else of how far an input is done. */
  isUnlogged(source: Source): boolean {
    const { applied, logged } = this
    if (source === 'jobs') return applied.jobs > logged.jobsOffset
    return this.done(source) !== logged[`${source}Offset`]
  }

  #turnContext(store: PartitionStore, index: TimeIndex): TurnContext {
    const {
      shared,
      partition,
      claimOffset,
      isExact,
      mailbox,
      leases,
      underWay,
      admissions,
      writer,
      applied,
      logged,
      shares,
      reports,
    } = this
    const { asides, commits: slots } = shares
    const { narrowing, weights, workers, savedAtMs, zones } = this
    const watched = { mailbox, leases, workers, underWay, admissions, narrowing, weights }
    const isOfOtherLog = this.otherLog !== undefined
    const place = { shared, partition, claimOffset, savedAtMs, zones, isExact, isOfOtherLog, store, index }
    const doneTo = this.#doneTo.bind(this)
    const hasReports = (): boolean => this.hasReports
    return { ...place, ...watched, writer, asides, slots, reports, applied, logged, doneTo, hasReports }
  }
}
