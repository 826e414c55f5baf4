/**
 * What a partition has in memory from its assignment to its end, and how its phases wait: for records, for a time, or for the end.
 * The phases are functions over it: restoring.ts, claiming.ts, firing.ts; partition.ts leads from one to the next.
 */
import type { StateEntry } from '../../schemas/generated.ts'
import type { Timer } from '../../streams/keys.ts'
import type { TransactionalWriter } from '../ports.ts'
import { Admissions } from './admissions.ts'
import { Catalogue } from './catalogue.ts'
import type { Feed } from './feed.ts'
import { Leases } from './leases.ts'
import { Mailbox, type Source } from './mailbox.ts'
import type { Shared } from './options.ts'
import type { PartitionStore } from './ports.ts'
import type { PartitionShares } from './shares.ts'
import { Signal } from './signal.ts'
import type { TimeIndex } from './time-index.ts'
import { logPosition, type TurnContext, type TurnResult, turn } from './turn.ts'
import { UnderWay } from './under-way.ts'
import { WorkerWatch } from './worker-watch.ts'

export type Phase = 'restoring' | 'warming' | 'claiming' | 'draining' | 'active' | 'closed'

/** Thrown out of a wait when the partition closes; no fault. */
export class Closed extends Error {}

/** Reading that brings nothing for so long may be at the end: what is left are control records and aborted ones, which no batch shows. */
export const quietMs = 2_000
/** How long a full mailbox holds the next fetch back before reading is paused. */
const roomWaitMs = 250

export class Ownership {
  readonly partition: number
  readonly shared: Shared
  readonly feed: Feed
  readonly shares: PartitionShares
  readonly mailbox = new Mailbox()
  readonly leases = new Leases(0)
  readonly underWay = new UnderWay()
  readonly workers = new WorkerWatch()
  readonly catalogue = new Catalogue()
  readonly signal: Signal
  admissions: Admissions
  phase: Phase = 'restoring'
  store: PartitionStore | undefined
  writer: TransactionalWriter | undefined
  applied: TurnContext['applied'] = { jobs: 0, commands: 0, events: 0, state: 0 }
  logged: TurnContext['logged'] = { jobsOffset: 0, aheadUntil: 0 }
  /** Our claim, or before it the one under which the store folded jobs last; -1: never. */
  claimOffset = -1
  /** Where the log that is being restored ended when that began. */
  restoreEnd = 0
  /** And where its reading began. */
  restoreBegin = 0
  /** When the oldest timer that was not handed out when the present turn began is due. */
  dueAt = Number.POSITIVE_INFINITY
  closing = false
  /** When the turn at hand began, by the owner's clock; Infinity between turns. */
  turnSince = Number.POSITIVE_INFINITY
  /** When a partition that was given to another member stops firing at the latest. */
  leavingAt = Number.POSITIVE_INFINITY
  readonly #closed = Promise.withResolvers<never>()
  readonly #waiting: { source: Source; offset: number; resolve: (applied: boolean) => void }[] = []
  readonly #roomWaiting: (() => void)[] = []
  #progressAt = 0
  /** What went wrong while records were taken in. */
  #fault: { error: unknown } | undefined

  constructor(partition: number, shared: Shared, feed: Feed, shares: PartitionShares) {
    this.partition = partition
    this.shared = shared
    this.feed = feed
    this.shares = shares
    this.signal = new Signal(shared.clock)
    this.admissions = new Admissions(shared.codecs)
    this.#closed.promise.catch(() => undefined)
  }

  enter(phase: Phase): void {
    this.phase = phase
    this.#progressAt = this.shared.clock.nowMs()
    this.measureRestore()
    this.shares.phaseChanged()
  }

  /** Begins the end: every wait throws Closed from now on. */
  beginClose(): void {
    this.closing = true
    this.#closed.reject(new Closed())
    this.signal.wake()
  }

  /** Ends the phase at hand with this error: its next wait or turn throws it. */
  fail(error: unknown): void {
    this.#fault ??= { error }
    this.signal.wake()
  }

  #makeRoom(): void {
    for (const resolve of this.#roomWaiting.splice(0)) resolve()
    this.flow()
  }

  /** Forgets all that is not in the store. */
  forget(): void {
    this.#makeRoom()
    this.#fault = undefined
    this.mailbox.clear()
    this.underWay.clear()
    this.catalogue.clear()
    this.admissions = new Admissions(this.shared.codecs)
    this.store = undefined
    this.writer = undefined
  }

  get restoreRemaining(): number {
    if (this.phase === 'active' || this.phase === 'closed') return 0
    return Math.max(0, this.restoreEnd - (this.phase === 'restoring' ? this.applied.state : this.applied.jobs))
  }

  get restoreTotal(): number {
    return this.restoreRemaining === 0 ? 0 : Math.max(this.restoreRemaining, this.restoreEnd - this.restoreBegin)
  }

  measureRestore(): void {
    this.shared.metrics.restoreRemaining.set({ partition: this.partition }, this.restoreRemaining)
  }

  /** Must be told whenever records came or were folded. */
  progress(): void {
    this.#progressAt = this.shared.clock.nowMs()
  }

  /** Sleeps until something came. False: nothing has for so long that there may be nothing more. */
  async more(): Promise<boolean> {
    if (this.shared.clock.nowMs() - this.#progressAt >= quietMs) return false
    await this.nap(this.#progressAt + quietMs)
    return true
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.nap(Number.POSITIVE_INFINITY)
  }

  async nap(untilMs: number): Promise<void> {
    this.#check()
    await this.signal.wait(untilMs)
    this.#check()
  }

  #check(): void {
    if (this.closing) throw new Closed()
    if (this.#fault !== undefined) throw this.#fault.error
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
  async turn(
    store: PartitionStore,
    index: TimeIndex,
    timers: Timer[] = [],
    written?: (timer: Timer) => void,
  ): Promise<TurnResult> {
    this.#check()
    this.turnSince = this.shared.clock.nowMs()
    const result = await turn(this.#turnContext(store, index), timers, written).finally(() => {
      this.turnSince = Number.POSITIVE_INFINITY
    })
    if (result.folded > 0) this.progress()
    if (this.mailbox.roomy) this.#makeRoom()
    this.#settleWaiting()
    return result
  }

  logPosition(store: PartitionStore, index: TimeIndex): Promise<void> {
    this.#check()
    return logPosition(this.#turnContext(store, index))
  }

  #turnContext(store: PartitionStore, index: TimeIndex): TurnContext {
    const { shared, partition, claimOffset, mailbox, leases, underWay, admissions, writer, applied, logged, shares } = this
    const { asides, commits: slots } = shares
    const watched = { mailbox, leases, underWay, admissions }
    return { shared, partition, claimOffset, store, index, ...watched, writer, asides, slots, applied, logged }
  }

  /**
   * Resolves when more may be read. A full mailbox holds the next fetch back for a moment, because a pause costs more: the reader notices
   * its end only after the longest wait of a fetch. A partition that does not empty in that moment is paused, so that the others go on.
   */
  async room(): Promise<void> {
    if (!this.mailbox.full) return
    await new Promise<void>((resolve) => {
      const { clock } = this.shared
      const cancel = clock.at(clock.nowMs() + roomWaitMs, resolve)
      this.#roomWaiting.push(() => {
        cancel()
        resolve()
      })
    })
    this.flow()
  }

  /** Pauses or resumes reading by what the mailbox holds. */
  flow(): void {
    const change = this.mailbox.flow()
    if (change === undefined) return
    for (const source of ['jobs', 'commands', 'events'] as const) {
      if (change === 'pause') this.feed.hold(source)
      else this.feed.release(source)
    }
  }

  /** Resolves true once the record at `offset` is part of the store, false when the partition ends first. */
  whenApplied(source: Source, offset: number): Promise<boolean> {
    if (this.applied[source] > offset) return Promise.resolve(true)
    return new Promise((resolve) => this.#waiting.push({ source, offset, resolve }))
  }

  refuseWaiting(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(false)
  }

  #settleWaiting(): void {
    if (this.#waiting.length === 0) return
    for (const waiter of this.#waiting.splice(0)) {
      if (this.applied[waiter.source] > waiter.offset) waiter.resolve(true)
      else this.#waiting.push(waiter)
    }
  }

  /** An entry of the changelog's bookkeeping as the store has it. */
  async entry(store: PartitionStore, key: Buffer): Promise<StateEntry | undefined> {
    const [value] = await store.get([key])
    return value ? this.shared.codecs.state.decode(value) : undefined
  }
}
