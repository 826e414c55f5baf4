/**
 * One partition of this process, from its assignment to its end.
 *
 *   restoring ──► warming ──► claiming ──► draining ──► active ──► closed
 *       ▲            (each of them, on any error: reopen)  │
 *       └──────────────────────────────────────────────────┘
 *
 *   restoring  the store is opened and job-state read from where it stands; the previous owner still fires
 *   warming    definitions are read as far as they need no commit
 *   claiming   the transactional id is taken, which fences the previous owner; a claim record is committed and read back
 *   draining   jobs and job-commands are folded up to their present end
 *   active     timers fire
 *
 * Any unexpected error has one remedy (invariant I6): forget everything in memory and begin at restoring, which fences our own
 * unknown transaction. Only a member whose heartbeat succeeded since may do so.
 */
import { DuelogError, messageOf } from '../errors.ts'
import type { Batch, PartitionView } from '../ports.ts'
import { claim, drain } from './claiming.ts'
import { type Feed, type FeedSource, feedSources } from './feed.ts'
import { fireForEver } from './firing.ts'
import { Intake } from './intake.ts'
import type { Mail, Source } from './mailbox.ts'
import type { Shared } from './options.ts'
import { Closed, Ownership, type Phase } from './ownership.ts'
import type { PartitionStore } from './ports.ts'
import { open, receiveState, restore } from './restoring.ts'
import type { PartitionShares } from './shares.ts'
import { TimeIndex } from './time-index.ts'

/** A member that lost the partition goes on firing at most so long while nobody fences it (ADR 0003). */
export const handoffMs = 30_000
/** A partition that fails again before it was active waits longer each time, up to the maximum. */
const reopenWaitMsMin = 50
const reopenWaitMsMax = 5_000
/** How long a record whose schema is unknown waits before the registry is asked again. */
const registryRetryMs = 1_000
/** How long all reading waits for an answer of the registry, before only the topic does that needs it. */
const registryWaitMs = 300

export class Partition {
  readonly #own: Ownership
  readonly #intake: Intake
  readonly #ended: Promise<void>
  /** Reopens since the partition was last active. */
  #failures = 0

  /** `after`: the end of an earlier ownership in this process, whose store has to be closed first. */
  constructor(number: number, shared: Shared, feed: Feed, shares: PartitionShares, after?: Promise<void>) {
    this.#own = new Ownership(number, shared, feed, shares)
    const { partitions, codecs, targets, clock, metrics, logger } = shared
    const { leases, workers } = this.#own
    const intake = { partition: number, partitions, codecs, leases, workers, targets, clock, metrics, logger }
    this.#intake = new Intake(intake)
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
  /** Present while the partition is active. */
  get store(): PartitionStore | undefined {
    return this.#own.phase === 'active' ? this.#own.store : undefined
  }
  /** What it has heard and counted since it was opened. */
  get heard(): Pick<Ownership, 'leases' | 'workers' | 'underWay' | 'catalogue'> {
    return this.#own
  }
  /** When the turn at hand began; Infinity between turns. */
  get turnSince(): number {
    return this.#own.turnSince
  }
  /** Where it stands, for people. */
  view(): PartitionView {
    const { partition, phase, applied, mailbox, restoreRemaining, restoreTotal, dueAt, underWay, shared } = this.#own
    return {
      partition,
      phase: phase === 'warming' ? 'restoring' : phase === 'draining' ? 'claiming' : phase,
      ...{ restoreRemaining, restoreTotal, mailboxDepth: mailbox.depth },
      ...{ jobsOffset: applied.jobs, commandsOffset: applied.commands, eventsOffset: applied.events },
      overdueMs: phase === 'active' ? Math.max(0, shared.clock.nowMs() - dueAt) : 0,
      underWay: underWay.counts,
    }
  }

  /** Takes records that were read. Resolves when the next ones may come. */
  async receive(source: FeedSource, batch: Batch): Promise<void> {
    const { feed } = this.#own
    const records = batch.records.filter((record) => record.offset >= feed.next(source))
    if (records.length === 0 || this.#own.closing || !feed.isOpen(source)) return
    this.#own.progress()
    const openings = feed.openings(source)
    try {
      if (source === 'state') await receiveState(this.#own, records)
      else await this.#receiveInputs(source, records)
    } catch (error) {
      // Closed meanwhile, and the store with it: the records come again. Else it is the partition's trouble, not the reader's.
      if (openings === feed.openings(source)) this.#own.fail(error)
    }
    this.#own.signal.wake()
    await this.#own.room()
  }

  /** Resolves true once the record at `offset` is part of the store, false when the partition ends first. */
  applied(source: Source, offset: number): Promise<boolean> {
    return this.#own.whenApplied(source, offset)
  }

  /** The group gave the partition to another member: an active one goes on firing until that member has fenced it. */
  leave(): void {
    if (this.#own.phase !== 'active') void this.close()
    this.#own.leavingAt = this.#own.shared.clock.nowMs() + handoffMs
    this.#own.signal.wake()
  }

  /** The group gave the partition back. */
  stay(): void {
    this.#own.leavingAt = Number.POSITIVE_INFINITY
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
    this.#own.refuseWaiting()
  }

  async #live(): Promise<never> {
    const own = this.#own
    const { store, ends, large } = await open(own)
    const index = new TimeIndex(store)
    const catchUp = async (): Promise<void> => {
      if (own.closing) throw new Closed()
      await restore(own, store, index, ends)
      await claim(own, store)
      await drain(own, store, index)
    }
    await (large ? own.orClosed(own.shares.restores.run(catchUp)) : catchUp())
    this.#failures = 0
    own.leases.grant(own.shared.clock.nowMs())
    own.workers.clear()
    own.enter('active')
    own.shared.logger.info({ partition: own.partition, claimOffset: own.claimOffset }, `Partition ${own.partition} is active.`)
    return fireForEver(own, store, index)
  }

  async #beforeReopen(error: unknown): Promise<void> {
    const own = this.#own
    const { metrics, logger } = own.shared
    const fenced = error instanceof DuelogError && error.code === 'fenced'
    if (fenced) metrics.fenced.inc()
    if (own.closing || own.leavingAt !== Number.POSITIVE_INFINITY) {
      if (!fenced)
        logger.warn({ err: error, partition: own.partition }, 'A partition that was being handed over ended with an error.')
      own.beginClose()
      return
    }
    metrics.reopens.inc({ reason: error instanceof DuelogError ? error.code : 'internal' })
    logger.warn({ err: error, partition: own.partition }, `Partition ${own.partition} is reopened: ${messageOf(error)}`)
    // Left at once: the store answers no more questions, and should the group take the partition away meanwhile, leave() closes it.
    own.enter('restoring')
    // Only a live member may fence.
    const waitMs = this.#failures === 0 ? 0 : Math.min(reopenWaitMsMin * 2 ** this.#failures, reopenWaitMsMax)
    this.#failures++
    await own.orClosed(own.feed.nextHeartbeat()).catch(() => undefined)
    await own.rest(waitMs).catch(() => undefined)
  }

  async #letGo(): Promise<void> {
    const own = this.#own
    const { writer, store } = own
    if (!own.closing) own.enter('restoring')
    for (const source of feedSources) own.feed.close(source)
    own.forget()
    await writer?.close().catch(() => undefined)
    await store
      ?.close()
      .catch((error) => own.shared.logger.warn({ err: error, partition: own.partition }, 'A local store did not close cleanly.'))
  }

  async #receiveInputs(source: Source, records: Batch['records']): Promise<void> {
    const { feed, mailbox, shared } = this.#own
    const openings = feed.openings(source)
    for (const record of records) {
      let mail: Mail
      try {
        const now = this.#intake.mail(source, record, shared.clock.nowMs())
        // At once wherever that is possible: this runs for every record.
        mail = now instanceof Promise ? await this.#within(now) : now
      } catch (error) {
        if (openings === feed.openings(source)) this.#askAgain(source, openings, error)
        break
      }
      // Opened anew meanwhile: the record comes again.
      if (openings !== feed.openings(source)) return
      mailbox.put(mail)
      feed.received(source, record.offset + 1)
    }
  }

  /** The answer of the registry, if it comes soon: while it is awaited no other topic is read. */
  async #within<T>(answer: Promise<T>): Promise<T> {
    const { clock } = this.#own.shared
    const { promise, reject } = Promise.withResolvers<never>()
    const cancel = clock.at(clock.nowMs() + registryWaitMs, () => reject(new Error('The registry has not answered yet.')))
    try {
      return await Promise.race([answer, promise])
    } finally {
      cancel()
    }
  }

  /** The record may be good: this one topic of this one partition waits for the registry, as long as it takes. */
  #askAgain(source: Source, openings: number, error: unknown): void {
    const { feed, mailbox, shared } = this.#own
    shared.logger.warn(
      { err: error, partition: this.#own.partition, source },
      'A record waits for the schema registry; firing goes on.',
    )
    feed.rewind(source)
    shared.clock.at(shared.clock.nowMs() + registryRetryMs, () => {
      if (openings === feed.openings(source) && !mailbox.full) feed.release(source)
    })
  }
}
