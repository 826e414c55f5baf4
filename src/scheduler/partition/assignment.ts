/**
 * What a partition of this process keeps from its assignment to its end, across reopens: its role, its phase, the leases, and
 * the memory of failures. Everything else is made for each opening (partition-context.ts).
 */
import { trustedMs, waitFor } from '../../ground/clock/index.ts'
import { type Semaphore, WakeSignal } from '../../ground/concurrency/index.ts'
import { DuelogError, type ErrorCode, messageOf } from '../../ground/errors/index.ts'
import type { LogWriter, PositionReset } from '../../ground/ports/index.ts'
import { KeptActivity } from '../activity/index.ts'
import { batchRecordsMax, FailureIsolation, type Hook, type PartitionHook } from '../commit/index.ts'
import {
  type AppliedOffsets,
  AppliedWaits,
  type EndOffsetQueries,
  type PartitionReader,
  type ReadingPace,
  type Source,
} from '../input/index.ts'
import type { Shared } from '../options/index.ts'
import { idleCheckMs, StoreFailures } from '../state/index.ts'
import type { HeavyTimerSlots } from '../timers/index.ts'
import type { OpenTransactions } from './open-transactions.ts'

export type Phase = 'restoring' | 'warming' | 'following' | 'claiming' | 'draining' | 'active' | 'closed'
/** What the group assigned to this member: to own the partition, or to keep a standby copy. */
export type PartitionRole = 'owner' | 'standby'

/** Maximum time that a member keeps firing after it lost the partition, while no other member fences it (ADR 0003). */
const handoffMs = 30_000
/**
 * A store that lacks at most this many records is warm: they are read in a fraction of a second. It equals what a restore
 * leaves for the claim.
 */
const warmRecordsMax = 1_000
/**
 * A partition that fired stays warm for this time while it reopens. A cut-off from one broker is reported later
 * (kafka/client/broker-isolation.ts).
 */
const firedMsMax = 10_000

/** Errors that last until a person acts: the view of the partition shows them. */
const saysWhatToDo: ReadonlySet<ErrorCode> = new Set(['kafka-denied', 'bad-config', 'system-moved', 'changelog-cut'])

/** What the partitions of one scheduler share in addition to its options. */
export interface SchedulerResources {
  /** What works on partitions beside the core. */
  hooks: readonly Hook[]
  commits: Semaphore
  heavy: HeavyTimerSlots
  /** Bytes at which reading pauses for one partition. */
  inputBufferBytesMax: () => number
  /** Jobs with active runs that one partition may keep in memory now. */
  activeJobsMax: () => number
  restores: Semaphore
  standbyRestores: Semaphore
  nonTransactionalWriter: LogWriter
  /** The ends of the inputs. */
  ends: Readonly<Record<Source, EndOffsetQueries>>
  /** Open transactions that block a topic of a partition. */
  openTransactions: Pick<OpenTransactions, 'of'>
  readingPace: ReadingPace
  /** Called whenever a partition enters another phase. */
  phaseChanged: () => void
}

/** Thrown from a wait when the partition closes. */
export class Closed extends Error {}

/** Thrown from a wait when the role changes between owner and standby. The partition then restarts. */
export class RoleChanged extends Error {}

/** A promise that never resolves. It may reject without a listener. */
export class Interruption {
  readonly promise: Promise<never>
  readonly reject: (error: Error) => void

  constructor() {
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => undefined)
    this.promise = promise
    this.reject = reject
  }
}

export class Assignment {
  readonly partition: number
  readonly shared: Shared
  readonly partitionReader: PartitionReader
  readonly resources: SchedulerResources
  readonly signal: WakeSignal
  readonly activity = new KeptActivity()
  /** A failed commit cycle ends in a reopen, and the search for its cause continues after it. */
  readonly failureIsolation = new FailureIsolation(batchRecordsMax)
  /** It counts reopens. */
  readonly storeFailures: StoreFailures
  /** Callers wait across a reopen. */
  readonly waits = new AppliedWaits(
    () => this.applied,
    () => this.resources.readingPace.hurry(),
  )
  readonly hooks: readonly PartitionHook[]
  /** The next offsets that are part of the store, by the latest opening. */
  applied: Readonly<AppliedOffsets> = { jobs: 0, commands: 0, events: 0, state: 0 }
  role: PartitionRole
  /** Why the partition cannot continue until an operator grants or sets something. For people. */
  trouble: string | null = null
  /** For people. */
  lastReset: PositionReset | null = null
  #phase: Phase = 'restoring'
  #closing = false
  readonly #closed = new Interruption()
  /** Latest time, by the steady clock, until which a partition fires after the group gave it to another member. */
  #leavingAt = Number.POSITIVE_INFINITY
  /** When it last fired before it left the active phase, by the steady clock. */
  #firedAt = Number.NEGATIVE_INFINITY
  #alone: Promise<unknown> = Promise.resolve()

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
    this.storeFailures = new StoreFailures(shared.clock)
    this.signal = new WakeSignal(shared.clock)
    this.hooks = resources.hooks.map((hook) => hook({ partition, wake: () => this.signal.wake() }))
  }

  get phase(): Phase {
    return this.#phase
  }

  get closing(): boolean {
    return this.#closing
  }

  get leavingAt(): number {
    return this.#leavingAt
  }

  get isLeaving(): boolean {
    return this.#leavingAt !== Number.POSITIVE_INFINITY
  }

  /**
   * Whether it fires, or could after little more than a claim: the records it lacks are read in a moment. `behindRecords`: what
   * its store lacks; null while no store can be read.
   */
  isWarm(behindRecords: number | null): boolean {
    const { phase, role, shared } = this
    if (phase === 'active') return true
    // A process whose clock is not trusted takes nothing over, because it could not fire.
    if (trustedMs(shared.clock) === undefined) return false
    if (phase === 'claiming' || phase === 'draining') return true
    if (this.#closing || phase === 'closed') return false
    // A partition that restarts counts as warm until its store is open and its lag is known, or until the open takes too long.
    // A standby stays warm only while it follows.
    if (role === 'owner' && behindRecords === null)
      return shared.clock.steadyMs() - this.#firedAt < firedMsMax && !this.storeFailures.isBroken
    return (role === 'owner' || phase === 'following') && behindRecords !== null && behindRecords <= warmRecordsMax
  }

  enter(phase: Phase): void {
    const before = this.#phase
    this.#phase = phase
    if (phase === 'active') {
      this.trouble = null
      this.activity.jobWaits.anyChanged()
    } else if (before === 'active') {
      this.#firedAt = this.shared.clock.steadyMs()
      this.#forgetMeasures()
    }
    this.storeFailures.entered(phase === 'active' || phase === 'following')
    this.resources.phaseChanged()
  }

  /** Another process may own the partition and show these now. What this one showed last would stand beside it, and raise alerts. */
  #forgetMeasures(): void {
    const { timersOverdue, mailboxDepth, runsWithoutHandler, runsInPausedPools } = this.shared.metrics
    for (const gauge of [timersOverdue, mailboxDepth, runsWithoutHandler, runsInPausedPools])
      gauge.set({ partition: this.partition }, 0)
  }

  /** The partition is handed over: it fires for at most handoffMs more. */
  handOver(): void {
    this.#leavingAt = this.shared.clock.steadyMs() + handoffMs
    this.left()
    this.signal.wake()
  }

  /** Tells the hooks that the partition goes to another process. */
  left(): void {
    for (const hook of this.hooks) hook.left?.()
  }

  /** The partition is not handed over, or that has ended. */
  endHandover(): void {
    this.#leavingAt = Number.POSITIVE_INFINITY
  }

  /** Starts the close: every wait throws Closed from now on. */
  beginClose(): void {
    this.#closing = true
    this.#closed.reject(new Closed())
    this.left()
    this.signal.wake()
  }

  /** The error code under which metrics count the reopen. */
  failedWith(error: unknown): ErrorCode {
    const code = error instanceof DuelogError ? error.code : 'internal'
    this.trouble = saysWhatToDo.has(code) ? messageOf(error) : null
    return code
  }

  /** Resolves when the wall clock is trusted. The scheduler wakes the partition then. Throws Closed. */
  async untilTrusted(): Promise<void> {
    const { clock } = this.shared
    while (trustedMs(clock) === undefined) {
      if (this.#closing) throw new Closed()
      await this.signal.wait(clock.nowMs() + idleCheckMs)
    }
    if (this.#closing) throw new Closed()
  }

  /** Waits for this time, whatever arrives, unless the partition closes first. */
  rest(forMs: number): Promise<void> {
    return this.orClosed(waitFor(forMs, this.shared.clock))
  }

  /** Resolves with the promise's value, unless the partition closes first. */
  orClosed<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#closed.promise])
  }

  /** Runs tasks that read the store and write by what they read, one after another. */
  alone<T>(task: () => T | Promise<T>): Promise<T> {
    const done = this.#alone.then(task)
    this.#alone = done.catch(() => undefined)
    return done
  }
}
