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
import { type Semaphore, Stopwatch } from '../../ground/concurrency/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { Batch, PartitionStore, PartitionView } from '../../ground/ports/index.ts'
import type { ActiveRuns, JobWait, Leases, StandingJobs, WorkerWatch } from '../activity/index.ts'
import {
  type LogPositions,
  type PartitionReader,
  type ReadSource,
  readableEnd,
  readSources,
  type Source,
  type Wait,
} from '../input/index.ts'
import type { Shared } from '../options/index.ts'
import { ownZoneRules } from '../timers/index.ts'
import { Assignment, Closed, type PartitionRole, type Phase, RoleChanged, type SchedulerResources } from './assignment.ts'
import type { PartitionContext } from './partition-context.ts'
import { Receiver } from './receiver.ts'
import { ReopenLines, reopenWaitMs } from './reopen.ts'
import { open, restore } from './restore.ts'
import { runLoop } from './run-loop.ts'
import { follow } from './standby.ts'
import { claim, drain } from './takeover.ts'

export class Partition {
  readonly #assignment: Assignment
  /** The open partition. Undefined while the store is being opened, and between two openings. */
  #opening: { context: PartitionContext; receiver: Receiver } | undefined
  readonly #ended: Promise<void>
  /** Reopens since the partition last committed applied records. Being active is not enough: the first commit cycle may fail. */
  #failures = 0
  readonly #lines: ReopenLines

  /** `after`: the end of an earlier assignment in this process, whose store must be closed first. */
  constructor(
    number: number,
    role: PartitionRole,
    shared: Shared,
    partitionReader: PartitionReader,
    resources: SchedulerResources,
    after?: Promise<void>,
  ) {
    this.#assignment = new Assignment(number, role, shared, partitionReader, resources)
    this.#lines = new ReopenLines(number, shared)
    this.#ended = Promise.resolve(after).then(() => this.#run())
  }

  get #context(): PartitionContext | undefined {
    return this.#opening?.context
  }

  get number(): number {
    return this.#assignment.partition
  }
  get phase(): Phase {
    return this.#assignment.phase
  }
  get closing(): boolean {
    return this.#assignment.closing
  }
  get partitionReader(): PartitionReader {
    return this.#assignment.partitionReader
  }
  /** Whether it fires only until the new owner has fenced it. */
  get isLeaving(): boolean {
    return this.phase === 'active' && this.#assignment.isLeaving
  }
  /** The store, while the partition is active and no other member can own it. */
  get store(): PartitionStore | undefined {
    return this.phase === 'active' && this.isCurrent ? this.#context?.local.store : undefined
  }
  /** False if another member may have fenced it. An owner learns that only with its next commit. */
  get isCurrent(): boolean {
    return !this.#assignment.isLeaving && this.partitionReader.isMember
  }
  /** A store that can be read, but may be out of date. */
  get copy(): PartitionStore | undefined {
    return this.#behindRecords === null ? undefined : this.#context?.local.store
  }
  get #behindRecords(): number | null {
    return this.#context?.behindRecords ?? null
  }
  get role(): PartitionRole {
    return this.#assignment.role
  }
  /** Whether it fires, or could after little more than a claim. */
  get isWarm(): boolean {
    return this.#assignment.isWarm(this.#behindRecords)
  }
  /** Why it cannot go on until an operator acts; for people. */
  get trouble(): string | null {
    return this.#assignment.trouble
  }
  /** Whether it fires or follows. */
  get works(): boolean {
    return this.phase === 'active' || this.phase === 'following'
  }
  /** Whether it should fire but its store fails permanently. */
  get isBroken(): boolean {
    return this.role === 'owner' && this.#assignment.storeFailures.isBroken
  }
  /** Offset up to which the store has read its changelog. */
  get stateOffset(): number {
    return this.#assignment.applied.state
  }
  get leases(): Leases {
    return this.#assignment.activity.leases
  }
  get workers(): WorkerWatch {
    return this.#assignment.activity.workers
  }
  /** Soft state since the store was opened; undefined while none is open. */
  get activeRuns(): ActiveRuns | undefined {
    return this.#context?.activity.activeRuns
  }
  /** The same: soft state, counted when somebody asks. */
  get standing(): StandingJobs | undefined {
    return this.#context?.activity.standing
  }
  /** For each input the applied offset, and the end of its log if it is known. Empty while no store is open. */
  inputs(): ReturnType<LogPositions['inputs']> {
    return this.#context?.input.positions.inputs() ?? []
  }
  /** Start of the current commit cycle, by the steady clock; Infinity between cycles. */
  get cycleSince(): number {
    return this.#context?.cycleSince ?? Number.POSITIVE_INFINITY
  }
  /** The state of the partition, for people. */
  view(): PartitionView {
    const { partition, phase, role, applied, shared, resources, trouble, lastReset } = this.#assignment
    const context = this.#context
    const { restoreRemaining = 0, restoreTotal = 0 } = context?.restoreProgress ?? {}
    const walk = context?.local.zones.walk
    return {
      partition,
      phase: phase === 'warming' ? 'restoring' : phase === 'draining' ? 'claiming' : phase,
      ...{ restoreRemaining, restoreTotal, mailboxDepth: context?.input.buffer.depth ?? 0 },
      ...{ jobsOffset: applied.jobs, commandsOffset: applied.commands, eventsOffset: applied.events },
      overdueMs: phase === 'active' && context !== undefined ? Math.max(0, shared.clock.nowMs() - context.dueAt) : 0,
      lateness: context?.activity.activeRuns.lateness.view(shared.clock.nowMs()) ?? null,
      underWay: context?.activity.activeRuns.counts ?? {
        dispatched: 0,
        running: 0,
        waiting: 0,
        withoutHandler: 0,
        inPausedPools: 0,
      },
      pools: context?.activity.activeRuns.byPool ?? [],
      standing: phase === 'active' ? (context?.activity.standing.counts ?? null) : null,
      ...{ role, behindRecords: this.#behindRecords },
      ...(phase === 'active' && { isCurrent: this.isCurrent }),
      problem: phase === 'closed' ? null : (shared.clock.guard?.problem ?? trouble),
      ...{ lastReset, openTransaction: resources.openTransactions.of(partition) },
      ...{ zoneRules: ownZoneRules(shared), zoneWalk: walk === undefined ? null : { ...walk.view } },
    }
  }

  /** The clock is trusted again. */
  wake(): void {
    this.#assignment.signal.wake()
  }

  /** Takes records from the reader. Resolves when the next ones may come. */
  async receive(source: ReadSource, batch: Batch): Promise<void> {
    if (this.#opening === undefined) this.partitionReader.ended(source, batch.highWatermark)
    else await this.#opening.receiver.receive(source, batch)
  }

  /** All records before `next` were received, or are shown to no reader. */
  passed(source: ReadSource, next: number): void {
    this.partitionReader.passed(source, next)
    this.#assignment.signal.wake()
  }

  /** See Assignment#alone: what the owner knows by then is in its store. */
  alone<T>(task: () => T | Promise<T>): Promise<T> {
    return this.#assignment.alone(task)
  }

  /** See AppliedWaits. */
  applied(source: Source, offset: number): Wait {
    return this.#assignment.waits.until(source, offset)
  }

  /** The next offset after all that is durable in this input now. Rejects as EndOffsetQueries#ask does. */
  async durableEnd(source: Source): Promise<number> {
    return readableEnd(await this.#assignment.resources.ends[source].ask(this.#assignment.partition))
  }

  /** As AppliedWaits says. */
  cycleEnd(): Wait {
    return this.#assignment.waits.untilCycleEnds()
  }

  /** See JobWaits. */
  jobChange(jobId: string): JobWait {
    return this.#assignment.activity.jobWaits.begin(jobId)
  }

  /** The group gave the partition to another member. An active partition keeps firing until that member has fenced it. */
  leave(): void {
    // A firing partition closes in the end, also if its next role is standby.
    if (this.phase === 'active') this.#assignment.role = 'owner'
    else void this.close()
    this.#assignment.handOver()
  }

  /** Sets the role that the group assigns from now on. */
  assign(role: PartitionRole): void {
    const assignment = this.#assignment
    const { phase, partitionReader } = assignment
    if (role === 'owner') assignment.endHandover()
    else if (phase === 'active') assignment.handOver()
    partitionReader.isSilent = role === 'standby' && phase === 'active'
    if (assignment.role === role) return
    assignment.role = role
    if (role === 'standby') assignment.left()
    // A firing partition continues whatever its next role is. A current standby takes over with its store. Any other partition
    // restarts; one whose store is being opened notices it then.
    if (phase === 'active' || phase === 'following') assignment.signal.wake()
    else this.#context?.life.interrupt(new RoleChanged())
  }

  /** Finishes the current commit cycle and closes. */
  close(): Promise<void> {
    this.#beginClose()
    return this.#ended
  }

  #beginClose(): void {
    if (this.#context === undefined) this.#assignment.beginClose()
    else this.#context.life.beginClose()
  }

  async #run(): Promise<void> {
    const assignment = this.#assignment
    while (!assignment.closing) {
      try {
        await this.#openAndRun()
      } catch (error) {
        if (!(error instanceof Closed)) await this.#beforeReopen(error)
      }
      await this.#letGo()
    }
    assignment.enter('closed')
    assignment.waits.refuse()
    assignment.activity.jobWaits.refuse()
  }

  async #openAndRun(): Promise<never> {
    const assignment = this.#assignment
    const { role, shared, resources, partition } = assignment
    if (role === 'standby') assignment.endHandover()
    const { context, ends, large } = await open(assignment)
    this.#opening = { context, receiver: new Receiver(context) }
    if (assignment.closing) throw new Closed()
    if (assignment.role !== role) throw new RoleChanged()
    const inSlots = (slots: Semaphore, task: () => Promise<void>): Promise<void> =>
      large ? assignment.orClosed(slots.run(task, context.life.interrupted)) : task()
    const took = new Stopwatch(shared.clock)
    const takeOver = async (): Promise<void> => {
      took.begin()
      const inputEnds = await claim(context, took)
      await drain(context, inputEnds)
      took.lap('drainMs')
    }
    if (role === 'standby') {
      await inSlots(resources.standbyRestores, () => restore(context, ends))
      await follow(context)
      await takeOver()
    } else await inSlots(resources.restores, () => restore(context, ends).then(takeOver))
    context.activity.begin(shared.clock.nowMs())
    context.enter('active')
    const {
      local: { claimOffset },
    } = context
    const { read } = context.restoreProgress
    shared.logger.info(
      { event: 'partition-active', partition, claimOffset, read, ...took.ms },
      `Partition ${partition} is active; ${counted(read, 'record was', 'records were')} read on the way.`,
    )
    return runLoop(context)
  }

  async #beforeReopen(error: unknown): Promise<void> {
    const assignment = this.#assignment
    const { partition, storeFailures, failureIsolation, partitionReader } = assignment
    const { metrics, logger } = assignment.shared
    const hasCommitted = this.#context?.hasCommitted ?? false
    storeFailures.ended(error, hasCommitted)
    if (error instanceof RoleChanged && !assignment.closing) return
    const fenced = error instanceof DuelogError && error.code === 'fenced'
    if (fenced) metrics.fenced.inc()
    if (assignment.closing || assignment.isLeaving) {
      if (!fenced)
        logger.warn(
          { event: 'partition-hand-over-failed', err: error, partition },
          `Partition ${partition} ended with an error while it was handed over. Its next owner continues from the log; no action is needed.`,
        )
      // A standby follows from here on with the store that it has.
      if (assignment.role === 'owner') this.#beginClose()
      return
    }
    const reason = assignment.failedWith(error)
    metrics.reopens.inc({ reason })
    if (hasCommitted) this.#failures = 0
    this.#lines.log(error, reason, this.#failures)
    // The phase changes at once, because the store answers no more queries. If the group takes the partition away in between,
    // leave() closes it.
    assignment.enter('restoring')
    // Only a live member may fence.
    const isFound = this.#failures > 0 && failureIsolation.takeProgress()
    const waitMs = isFound ? 0 : reopenWaitMs(error, this.#failures)
    this.#failures++
    await assignment.orClosed(partitionReader.nextHeartbeat()).catch(() => undefined)
    await assignment.rest(waitMs).catch(() => undefined)
  }

  async #letGo(): Promise<void> {
    const { partitionReader, closing } = this.#assignment
    if (!closing) this.#assignment.enter('restoring')
    for (const source of readSources) partitionReader.close(source)
    partitionReader.isSilent = false
    const context = this.#context
    this.#opening = undefined
    await context?.end()
  }
}
