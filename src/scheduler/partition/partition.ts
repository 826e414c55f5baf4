/**
 * One partition of this process, from its assignment to its end.
 *
 *   restoring ──► warming ──► claiming ──► draining ──► active ──► closed
 *       ▲            └─► following ─┘                      │
 *       │            (each of them, on any error: reopen)  │
 *       └──────────────────────────────────────────────────┘
 *
 *   restoring  the store is opened and job-state read from where it stands; the previous owner still fires
 *   warming    definitions are read as far as they need no commit
 *   following  a standby keeps up, until the group makes it the owner
 *   claiming   the transactional id is taken, which fences the previous owner; a claim record is committed and read back
 *   draining   jobs and job-commands are folded up to their present end
 *   active     timers fire
 *
 * Any unexpected error has one remedy (invariant I6): forget everything in memory and begin at restoring, which fences our own
 * unknown transaction. Only a member whose heartbeat succeeded since may do so.
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
import { reopenWaitMs } from './reopen-backoff.ts'
import { ReopenLines } from './reopen-lines.ts'
import { open, restore } from './restore.ts'
import { runLoop } from './run-loop.ts'
import { follow } from './standby.ts'
import { claim, drain } from './takeover.ts'

/** A member that lost the partition goes on firing at most so long while nobody fences it (ADR 0003). */
export const handoffMs = 30_000

export class Partition {
  readonly #context: PartitionContext
  readonly #receiver: Receiver
  readonly #ended: Promise<void>
  /** Reopens since the partition last committed what it had folded. To be active is not enough: it may fail with its first turn. */
  #failures = 0
  readonly #lines: ReopenLines

  /** `after`: the end of an earlier ownership in this process, whose store has to be closed first. */
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
  /** It fires until the member that the group gave it to has fenced it. */
  get isLeaving(): boolean {
    return this.#context.phase === 'active' && this.#context.isLeaving
  }
  /** Present while the partition is active and nobody else can own it. */
  get store(): PartitionStore | undefined {
    return this.#context.phase === 'active' && this.#isCurrent ? this.#context.store : undefined
  }
  /** False: another member may have fenced it, which an owner learns with its next commit only. */
  get #isCurrent(): boolean {
    return !this.#context.isLeaving && this.#context.partitionReader.isMember
  }
  /** A store that can be read, though what it says may be out of date. */
  get copy(): PartitionStore | undefined {
    return this.#context.restoreProgress.behindRecords === null ? undefined : this.#context.store
  }
  get role(): PartitionRole {
    return this.#context.role
  }
  /** It fires, or could after little more than a claim. */
  get isWarm(): boolean {
    return this.#context.isWarm
  }
  /** It fires or follows. */
  get works(): boolean {
    return this.phase === 'active' || this.phase === 'following'
  }
  /** It is to fire, and its store fails for good. */
  get isBroken(): boolean {
    return this.role === 'owner' && this.#context.storeFailures.isBroken
  }
  /** How far the store has read its changelog. */
  get stateOffset(): number {
    return this.#context.applied.state
  }
  /** What it has heard and counted since it was opened. */
  get heard(): Pick<PartitionContext, 'leases' | 'workers' | 'activeRuns' | 'searchIndex' | 'inputs'> {
    return this.#context
  }
  /** When the turn at hand began, by the steady clock; Infinity between turns. */
  get cycleSince(): number {
    return this.#context.cycleSince
  }
  /** Where it stands, for people. */
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

  /** Takes records that were read. Resolves when the next ones may come. */
  receive(source: ReadSource, batch: Batch): Promise<void> {
    return this.#receiver.receive(source, batch)
  }

  /** All before `next` was received, or is shown to nobody. */
  passed(source: ReadSource, next: number): void {
    this.#context.partitionReader.passed(source, next)
    this.#context.signal.wake()
  }

  /** As AppliedWaits says. */
  applied(source: Source, offset: number): Wait {
    return this.#context.waits.until(source, offset)
  }

  /** As AppliedWaits says. */
  cycleEnd(): Wait {
    return this.#context.waits.untilCycleEnds()
  }

  /** The group gave the partition to another member: an active one goes on firing until that member has fenced it. */
  leave(): void {
    const context = this.#context
    // What fires closes in the end, also where it was to follow then.
    if (context.phase === 'active') context.role = 'owner'
    else void this.close()
    this.#leaveLater()
  }

  /** The group wants this of the member from now on, whatever it did before. */
  assign(role: PartitionRole): void {
    const context = this.#context
    if (role === 'owner') context.leavingAt = Number.POSITIVE_INFINITY
    else if (context.phase === 'active') this.#leaveLater()
    context.partitionReader.isSilent = role === 'standby' && context.phase === 'active'
    if (context.role === role) return
    context.role = role
    // Who fires goes on, whatever it is to do then; a standby that keeps up takes over as it stands; all else begins anew.
    if (context.phase === 'active' || context.phase === 'following') context.signal.wake()
    else context.interrupt()
  }

  #leaveLater(): void {
    const { clock } = this.#context.shared
    this.#context.leavingAt = clock.steadyMs() + handoffMs
    this.#context.signal.wake()
  }

  /** Finishes the turn at hand and closes. */
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
          `Partition ${context.partition} ended with an error while it was handed over. Its next owner goes on from the log; nothing is to do.`,
        )
      // A standby follows from now on with the store that it has.
      if (context.role === 'owner') context.beginClose()
      return
    }
    const reason = context.failedWith(error)
    metrics.reopens.inc({ reason })
    if (context.turnsDone > 0) this.#failures = 0
    this.#lines.say(error, reason, this.#failures)
    // Left at once: the store answers no more questions, and should the group take the partition away meanwhile, leave() closes it.
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
