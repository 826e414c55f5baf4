/**
 * One partition of this process, from its assignment to its end.
 *
 *   restoring ──► warming ──► claiming ──► draining ──► active ──► closed
 *       ▲            └─► following ─┘                      │
 *       │            (each of them, on any error: reopen)  │
 *       └──────────────────────────────────────────────────┘
 *
 *   restoring  opens the store and reads job-state from its checkpoint; the previous owner still fires
 *   warming    reads definitions that need no commit
 *   following  a standby keeps up until the group makes it the owner
 *   claiming   takes the transactional id, which fences the previous owner; commits a claim record and reads it back
 *   draining   applies jobs and job-commands up to their present end
 *   active     fires timers
 *
 * Any unexpected error has one remedy (invariant I6): drop everything in memory and restart at restoring. That fences our own
 * transaction of unknown outcome. Only a member with a successful heartbeat since then may do it.
 */
import { counted } from '../../../streams/text/index.ts'
import { type Semaphore, Stopwatch } from '../../concurrency/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { Batch, PartitionStore, PartitionView } from '../../ports/index.ts'
import { type PartitionReader, type ReadSource, readSources, type Source, type Wait } from '../input/index.ts'
import type { Shared } from '../options/index.ts'
import { TimeIndex } from '../timers/index.ts'
import { Closed, RoleChanged } from './interruption.ts'
import { PartitionContext, type PartitionRole, type Phase } from './partition-context.ts'
import type { SchedulerResources } from './process-context.ts'
import { Receiver } from './receiver.ts'
import { ReopenLines, reopenWaitMs } from './reopen.ts'
import { open, restore } from './restore.ts'
import { runLoop } from './run-loop.ts'
import { follow } from './standby.ts'
import { claim, drain } from './takeover.ts'

/** Maximum time that a member keeps firing after it lost the partition, while no other member fences it (ADR 0003). */
export const handoffMs = 30_000

export class Partition {
  readonly #context: PartitionContext
  readonly #receiver: Receiver
  readonly #ended: Promise<void>
  /** Reopens since the partition last committed applied records. Being active is not enough: the first commit cycle may fail. */
  #failures = 0
  readonly #lines: ReopenLines

  /** `after`: the end of an earlier life in this process, whose store must be closed first. */
  constructor(
    number: number,
    role: PartitionRole,
    shared: Shared,
    partitionReader: PartitionReader,
    resources: SchedulerResources,
    after?: Promise<void>,
  ) {
    this.#context = new PartitionContext(number, role, shared, partitionReader, resources)
    this.#receiver = new Receiver(this.#context)
    this.#lines = new ReopenLines(number, shared)
    this.#ended = Promise.resolve(after).then(() => this.#run())
  }

  get number(): number {
    return this.#context.partition
  }
  get phase(): Phase {
    return this.#context.phase
  }
  get closing(): boolean {
    return this.#context.closing
  }
  get partitionReader(): PartitionReader {
    return this.#context.partitionReader
  }
  /** Whether it fires only until the new owner has fenced it. */
  get isLeaving(): boolean {
    return this.#context.phase === 'active' && this.#context.isLeaving
  }
  /** The store, while the partition is active and no other member can own it. */
  get store(): PartitionStore | undefined {
    return this.#context.phase === 'active' && this.#isCurrent ? this.#context.store : undefined
  }
  /** False if another member may have fenced it. An owner learns that only with its next commit. */
  get #isCurrent(): boolean {
    return !this.#context.isLeaving && this.#context.partitionReader.isMember
  }
  /** A store that can be read, but may be out of date. */
  get copy(): PartitionStore | undefined {
    return this.#context.restoreProgress.behindRecords === null ? undefined : this.#context.store
  }
  get role(): PartitionRole {
    return this.#context.role
  }
  /** Whether it fires, or could after little more than a claim. */
  get isWarm(): boolean {
    return this.#context.isWarm
  }
  /** Whether it fires or follows. */
  get works(): boolean {
    return this.phase === 'active' || this.phase === 'following'
  }
  /** Whether it should fire but its store fails permanently. */
  get isBroken(): boolean {
    return this.role === 'owner' && this.#context.storeFailures.isBroken
  }
  /** Offset up to which the store has read its changelog. */
  get stateOffset(): number {
    return this.#context.applied.state
  }
  /** Soft state since the partition was opened. */
  get heard(): Pick<PartitionContext, 'leases' | 'workers' | 'activeRuns' | 'searchIndex' | 'inputs'> {
    return this.#context
  }
  /** Start of the current commit cycle, by the steady clock; Infinity between cycles. */
  get cycleSince(): number {
    return this.#context.cycleSince
  }
  /** The state of the partition, for people. */
  view(): PartitionView {
    const { partition, phase, applied, inputBuffer, restoreProgress, dueAt, activeRuns, zones, shared } = this.#context
    const { restoreRemaining, restoreTotal, behindRecords } = restoreProgress
    return {
      partition,
      phase: phase === 'warming' ? 'restoring' : phase === 'draining' ? 'claiming' : phase,
      ...{ restoreRemaining, restoreTotal, mailboxDepth: inputBuffer.depth },
      ...{ jobsOffset: applied.jobs, commandsOffset: applied.commands, eventsOffset: applied.events },
      overdueMs: phase === 'active' ? Math.max(0, shared.clock.nowMs() - dueAt) : 0,
      ...{ underWay: activeRuns.counts, role: this.#context.role, behindRecords },
      ...(phase === 'active' && { isCurrent: this.#isCurrent }),
      problem: phase === 'closed' ? null : (shared.clock.guard?.problem ?? this.#context.trouble),
      ...{ lastReset: this.#context.lastReset, openTransaction: this.#context.resources.openTransactions.of(partition) },
      ...{ zoneRules: zones.own, zoneWalk: zones.walk === undefined ? null : { ...zones.walk.view } },
    }
  }

  /** The clock is trusted again. */
  wake(): void {
    this.#context.signal.wake()
  }

  /** Takes records from the reader. Resolves when the next ones may come. */
  receive(source: ReadSource, batch: Batch): Promise<void> {
    return this.#receiver.receive(source, batch)
  }

  /** All records before `next` were received, or are shown to no reader. */
  passed(source: ReadSource, next: number): void {
    this.#context.partitionReader.passed(source, next)
    this.#context.signal.wake()
  }

  /** See AppliedWaits. */
  applied(source: Source, offset: number): Wait {
    return this.#context.waits.until(source, offset)
  }

  /** As AppliedWaits says. */
  cycleEnd(): Wait {
    return this.#context.waits.untilCycleEnds()
  }

  /** The group gave the partition to another member. An active partition keeps firing until that member has fenced it. */
  leave(): void {
    const context = this.#context
    // A firing partition closes in the end, also if its next role is standby.
    if (context.phase === 'active') context.role = 'owner'
    else void this.close()
    this.#leaveLater()
  }

  /** Sets the role that the group assigns from now on. */
  assign(role: PartitionRole): void {
    const context = this.#context
    if (role === 'owner') context.leavingAt = Number.POSITIVE_INFINITY
    else if (context.phase === 'active') this.#leaveLater()
    context.partitionReader.isSilent = role === 'standby' && context.phase === 'active'
    if (context.role === role) return
    context.role = role
    // A firing partition continues whatever its next role is. A current standby takes over with its store. Any other partition
    // restarts.
    if (context.phase === 'active' || context.phase === 'following') context.signal.wake()
    else context.interrupt()
  }

  #leaveLater(): void {
    const { clock } = this.#context.shared
    this.#context.leavingAt = clock.steadyMs() + handoffMs
    this.#context.signal.wake()
  }

  /** Finishes the current commit cycle and closes. */
  close(): Promise<void> {
    this.#context.beginClose()
    return this.#ended
  }

  async #run(): Promise<void> {
    while (!this.#context.closing) {
      try {
        await this.#live()
      } catch (error) {
        if (!(error instanceof Closed)) await this.#beforeReopen(error)
      }
      await this.#letGo()
    }
    this.#context.enter('closed')
    this.#context.waits.refuse()
  }

  async #live(): Promise<never> {
    const context = this.#context
    const { restores, standbyRestores } = context.resources
    if (context.role === 'standby') context.leavingAt = Number.POSITIVE_INFINITY
    const { store, ends, large } = await open(context)
    const index = new TimeIndex(store)
    const inSlots = (slots: Semaphore, task: () => Promise<void>): Promise<void> =>
      large ? context.orClosed(slots.run(task, context.interrupted)) : task()
    const took = new Stopwatch(context.shared.clock)
    const takeOver = async (): Promise<void> => {
      took.begin()
      const inputEnds = await claim(context, store, took)
      await drain(context, store, index, inputEnds)
      took.lap('drainMs')
    }
    const restoreProgress = (): Promise<void> => restore(context, store, index, ends)
    if (context.role === 'standby') {
      await inSlots(standbyRestores, restoreProgress)
      await follow(context, store, index)
      await takeOver()
    } else await inSlots(restores, () => restoreProgress().then(takeOver))
    context.leases.grant(context.shared.clock.nowMs())
    context.workers.clear()
    context.enter('active')
    const { partition, claimOffset } = context
    const { read } = context.restoreProgress
    context.shared.logger.info(
      { partition, claimOffset, read, ...took.ms },
      `Partition ${partition} is active; ${counted(read, 'record was', 'records were')} read on the way.`,
    )
    return runLoop(context, store, index)
  }

  async #beforeReopen(error: unknown): Promise<void> {
    const context = this.#context
    const { metrics, logger } = context.shared
    context.storeFailures.ended(error, context.turnsDone > 0)
    if (error instanceof RoleChanged && !context.closing) return
    const fenced = error instanceof DuelogError && error.code === 'fenced'
    if (fenced) metrics.fenced.inc()
    if (context.closing || context.isLeaving) {
      if (!fenced)
        logger.warn(
          { err: error, partition: context.partition },
          `Partition ${context.partition} ended with an error while it was handed over. Its next owner continues from the log; no action is needed.`,
        )
      // A standby follows from here on with the store that it has.
      if (context.role === 'owner') context.beginClose()
      return
    }
    const reason = context.failedWith(error)
    metrics.reopens.inc({ reason })
    if (context.turnsDone > 0) this.#failures = 0
    this.#lines.say(error, reason, this.#failures)
    // The phase changes at once, because the store answers no more queries. If the group takes the partition away in between,
    // leave() closes it.
    context.enter('restoring')
    // Only a live member may fence.
    const isFound = this.#failures > 0 && context.failureIsolation.takeProgress()
    const waitMs = isFound ? 0 : reopenWaitMs(error, this.#failures)
    this.#failures++
    await context.orClosed(context.partitionReader.nextHeartbeat()).catch(() => undefined)
    await context.rest(waitMs).catch(() => undefined)
  }

  async #letGo(): Promise<void> {
    const context = this.#context
    const { writer, store } = context
    if (!context.closing) context.enter('restoring')
    for (const source of readSources) context.partitionReader.close(source)
    context.partitionReader.isSilent = false
    context.forget()
    await writer?.close().catch(() => undefined)
    await store
      ?.close()
      .catch((error) =>
        context.shared.logger.warn({ err: error, partition: context.partition }, 'A local store did not close cleanly.'),
      )
  }
}
