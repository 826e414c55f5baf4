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
import { Laps, type Slots } from '../../concurrency/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { Batch, PartitionStore, PartitionView } from '../../ports/index.ts'
import { type Feed, type FeedSource, feedSources, type Source, type Wait } from '../input/index.ts'
import type { Shared } from '../options/index.ts'
import { TimeIndex } from '../timers/index.ts'
import { Closed, RoleChanged } from './interruption.ts'
import { Ownership, type PartitionRole, type Phase } from './partition-context.ts'
import type { PartitionShares } from './process-context.ts'
import { Receiving } from './receiver.ts'
import { reopenWaitMs } from './reopen-backoff.ts'
import { ReopenLines } from './reopen-lines.ts'
import { open, restore } from './restore.ts'
import { fireForEver } from './run-loop.ts'
import { follow } from './standby.ts'
import { claim, drain } from './takeover.ts'

/** A member that lost the partition goes on firing at most so long while nobody fences it (ADR 0003). */
export const handoffMs = 30_000

export class Partition {
  readonly #own: Ownership
  readonly #receiving: Receiving
  readonly #ended: Promise<void>
  /** Reopens since the partition last committed what it had folded. To be active is not enough: it may fail with its first turn. */
  #failures = 0
  readonly #lines: ReopenLines

  /** `after`: the end of an earlier ownership in this process, whose store has to be closed first. */
  constructor(number: number, role: PartitionRole, shared: Shared, feed: Feed, shares: PartitionShares, after?: Promise<void>) {
    this.#own = new Ownership(number, role, shared, feed, shares)
    this.#receiving = new Receiving(this.#own)
    this.#lines = new ReopenLines(number, shared)
    this.#ended = Promise.resolve(after).then(() => this.#run())
  }

  get number(): number {
    return this.#own.partition
  }
  get phase(): Phase {
    return this.#own.phase
  }
  get closing(): boolean {
    return this.#own.closing
  }
  get feed(): Feed {
    return this.#own.feed
  }
  /** It fires until the member that the group gave it to has fenced it. */
  get isLeaving(): boolean {
    return this.#own.phase === 'active' && this.#own.isLeaving
  }
  /** Present while the partition is active and nobody else can own it. */
  get store(): PartitionStore | undefined {
    return this.#own.phase === 'active' && this.#isCurrent ? this.#own.store : undefined
  }
  /** False: another member may have fenced it, which an owner learns with its next commit only. */
  get #isCurrent(): boolean {
    return !this.#own.isLeaving && this.#own.feed.isMember
  }
  /** A store that can be read, though what it says may be out of date. */
  get copy(): PartitionStore | undefined {
    return this.#own.catchUp.behindRecords === null ? undefined : this.#own.store
  }
  get role(): PartitionRole {
    return this.#own.role
  }
  /** It fires, or could after little more than a claim. */
  get isWarm(): boolean {
    return this.#own.isWarm
  }
  /** It fires or follows. */
  get works(): boolean {
    return this.phase === 'active' || this.phase === 'following'
  }
  /** It is to fire, and its store fails for good. */
  get isBroken(): boolean {
    return this.role === 'owner' && this.#own.storeFailures.isBroken
  }
  /** How far the store has read its changelog. */
  get stateOffset(): number {
    return this.#own.applied.state
  }
  /** What it has heard and counted since it was opened. */
  get heard(): Pick<Ownership, 'leases' | 'workers' | 'underWay' | 'catalogue' | 'inputs'> {
    return this.#own
  }
  /** When the turn at hand began, by the steady clock; Infinity between turns. */
  get turnSince(): number {
    return this.#own.turnSince
  }
  /** Where it stands, for people. */
  view(): PartitionView {
    const { partition, phase, applied, mailbox, catchUp, dueAt, underWay, zones, shared } = this.#own
    const { restoreRemaining, restoreTotal, behindRecords } = catchUp
    return {
      partition,
      phase: phase === 'warming' ? 'restoring' : phase === 'draining' ? 'claiming' : phase,
      ...{ restoreRemaining, restoreTotal, mailboxDepth: mailbox.depth },
      ...{ jobsOffset: applied.jobs, commandsOffset: applied.commands, eventsOffset: applied.events },
      overdueMs: phase === 'active' ? Math.max(0, shared.clock.nowMs() - dueAt) : 0,
      ...{ underWay: underWay.counts, role: this.#own.role, behindRecords },
      ...(phase === 'active' && { isCurrent: this.#isCurrent }),
      problem: phase === 'closed' ? null : (shared.clock.guard?.problem ?? this.#own.trouble),
      ...{ lastReset: this.#own.lastReset, openTransaction: this.#own.shares.openTransactions.of(partition) },
      ...{ zoneRules: zones.own, zoneWalk: zones.walk === undefined ? null : { ...zones.walk.view } },
    }
  }

  /** The clock is trusted again. */
  wake(): void {
    this.#own.signal.wake()
  }

  /** Takes records that were read. Resolves when the next ones may come. */
  receive(source: FeedSource, batch: Batch): Promise<void> {
    return this.#receiving.receive(source, batch)
  }

  /** All before `next` was received, or is shown to nobody. */
  passed(source: FeedSource, next: number): void {
    this.#own.feed.passed(source, next)
    this.#own.signal.wake()
  }

  /** As AppliedWaits says. */
  applied(source: Source, offset: number): Wait {
    return this.#own.waits.until(source, offset)
  }

  /** As AppliedWaits says. */
  turnEnd(): Wait {
    return this.#own.waits.untilTurnEnds()
  }

  /** The group gave the partition to another member: an active one goes on firing until that member has fenced it. */
  leave(): void {
    const own = this.#own
    // What fires closes in the end, also where it was to follow then.
    if (own.phase === 'active') own.role = 'owner'
    else void this.close()
    this.#leaveLater()
  }

  /** The group wants this of the member from now on, whatever it did before. */
  assign(role: PartitionRole): void {
    const own = this.#own
    if (role === 'owner') own.leavingAt = Number.POSITIVE_INFINITY
    else if (own.phase === 'active') this.#leaveLater()
    own.feed.isSilent = role === 'standby' && own.phase === 'active'
    if (own.role === role) return
    own.role = role
    // Who fires goes on, whatever it is to do then; a standby that keeps up takes over as it stands; all else begins anew.
    if (own.phase === 'active' || own.phase === 'following') own.signal.wake()
    else own.interrupt()
  }

  #leaveLater(): void {
    const { clock } = this.#own.shared
    this.#own.leavingAt = clock.steadyMs() + handoffMs
    this.#own.signal.wake()
  }

  /** Finishes the turn at hand and closes. */
  close(): Promise<void> {
    this.#own.beginClose()
    return this.#ended
  }

  async #run(): Promise<void> {
    while (!this.#own.closing) {
      try {
        await this.#live()
      } catch (error) {
        if (!(error instanceof Closed)) await this.#beforeReopen(error)
      }
      await this.#letGo()
    }
    this.#own.enter('closed')
    this.#own.waits.refuse()
  }

  async #live(): Promise<never> {
    const own = this.#own
    const { restores, standbyRestores } = own.shares
    if (own.role === 'standby') own.leavingAt = Number.POSITIVE_INFINITY
    const { store, ends, large } = await open(own)
    const index = new TimeIndex(store)
    const inSlots = (slots: Slots, task: () => Promise<void>): Promise<void> =>
      large ? own.orClosed(slots.run(task, own.interrupted)) : task()
    const took = new Laps(own.shared.clock)
    const takeOver = async (): Promise<void> => {
      took.begin()
      const inputEnds = await claim(own, store, took)
      await drain(own, store, index, inputEnds)
      took.lap('drainMs')
    }
    const catchUp = (): Promise<void> => restore(own, store, index, ends)
    if (own.role === 'standby') {
      await inSlots(standbyRestores, catchUp)
      await follow(own, store, index)
      await takeOver()
    } else await inSlots(restores, () => catchUp().then(takeOver))
    own.leases.grant(own.shared.clock.nowMs())
    own.workers.clear()
    own.enter('active')
    const { partition, claimOffset } = own
    const { read } = own.catchUp
    own.shared.logger.info(
      { partition, claimOffset, read, ...took.ms },
      `Partition ${partition} is active; ${counted(read, 'record was', 'records were')} read on the way.`,
    )
    return fireForEver(own, store, index)
  }

  async #beforeReopen(error: unknown): Promise<void> {
    const own = this.#own
    const { metrics, logger } = own.shared
    own.storeFailures.ended(error, own.turnsDone > 0)
    if (error instanceof RoleChanged && !own.closing) return
    const fenced = error instanceof DuelogError && error.code === 'fenced'
    if (fenced) metrics.fenced.inc()
    if (own.closing || own.isLeaving) {
      if (!fenced)
        logger.warn(
          { err: error, partition: own.partition },
          `Partition ${own.partition} ended with an error while it was handed over. Its next owner goes on from the log; nothing is to do.`,
        )
      // A standby follows from now on with the store that it has.
      if (own.role === 'owner') own.beginClose()
      return
    }
    const reason = own.failedWith(error)
    metrics.reopens.inc({ reason })
    if (own.turnsDone > 0) this.#failures = 0
    this.#lines.say(error, reason, this.#failures)
    // Left at once: the store answers no more questions, and should the group take the partition away meanwhile, leave() closes it.
    own.enter('restoring')
    // Only a live member may fence.
    const isFound = this.#failures > 0 && own.narrowing.takeProgress()
    const waitMs = isFound ? 0 : reopenWaitMs(error, this.#failures)
    this.#failures++
    await own.orClosed(own.feed.nextHeartbeat()).catch(() => undefined)
    await own.rest(waitMs).catch(() => undefined)
  }

  async #letGo(): Promise<void> {
    const own = this.#own
    const { writer, store } = own
    if (!own.closing) own.enter('restoring')
    for (const source of feedSources) own.feed.close(source)
    own.feed.isSilent = false
    own.forget()
    await writer?.close().catch(() => undefined)
    await store
      ?.close()
      .catch((error) => own.shared.logger.warn({ err: error, partition: own.partition }, 'A local store did not close cleanly.'))
  }
}
